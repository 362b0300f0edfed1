import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('npm run pay names the unavailable node and the setting of its address', async () => {
  const args = [join(import.meta.dirname, '../../local/pay.ts'), 'http://127.0.0.1:1/p/demo', '--rpc', 'http://127.0.0.1:1'];
  const run = promisify(execFile)(process.execPath, args);
  await expect(run).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^No Solana node answers at http:\/\/127\.0\.0\.1:1\. For the local chain, .* with --rpc\.\n$/),
  });
});

it('npm run pay refuses a second address, and names the option of the node', async () => {
  const args = [join(import.meta.dirname, '../../local/pay.ts'), 'http://127.0.0.1:1/p/demo', 'http://127.0.0.1:1'];
  const run = promisify(execFile)(process.execPath, args);
  await expect(run).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Expected one URL, not 2. --rpc names the node.') });
});
