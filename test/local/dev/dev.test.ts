import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import { afterAll, describe, expect, it } from 'vitest';
import { USDC } from '../chain/wallets.ts';
import { DevProcess, isAlive } from './dev-process.ts';

interface Session {
  token: string;
  user_id: string;
}
interface Secrets {
  channelKeys: string;
  merchant: { email: string; password: string; key: string };
}

const stateDir = mkdtempSync(join(tmpdir(), 'svc-dev-test-'));
const started: DevProcess[] = [];
const start = (...flags: string[]): DevProcess => {
  const dev = new DevProcess(stateDir, flags);
  started.push(dev);
  return dev;
};
const readSecrets = (): Secrets => JSON.parse(readFileSync(join(stateDir, 'secrets.json'), 'utf8')) as Secrets;

async function post<T>(url: string, body: unknown): Promise<{ status: number; body: T }> {
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  return { status: response.status, body: (await response.json()) as T };
}

async function findProduct(baseUrl: string, key: string): Promise<{ product_id: string; checkout_url: string }> {
  const response = await fetch(`${baseUrl}/v1/products`, { headers: { 'x-svc-key': key } });
  const { items } = (await response.json()) as { items: { product_id: string; checkout_url: string }[] };
  expect(items).toHaveLength(1);
  return items[0]!;
}

afterAll(async () => {
  await Promise.all(started.map((dev) => dev.end()));
  rmSync(stateDir, { recursive: true, force: true });
});

describe('npm run dev', () => {
  it('the service starts, stops without leftover processes, and starts again with its state', { timeout: 120_000 }, async () => {
    const first = start();
    const { baseUrl, rpcUrl } = await first.ready();
    const health = (await (await fetch(`${baseUrl}/health`)).json()) as { status: string };
    expect(health.status).toBe('ok');
    const block = await post<{ result: number }>(rpcUrl, { jsonrpc: '2.0', id: 1, method: 'getSlot', params: [] });
    expect(block.body.result).toBeGreaterThanOrEqual(0);
    const seed = Buffer.from(readSecrets().channelKeys.split(',')[0]!, 'base64url');
    const operator = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(seed));
    const holdings = await post<{ result: { value: unknown[] } }>(rpcUrl, {
      jsonrpc: '2.0',
      id: 1,
      method: 'getTokenAccountsByOwner',
      params: [operator.address, { mint: USDC }, { encoding: 'base64' }],
    });
    expect(holdings.body.result.value).toHaveLength(1);

    const account = { email: 'grace@example.com', password: 'correct horse battery' };
    const registered = await post<Session>(`${baseUrl}/v1/auth/register`, { ...account, display_name: 'Grace' });
    expect(registered.status).toBe(201);
    const secrets = readSecrets();
    // The secrets open everything here, so only their owner may read the file.
    expect(statSync(join(stateDir, 'secrets.json')).mode & 0o077).toBe(0);
    expect(statSync(join(stateDir, 'worker.env')).mode & 0o077).toBe(0);
    const product = await findProduct(baseUrl, secrets.merchant.key);
    expect(product.checkout_url).toMatch(`${baseUrl}/`);

    const processes = first.descendants();
    expect(await first.end('SIGTERM'), first.output).toBe(0);
    expect(processes.filter(isAlive)).toEqual([]);
    await expect(fetch(`${baseUrl}/health`)).rejects.toThrow();
    await expect(fetch(rpcUrl)).rejects.toThrow();

    const second = start();
    const again = await second.ready();
    expect(readSecrets()).toEqual(secrets);
    expect((await findProduct(again.baseUrl, secrets.merchant.key)).product_id).toBe(product.product_id);
    const { email, password } = secrets.merchant;
    expect((await post<Session>(`${again.baseUrl}/v1/auth/login`, { email, password })).status).toBe(200);
    const login = await post<Session>(`${again.baseUrl}/v1/auth/login`, account);
    expect(login.body.user_id).toBe(registered.body.user_id);
    expect(await second.end('SIGINT'), second.output).toBe(0);
  });

  it('an occupied port is named', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const dev = start('--port', String(port));
    expect(await dev.ended()).toBe(1);
    expect(dev.output).toContain(`Port ${port} is already in use.`);
    server.close();
  });

  it('an interrupt during startup ends cleanly', async () => {
    const dev = start();
    await dev.says(/Bringing the database/);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const processes = dev.descendants();
    expect(await dev.end()).toBe(0);
    expect(processes.filter(isAlive)).toEqual([]);
  });
});
