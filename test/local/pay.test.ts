import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('npm run pay names the unavailable node and the setting of its address', async () => {
  const args = [join(import.meta.dirname, '../../local/pay.ts'), 'http://127.0.0.1:1/p/demo', '--chain', 'http://127.0.0.1:1'];
  const run = promisify(execFile)(process.execPath, args);
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('No Solana node answers at http://127.0.0.1:1. For the'),
  });
});
