import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type BenchOptions, readBenchOptions } from '../../local/bench/options.ts';

const BENCH = join(import.meta.dirname, '../../local/bench/bench.ts');

it('the bench builds and starts the service and measures the requested rows, metered sessions included', { timeout: 20_000 }, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-test-'));
  try {
    const out = join(dir, 'bench.json');
    // The shortest possible run: its numbers mean nothing, and every sample is compared with the recorded usage.
    const asked = ['--quick', '--seconds', '0.5', '--clients', '1', '--rows', 'straight,metered', '--out', out];
    await promisify(execFile)(process.execPath, [BENCH, ...asked]);
    const { rows } = JSON.parse(readFileSync(out, 'utf8')) as { rows: { id: string; perSecond: number }[] };
    expect(rows.map(({ id }) => id)).toEqual(['straight', 'metered']);
    for (const { perSecond } of rows) expect(perSecond).toBeGreaterThan(0);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

it('a quick run contains every row, with a small amount of background data', () => {
  const [quick, full] = [readBenchOptions(['--quick']), readBenchOptions([])];
  const idsOf = ({ rows, costs, journeys }: BenchOptions) => [...rows, ...costs, ...journeys].map(({ id }) => id);
  expect([quick.withLive, ...idsOf(quick)]).toEqual([full.withLive, ...idsOf(full)]);
  expect([quick.isCareful, full.isCareful]).toEqual([false, true]);
  const namesOf = ({ costs, journeys }: BenchOptions) => [...costs, ...journeys].map(({ name }) => name);
  expect(namesOf(full)).toEqual(expect.arrayContaining(['summary at 100,000 payments', 'first page of 100,000 receipts']));
  expect(namesOf(quick)).toEqual(expect.arrayContaining(['summary at 1,000 payments', 'first page of 1,000 receipts']));
});
