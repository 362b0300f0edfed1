import type { Signature } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { newAddress, openChain, SOL, startChainServer, type TestChain, transferSol, withChain } from './wallets.ts';

let chain: TestChain;
withChain((opened) => {
  chain = opened;
});

async function signPayment() {
  const payer = await chain.openWallet();
  const recipient = await newAddress();
  const { wire, signature } = await chain.sign(payer, [transferSol(payer, recipient, SOL / 2n)]);
  const balance = async () => (await chain.rpc.getBalance(recipient).send()).value;
  return { wire, signature, recipient, balance };
}

const send = (wire: string) => chain.call('sendTransaction', wire, { encoding: 'base64' });
const find = (signature: Signature) => chain.result('getTransaction', signature, { commitment: 'confirmed' });
const fault = (config: Record<string, unknown>) => chain.result('local_fault', config);

describe('fault drop', () => {
  it('drop acknowledges a transaction without executing it, and a resend lands it', async () => {
    const { wire, signature, balance } = await signPayment();
    await fault({ kind: 'drop', method: 'sendTransaction' });
    expect((await send(wire)).result).toBe(signature);
    expect(await balance()).toBe(0n);
    expect(await find(signature)).toBeNull();
    expect((await send(wire)).result).toBe(signature);
    expect(await balance()).toBe(SOL / 2n);
  });

  it('drop breaks the connection of any other method', async () => {
    await fault({ kind: 'drop', method: 'getSlot' });
    await expect(chain.call('getSlot')).rejects.toThrow('fetch failed');
    expect((await chain.call('getSlot')).error).toBeUndefined();
  });
});

describe('fault fail_after_broadcast', () => {
  it('fail_after_broadcast executes the transaction, then breaks the connection', async () => {
    const { wire, signature, balance } = await signPayment();
    await fault({ kind: 'fail_after_broadcast' });
    await expect(send(wire)).rejects.toThrow('fetch failed');
    expect(await balance()).toBe(SOL / 2n);
    expect(await find(signature)).not.toBeNull();
  });

  it('fail_after_broadcast with a status answers that HTTP status instead', async () => {
    const { wire, balance } = await signPayment();
    await fault({ kind: 'fail_after_broadcast', status: 500 });
    const response = await chain.post({ jsonrpc: '2.0', id: 1, method: 'sendTransaction', params: [wire, { encoding: 'base64' }] });
    expect(response.status).toBe(500);
    expect(await balance()).toBe(SOL / 2n);
  });
});

describe('fault null_first', () => {
  it('null_first answers null the given number of times, then the real result', async () => {
    const { wire, signature } = await signPayment();
    await fault({ kind: 'null_first', method: 'getTransaction', times: 2 });
    await fault({ kind: 'null_first', method: 'getSignatureStatuses' });
    await send(wire);
    expect([await find(signature), await find(signature)]).toEqual([null, null]);
    expect(await find(signature)).not.toBeNull();
    expect((await chain.rpc.getSignatureStatuses([signature]).send()).value).toEqual([null]);
    expect((await chain.rpc.getSignatureStatuses([signature]).send()).value[0]).toMatchObject({ err: null });
  });
});

describe('fault vanish', () => {
  it('vanish makes a transaction unknown everywhere and leaves others', async () => {
    const { wire, signature, recipient } = await signPayment();
    await send(wire);
    await fault({ kind: 'vanish', signature });
    expect(await find(signature)).toBeNull();
    expect((await chain.rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()).value).toEqual([null]);
    expect(await chain.result('getSignaturesForAddress', recipient, { commitment: 'confirmed' })).toEqual([]);
    await chain.result('local_clearFaults');
    expect(await find(signature)).toBeNull();
  });
});

describe('fault unlisted', () => {
  it('unlisted removes a transaction from the lists of its addresses only', async () => {
    const { wire, signature, recipient } = await signPayment();
    await send(wire);
    await fault({ kind: 'unlisted', signature });
    const list = () => chain.result<{ signature: string }[]>('getSignaturesForAddress', recipient, { commitment: 'confirmed' });
    expect(await list()).toEqual([]);
    expect(await find(signature)).not.toBeNull();
    expect((await list()).map((listed) => listed.signature)).toEqual([signature]);
  });
});

