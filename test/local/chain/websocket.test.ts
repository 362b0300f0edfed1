import { createSolanaRpcSubscriptions, type Signature, sendAndConfirmTransactionFactory } from '@solana/kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChainServer, newAddress, openChain, SOL, startChainServer, type TestChain, transferSol } from './wallets.ts';

let server: ChainServer;
let chain: TestChain;
beforeAll(async () => {
  server = await startChainServer({ port: 0 });
});
afterAll(() => server.close());
beforeEach(() => {
  chain = openChain(server);
});

const addressOf = (url: string) => url.replace('http:', 'ws:');
const subscriptionsOf = (url: string) => createSolanaRpcSubscriptions(addressOf(url));

async function connect(url = chain.url) {
  const socket = new WebSocket(addressOf(url));
  const received: Record<string, unknown>[] = [];
  const waiting: (() => void)[] = [];
  socket.addEventListener('message', ({ data }) => {
    received.push(JSON.parse(String(data)));
    for (const wake of waiting.splice(0)) wake();
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', reject);
  });
  const hear = async (): Promise<Record<string, unknown>> => {
    while (received.length === 0) await new Promise<void>((resolve) => waiting.push(resolve));
    return received.shift()!;
  };
  const ask = (method: string, ...params: unknown[]) => {
    socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }));
    return hear();
  };
  return { socket, received, hear, ask };
}

async function newTransfer() {
  const payer = await chain.openWallet();
  return chain.sign(payer, [transferSol(payer, await newAddress(), SOL / 2n)]);
}

describe('WebSocket subscriptions', () => {
  it('the client library gets the confirmation of the transaction that it sent', async () => {
    const payer = await chain.openWallet();
    const recipient = await newAddress();
    const { transaction } = await chain.sign(payer, [transferSol(payer, recipient, SOL / 2n)]);
    const lifetime = (await chain.rpc.getLatestBlockhash().send()).value;
    const sendAndConfirm = sendAndConfirmTransactionFactory({ rpc: chain.rpc, rpcSubscriptions: subscriptionsOf(chain.url) as never });
    await sendAndConfirm({ ...transaction, lifetimeConstraint: lifetime } as never, { commitment: 'confirmed' });
    expect((await chain.rpc.getBalance(recipient).send()).value).toBe(SOL / 2n);
  });

  it('a notification arrives at the requested commitment, not before, and on request when received', async () => {
    const { wire, signature } = await newTransfer();
    await chain.result('local_mode', 'manual');
    const { ask, hear, received } = await connect();
    const { result: subscription } = await ask('signatureSubscribe', signature, {
      commitment: 'finalized',
      enableReceivedNotification: true,
    });
    await chain.rpc.sendTransaction(wire, { encoding: 'base64' }).send();
    const arrival = await hear();
    expect(arrival).toMatchObject({ method: 'signatureNotification', params: { subscription, result: { value: 'receivedSignature' } } });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(received).toEqual([]);
    await chain.result('local_warp', 60);
    expect(await hear()).toMatchObject({ params: { subscription, result: { value: { err: null } } } });
    expect(await ask('signatureUnsubscribe', subscription)).toMatchObject({ error: { code: -32602, message: 'Invalid subscription id.' } });
  });

  it('a subscription gets a transaction that already landed, with its error if it failed', async () => {
    const payer = await chain.openWallet();
    const failed = await chain.sign(payer, [transferSol(payer, await newAddress(), 5n * SOL)]);
    await chain.rpc.sendTransaction(failed.wire, { encoding: 'base64', skipPreflight: true }).send();
    const { ask, hear } = await connect();
    await ask('signatureSubscribe', failed.signature, { commitment: 'processed' });
    expect(await hear()).toMatchObject({ params: { result: { value: { err: { InstructionError: [0, { Custom: 1 }] } } } } });
  });

  it('an unsubscribed client and a client of another chain get nothing', async () => {
    const { wire, signature } = await newTransfer();
    const leaving = await connect();
    const { result: subscription } = await leaving.ask('signatureSubscribe', signature, { commitment: 'processed' });
    expect(await leaving.ask('signatureUnsubscribe', subscription)).toMatchObject({ result: true });
    const elsewhere = await connect(openChain(server).url);
    await elsewhere.ask('signatureSubscribe', signature, { commitment: 'processed' });
    await chain.rpc.sendTransaction(wire, { encoding: 'base64' }).send();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([...leaving.received, ...elsewhere.received]).toEqual([]);
  });

  it('a slot subscription gets every slot', async () => {
    const abort = new AbortController();
    const slots = await subscriptionsOf(chain.url).slotNotifications().subscribe({ abortSignal: abort.signal });
    const heard: bigint[] = [];
    for await (const { slot, parent } of slots) {
      expect(parent).toBe(slot - 1n);
      heard.push(slot);
      if (heard.length === 2) abort.abort();
    }
    expect(heard[1]! - heard[0]!).toBeGreaterThanOrEqual(1n);
  });

  it('an invalid request gets the errors of a node, and the connection stays open', async () => {
    const { ask, hear, socket, received } = await connect();
    expect(await ask('accountSubscribe')).toMatchObject({ error: { code: -32601 } });
    expect(await ask('constructorSubscribe')).toMatchObject({ error: { code: -32601 } });
    expect(await ask('signatureSubscribe', 'nothing' as Signature)).toMatchObject({ error: { code: -32602 } });
    socket.send('{');
    expect(await hear()).toMatchObject({ error: { code: -32700 } });
    socket.send('{}');
    expect(await hear()).toMatchObject({ error: { code: -32600 } });
    socket.send(JSON.stringify({ jsonrpc: '2.0', method: 'ping' }));
    expect(await ask('slotSubscribe')).toMatchObject({ result: expect.any(Number) });
    expect(received).toEqual([]);
  });
});

describe('WebSocket server', () => {
  it('a connection to an unknown chain is refused', async () => {
    await expect(connect(`${server.url}/a/b/c`)).rejects.toBeDefined();
  });

  it('closing the server ends every connection', async () => {
    const closing = await startChainServer({ port: 0 });
    const { socket } = await connect(closing.url);
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
    await closing.close();
    await closed;
  });
});
