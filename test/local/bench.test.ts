import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type BenchOptions, readBenchOptions } from '../../local/bench/options.ts';

const BENCH = join(import.meta.dirname, '../../local/bench/bench.ts');

it('the bench builds the service, boots it, and measures what it says, uses of metered sessions too', { timeout: 20_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-test-'));
  try {
    const out = join(dir, 'bench.json');
    // The shortest run there is: its numbers mean nothing, and every sample is checked against what was used.
    const asked = ['--quick', '--seconds', '0.5', '--clients', '1', '--rows', 'straight,metered', '--out', out];
    await promisify(execFile)(process.execPath, [BENCH, ...asked]);
    const { rows } = JSON.parse(readFileSync(out, 'utf8')) as { rows: { id: string; perSecond: number }[] };
    expect(rows.map(({ id }) => id)).toEqual(['straight', 'metered']);
    for (const { perSecond } of rows) expect(perSecond).toBeGreaterThan(0);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it('a quick run leaves no row out, and makes little of what others are measured beside', () => {
  const [quick, full] = [readBenchOptions(['--quick']), readBenchOptions([])];
  const idsOf = ({ rows, costs, journeys }: BenchOptions) => [...rows, ...costs, ...journeys].map(({ id }) => id);
  expect([quick.beside, ...idsOf(quick)]).toEqual([full.beside, ...idsOf(full)]);
  expect([quick.isCareful, full.isCareful]).toEqual([false, true]);
  const namesOf = ({ costs, journeys }: BenchOptions) => [...costs, ...journeys].map(({ name }) => name);
  expect(namesOf(full)).toEqual(expect.arrayContaining(['summary at 100,000 payments', 'first page of 100,000 receipts']));
  expect(namesOf(quick)).toEqual(expect.arrayContaining(['summary at 1,000 payments', 'first page of 1,000 receipts']));
});
