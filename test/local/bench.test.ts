import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

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
