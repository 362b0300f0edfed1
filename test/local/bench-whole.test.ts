// @module-tag volume
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const BENCH = join(import.meta.dirname, '../../local/bench/bench.ts');

it('the bench starts the complete service, and routes answer as expected, also of many stored payments', {
  timeout: 60_000,
}, async () => {
  const dir = mkdtempSync(join(tmpdir(), 'svc-bench-whole-'));
  try {
    const out = join(dir, 'bench.json');
    await promisify(execFile)(process.execPath, [BENCH, '--quick', '--rows', 'unsigned,denied,summary', '--out', out]);
    const { costs } = JSON.parse(readFileSync(out, 'utf8')) as { costs: { id: string; cpuMs: number }[] };
    expect(costs.map(({ id }) => id)).toEqual(['denied', 'unsigned', 'summary']);
    for (const { cpuMs } of costs) expect(cpuMs).toBeGreaterThan(0);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
