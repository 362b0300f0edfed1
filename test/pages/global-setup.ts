import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    baseUrl: string;
    rpcUrl: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['--no-warnings', join(import.meta.dirname, 'serve.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const ready = new Promise<RegExpExecArray>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const match = /^ready (\S+) (\S+)$/.exec(line);
      if (match) resolve(match);
    });
  });
  const match = await Promise.race([ready, gone.then(() => null)]);
  if (!match) throw new Error('The service did not start; its words are above.');
  project.provide('baseUrl', match[1]!);
  project.provide('rpcUrl', match[2]!);
  return async () => {
    child.kill('SIGTERM');
    await gone;
  };
}
