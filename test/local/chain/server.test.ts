import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type ChainServer, newAddress, openChain, SOL, TestChain, transferSol, withChain } from './wallets.ts';

let chain: TestChain;
let server: ChainServer;
withChain((opened, running) => {
  chain = opened;
  server = running;
});

describe('JSON-RPC', () => {
  it.each([
    ['{', -32700],
    ['[]', -32600],
    ['{"jsonrpc":"1.0","id":1,"method":"getSlot"}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":7}', -32600],
    ['{"jsonrpc":"2.0","id":1,"method":"getCoffee"}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"toString"}', -32601],
    ['{"jsonrpc":"2.0","id":1,"method":"getBalance","params":["not an address"]}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"getBalance","params":{}}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"getBalance"}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["AAAA",{"encoding":"base64"}]}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"sendTransaction","params":["0OIl"]}', -32602],
    ['{"jsonrpc":"2.0","id":1,"method":"getSlot","params":[{"minContextSlot":99999999}]}', -32016],
  ])('a request with %s gets %i', async (body, code) => {
    const response = await chain.post(body);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ jsonrpc: '2.0', error: { code, message: expect.any(String) } });
  });

  it('a batch is answered in order, with each id and without notifications', async () => {
    const address = await newAddress();
    const batch = [
      { jsonrpc: '2.0', id: 'a', method: 'local_fundSol', params: [address, 5_000_000] },
      { jsonrpc: '2.0', method: 'getSlot' },
      { jsonrpc: '2.0', id: 2, method: 'getBalance', params: [address] },
      { jsonrpc: '2.0', id: null, method: 'getCoffee' },
      'nonsense',
    ];
    expect(await (await chain.post(batch)).json()).toMatchObject([
      { id: 'a', result: 5_000_000 },
      { id: 2, result: { value: 5_000_000 } },
      { id: null, error: { code: -32601 } },
      { id: null, error: { code: -32600 } },
    ]);
    expect(await (await chain.post([{ jsonrpc: '2.0', method: 'getSlot' }])).text()).toBe('');
  });
});

describe('HTTP', () => {
  it('any origin may call the server', async () => {
    const preflight = await fetch(chain.url, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://shop.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'solana-client',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toBe('POST, OPTIONS');
    expect(preflight.headers.get('access-control-allow-headers')).toBe('content-type, solana-client');
    const answer = await chain.post({ jsonrpc: '2.0', id: 1, method: 'getHealth' });
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
    expect(answer.headers.get('content-type')).toContain('application/json');
  });

  it('bodies over a megabyte, other methods and paths without a chain are refused', async () => {
    expect((await chain.post(`{"jsonrpc":"2.0","id":1,"method":"getSlot","params":["${'x'.repeat(1_000_000)}"]}`)).status).toBe(413);
    expect((await fetch(chain.url)).status).toBe(405);
    for (const path of ['/a/b/c', '/a.b', `/${'a'.repeat(65)}`]) {
      expect((await fetch(server.url + path, { method: 'POST', body: '{}' })).status).toBe(404);
    }
  });
});

describe('chains of one server', () => {
  it('chains share no money, history, time, faults or counts', async () => {
    const other = openChain(server);
    const payer = await chain.openWallet({ usdc: 5n });
    const signature = await chain.send(payer, [transferSol(payer, await newAddress(), SOL / 2n)]);
    await chain.result('local_warp', 3_600);
    await chain.result('local_fault', { kind: 'http_503', times: 0 });

    expect((await other.rpc.getBalance(payer.address).send()).value).toBe(0n);
    expect(await other.result('getTransaction', signature, { commitment: 'confirmed' })).toBeNull();
    const [ours, theirs] = [server.chain(chain.url.split('/').at(-1)!), server.chain(other.url.split('/').at(-1)!)];
    expect(ours.clock.unixTimestamp - theirs.clock.unixTimestamp).toBeGreaterThanOrEqual(3_599);
    expect(await other.result('local_calls')).toEqual({ getBalance: 1, getTransaction: 1 });
  });

  it('each chain presents itself as devnet, with its USDC', async () => {
    expect(await chain.rpc.getGenesisHash().send()).toBe('EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG');
    expect(await chain.result('getHealth')).toBe('ok');
    expect(await chain.result('getVersion')).toMatchObject({ 'solana-core': expect.any(String) });
    expect((await chain.rpc.getTokenSupply('4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' as never).send()).value.decimals).toBe(6);
  });
});

describe('chain time', () => {
  it('a warp moves slot and clock together, and never backwards', async () => {
    await chain.result('local_mode', 'manual');
    const before = await chain.result<{ slot: number; unixTimestamp: number }>('local_time');
    const after = await chain.result<{ slot: number; unixTimestamp: number }>('local_warp', 60);
    expect([after.slot - before.slot, after.unixTimestamp - before.unixTimestamp]).toEqual([150, 60]);
    expect((await chain.call('local_warp', -1)).error?.code).toBe(-32602);
    expect(await chain.result('local_time')).toEqual(after);
    expect(await chain.result('local_slots', 5)).toEqual({ slot: after.slot + 5, unixTimestamp: after.unixTimestamp + 2 });
    const processed = [{ commitment: 'processed' }] as const;
    expect(await chain.result('getSlot', ...processed)).toBe(after.slot + 5);
    expect(await chain.result('getBlockHeight', ...processed)).toBe(after.slot + 5);
    expect(await chain.result('getSlot')).toBe(after.slot + 5 - 32);
    await chain.result('local_mode', 'live');
    expect((await chain.result<{ slot: number }>('local_time')).slot).toBeGreaterThanOrEqual(after.slot + 5);
    expect((await chain.call('local_slots', 1)).error?.code).toBe(-32602);
  });

  it('a transaction has the chain time as its block time', async () => {
    const payer = await chain.openWallet();
    const { unixTimestamp, slot } = await chain.result<{ slot: number; unixTimestamp: number }>('local_warp', 86_400);
    expect(unixTimestamp).toBeGreaterThanOrEqual(Math.floor(Date.now() / 1_000) + 86_399);
    const signature = await chain.send(payer, [transferSol(payer, await newAddress(), SOL / 2n)]);
    const recorded = await chain.result<{ blockTime: number; slot: number }>('getTransaction', signature, { commitment: 'confirmed' });
    expect(recorded.blockTime - unixTimestamp).toBeGreaterThanOrEqual(0);
    expect(recorded.blockTime - unixTimestamp).toBeLessThan(60);
    expect(recorded.slot).toBeGreaterThanOrEqual(slot);
    expect(Math.abs((await chain.result<number>('getBlockTime', recorded.slot)) - recorded.blockTime)).toBeLessThanOrEqual(1);
  });
});

describe('standalone program', () => {
  it('the program prints its address, serves, and ends on SIGTERM', async () => {
    const program = fileURLToPath(new URL('../../../local/chain/rpc/server.ts', import.meta.url));
    const child = spawn(process.execPath, [program, '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const url = await new Promise<string>((resolve) => {
      child.stdout.on('data', (text: Buffer) => resolve(/^chain (\S+)\n$/.exec(text.toString())?.[1] ?? ''));
    });
    expect(await new TestChain(url).result('getHealth')).toBe('ok');
    child.kill('SIGTERM');
    expect(await new Promise((resolve) => child.once('exit', resolve))).toBe(0);
  });
});
