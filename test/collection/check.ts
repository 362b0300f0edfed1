import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endOnSignals } from '../../local/cli/signals.ts';
import { Teardown } from '../../local/cli/teardown.ts';
import { startService } from '../../local/service/service.ts';

// Runs every request of the collection in bruno/ against a fresh service: npm run collection:check
const FOLDER = import.meta.dirname;
const COLLECTION = join(FOLDER, '../../bruno');
const RUNNER = join(FOLDER, 'node_modules/.bin/bru');
const teardown = new Teardown();
endOnSignals(teardown, 1);

/** Runs a program with its output shown. Returns whether it succeeded. The chain goes on in this process meanwhile. */
async function run(program: string, args: string[], cwd: string): Promise<boolean> {
  const [code] = await once(spawn(program, args, { cwd, stdio: 'inherit' }), 'exit');
  return code === 0;
}

async function check(): Promise<boolean> {
  if (!existsSync(RUNNER)) {
    console.log('Installing the runner of Bruno (half a minute, once)');
    if (!(await run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], FOLDER))) return false;
  }
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-collection-'));
  teardown.defer(() => rmSync(stateDir, { recursive: true, force: true }));
  const { baseUrl } = await startService({ port: 0, chainPort: 0, stateDir, teardown, onProgress: console.log, onProblem: console.error });
  return run(RUNNER, ['run', '-r', '--env', 'local', '--env-var', `base_url=${baseUrl}`], COLLECTION);
}

try {
  process.exitCode = (await check()) ? 0 : 1;
} finally {
  await teardown.run();
}
