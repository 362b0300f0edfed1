import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, it } from 'vitest';
import { DevProcess } from './dev-process.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'svc-gives-up-test-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

it('a worker that cannot start is given up after five restarts, with its last output', async () => {
  const [home, starts, preload] = ['cannot-start', 'starts', 'preload.mjs'].map((name) => join(stateDir, name)) as [string, string, string];
  // Only `wrangler dev` fails, right at its start, because six full starts would take a minute.
  const ends = `import { appendFileSync } from 'node:fs';
    if (process.argv[1].endsWith('/wrangler-dist/cli.js') && process.argv[2] === 'dev') {
      appendFileSync(${JSON.stringify(starts)}, '.');
      console.error('there is no runtime today');
      process.exit(1);
    }`;
  writeFileSync(preload, ends);
  const dev = new DevProcess(home, [], { NODE_OPTIONS: `--import=${pathToFileURL(preload)}` });
  expect(await dev.ended()).toBe(1);
  expect(dev.output).not.toMatch(/^ready /m);
  expect(dev.restarts).toBe(5);
  expect(readFileSync(starts, 'utf8')).toBe('......');
  const [, lastOutput] = dev.output.split('was started again 5 times');
  expect(lastOutput).toContain('there is no runtime today');
});
