import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startChainServer } from '../../local/chain/rpc/server.ts';

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

it('npm run pay names the page on which a buyer proves an account first', async () => {
  const chain = await startChainServer({ port: 0 });
  const shop = createServer((_, response) => response.end('{"identity":{"required":true,"provider":"telegram"}}')).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  const page = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/p/the-club`;
  const run = promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../local/pay.ts'), page, '--rpc', chain.url]);
  const stderr = `The page first asks the buyer for an account at telegram. Open it in a browser: ${page}\n`;
  await expect(run).rejects.toMatchObject({ code: 1, stderr });
  shop.close();
  await chain.close();
});
