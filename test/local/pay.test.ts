import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createKeyPairSignerFromBytes } from '@solana/kit';
import { expect, it } from 'vitest';
import { callChain } from '../../local/chain/client.ts';
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

/** Serves a page that first asks for an account at `provider`. The local Telegram answers with `status`. */
async function openShop(provider: string, status: number) {
  const connects: object[] = [];
  const proofs: URLSearchParams[] = [];
  const shop = createServer(async (request, response) => {
    const body = (await request.toArray()).join('');
    const answer = (value: object) => response.end(JSON.stringify(value));
    if (request.url === '/dev/telegram') {
      proofs.push(new URLSearchParams(body));
      return response.writeHead(status).end();
    }
    if (request.url?.endsWith('/identity'))
      return answer({ identity_session_id: 'session-1', deep_link: 'https://t.me/bot?start=session-1' });
    connects.push(JSON.parse(body));
    return connects.length === 1 ? answer({ identity: { required: true, provider } }) : response.writeHead(409).end('{}');
  }).listen(0, '127.0.0.1');
  await once(shop, 'listening');
  return { connects, proofs, page: `http://127.0.0.1:${(shop.address() as AddressInfo).port}/p/the-club`, close: () => shop.close() };
}
const pay = (...args: string[]) =>
  promisify(execFile)(process.execPath, [join(import.meta.dirname, '../../local/pay.ts'), ...args], { encoding: 'utf8' });

it.each([
  ['discord', 200],
  ['telegram', 404],
])('npm run pay names the page on which a buyer proves an account at %s first', async (provider, status) => {
  const chain = await startChainServer({ port: 0 });
  const { page, close } = await openShop(provider, status);
  const stderr = `The page first asks the buyer for an account at ${provider}. Open it in a browser: ${page}\n`;
  await expect(pay(page, '--rpc', chain.url)).rejects.toMatchObject({ code: 1, stderr });
  close();
  await chain.close();
});

it('npm run pay presses start at the local Telegram, and pays with what that proves', async () => {
  const chain = await startChainServer({ port: 0 });
  const { connects, proofs, page, close } = await openShop('telegram', 200);
  await expect(pay(page, '--rpc', chain.url)).rejects.toMatchObject({ stdout: 'The Telegram user 4711 (grace) presses start\n' });
  expect(Object.fromEntries(proofs[0]!)).toEqual({
    act: 'start',
    link: 'https://t.me/bot?start=session-1',
    user: '4711',
    username: 'grace',
  });
  expect(connects[1]).toMatchObject({ asset: 'USDC', identity_session_id: 'session-1' });
  close();
  await chain.close();
});

it('npm run pay makes a keypair file of the Solana CLI, puts play money into it, and pays from it', async () => {
  const chain = await startChainServer({ port: 0 });
  const home = mkdtempSync(join(tmpdir(), 'svc-pay-'));
  const file = join(home, 'buyer.json');
  const made = await pay('--wallet', file, '--rpc', chain.url);
  const [address] = made.stdout.split(' ');
  expect(made.stdout).toBe(`${address} has play money: ${file}\n`);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect((await createKeyPairSignerFromBytes(new Uint8Array(JSON.parse(readFileSync(file, 'utf8'))))).address).toBe(address);
  expect((await pay('--wallet', file, '--rpc', chain.url)).stdout).toBe(made.stdout);
  const { value } = await callChain<{ value: number }>(chain.url, 'getBalance', [address]);
  expect(value).toBeGreaterThanOrEqual(1_000_000_000);
  const { connects, page, close } = await openShop('discord', 200);
  await expect(pay(page, '--wallet', file, '--rpc', chain.url)).rejects.toMatchObject({ code: 1 });
  expect(connects[0]).toMatchObject({ wallet_address: address });
  close();
  await chain.close();
  rmSync(home, { recursive: true });
});

it('npm run pay names its usage for an option that it does not know', async () => {
  await expect(pay('--help')).rejects.toMatchObject({ code: 1, stderr: expect.stringContaining('Usage: npm run pay -- ') });
});

it('npm run pay makes no wallet file for a page elsewhere', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pay-'));
  const file = join(folder, 'buyer.json');
  await expect(pay('https://shop.example/p/demo', '--wallet', file)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('A wallet file pays only on this machine'),
  });
  expect(existsSync(file)).toBe(false);
  rmSync(folder, { recursive: true });
});
