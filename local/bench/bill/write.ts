import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../../..');
const PAGE = join(ROOT, 'docs/operations/cost.md');
const COUNT = ['run', '--project', 'load', 'test/load/bill.test.ts', '--update'];

/** Counts what each kind of work causes, writes the page of costs and prints it. Returns the exit status. */
export function writeBill(): number {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const { status, stdout } = spawnSync(process.execPath, [vitest, ...COUNT], { cwd: ROOT, encoding: 'utf8' });
  console.log(status === 0 ? readFileSync(PAGE, 'utf8') : stdout);
  return status ?? 1;
}