describe('fault of one transaction', () => {
  it('a fault of one transaction applies only to calls about it, also inside a list', async () => {
    const [a, b] = [await signPayment(), await signPayment()];
    for (const { wire } of [a, b]) await send(wire);
    await fault({ kind: 'rpc_error', method: 'getTransaction', signature: a.signature, code: -32_015, times: 2 });
    await fault({ kind: 'null_first', method: 'getSignatureStatuses', signature: a.signature });
    expect(await find(b.signature)).not.toBeNull();
    expect((await chain.call('getTransaction', a.signature)).error).toMatchObject({ code: -32_015 });
    expect((await chain.rpc.getSignatureStatuses([b.signature]).send()).value[0]).not.toBeNull();
    expect((await chain.rpc.getSignatureStatuses([b.signature, a.signature]).send()).value).toEqual([null, null]);
  });
});

describe('faults delay and hang', () => {
  it('delay answers late without blocking other calls', async () => {
    await fault({ kind: 'delay', method: 'getSlot', ms: 300 });
    const started = performance.now();
    const answered: string[] = [];
    const late = chain.call('getSlot').then(() => answered.push('getSlot'));
    await chain.call('getBlockHeight').then(() => answered.push('getBlockHeight'));
    await late;
    expect(answered).toEqual(['getBlockHeight', 'getSlot']);
    expect(performance.now() - started).toBeGreaterThanOrEqual(298);
  });

  it('hang holds the connection open, then breaks it', async () => {
    await fault({ kind: 'hang', ms: 100 });
    const started = performance.now();
    await expect(chain.call('getSlot')).rejects.toThrow('fetch failed');
    expect(performance.now() - started).toBeGreaterThanOrEqual(98);
  });

  it('pending faults do not block the server from closing', async () => {
    const shortLived = await startChainServer({ port: 0 });
    const hung = openChain(shortLived);
    await hung.result('local_fault', { kind: 'hang', ms: 60_000 });
    const call = hung.call('getSlot').catch(() => 'broken');
    await hung.result('local_time');
    await shortLived.close();
    expect(await call).toBe('broken');
  });
});

describe('service failures', () => {
  it.each([
    ['http_429', 429],
    ['http_500', 500],
    ['http_503', 503],
  ])('%s answers HTTP %i', async (kind, status) => {
    await fault({ kind, times: 2 });
    const ask = async () => (await chain.post({ jsonrpc: '2.0', id: 1, method: 'getSlot' })).status;
    expect([await ask(), await ask(), await ask()]).toEqual([status, status, 200]);
  });

  it('rpc_error answers the given code and message', async () => {
    await fault({ kind: 'rpc_error', method: 'getSlot', code: -32_005, message: 'Node is behind by 42 slots' });
    expect((await chain.call('getSlot')).error).toEqual({ code: -32_005, message: 'Node is behind by 42 slots' });
  });

  it('wrong_genesis answers mainnet until it is cleared', async () => {
    await fault({ kind: 'wrong_genesis', times: 0 });
    const ask = () => chain.rpc.getGenesisHash().send();
    expect([await ask(), await ask()]).toEqual(Array(2).fill('5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d'));
    await chain.result('local_clearFaults');
    expect(await ask()).toBe('EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG');
  });
});

describe('fault queue', () => {
  it('faults apply to their own method only, in order, and never to local methods', async () => {
    await fault({ kind: 'rpc_error', method: 'getBlockHeight', code: 1, message: 'first' });
    await fault({ kind: 'rpc_error', code: 2, message: 'second' });
    expect((await chain.call('local_time')).error).toBeUndefined();
    expect((await chain.call('getSlot')).error?.code).toBe(2);
    expect((await chain.call('getSlot')).error).toBeUndefined();
    expect((await chain.call('getBlockHeight')).error?.code).toBe(1);
  });

  it('an unknown kind, and vanish without a signature, are refused', async () => {
    expect((await chain.call('local_fault', { kind: 'explode' })).error?.code).toBe(-32602);
    expect((await chain.call('local_fault', {})).error?.code).toBe(-32602);
    expect((await chain.call('local_fault', { kind: 'vanish' })).error?.code).toBe(-32602);
  });

  it('calls with a fault are counted', async () => {
    await chain.result('local_resetCalls');
    await fault({ kind: 'http_503' });
    await chain.post({ jsonrpc: '2.0', id: 1, method: 'getSlot' });
    await chain.call('getSlot');
    await chain.call('getBalance', await newAddress());
    expect(await chain.result('local_calls')).toEqual({ getSlot: 2, getBalance: 1 });
    await chain.result('local_resetCalls');
    expect(await chain.result('local_calls')).toEqual({});
  });
});
