import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { workerdPath } from '../../../local/wrangler.ts';
import { DevProcess } from './dev-process.ts';

const stateDir = mkdtempSync(join(tmpdir(), 'svc-gives-up-test-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

it('a worker that cannot start is given up after five tries, with its last words', async () => {
  const home = join(stateDir, 'cannot-start');
  const [runtime, isBroken, starts] = ['workerd', 'is-broken', 'starts'].map((name) => join(stateDir, name)) as [string, string, string];
  // A runtime that works for the migrations, and for nothing after them.
  const script = `#!/bin/sh\n[ -e '${isBroken}' ] || exec '${workerdPath()}' "$@"\necho >> '${starts}'\necho 'there is no runtime today' >&2\nexit 1\n`;
  writeFileSync(runtime, script, { mode: 0o755 });
  const dev = new DevProcess(home, [], { MINIFLARE_WORKERD_PATH: runtime });
  await dev.says(/^Starting the service$/m);
  writeFileSync(isBroken, '');
  expect(await dev.ended()).toBe(1);
  expect(dev.output).not.toMatch(/^ready /m);
  expect(dev.restarts).toBe(5);
  expect(readFileSync(starts, 'utf8').length).toBeGreaterThanOrEqual(6);
  const [, lastWords] = dev.output.split('was started again 5 times');
  expect(lastWords).toContain('there is no runtime today');
});
