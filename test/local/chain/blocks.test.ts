import type { Signature } from '@solana/kit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type ChainServer, newAddress, openChain, SOL, startChainServer, TestChain, transferSol } from './wallets.ts';

let server: ChainServer;
let chain: TestChain;
beforeAll(async () => {
  server = await startChainServer({ port: 0 });
});
afterAll(() => server.close());
beforeEach(async () => {
  chain = openChain(server);
  await chain.result('local_mode', 'manual');
});

const FINAL = { commitment: 'finalized', transactionDetails: 'signatures', rewards: false, maxSupportedTransactionVersion: 0 };
const readBlock = (slot: number, config: object = FINAL, from = chain) => from.call('getBlock', slot, config);
const slotNow = async () => (await chain.result<{ slot: number }>('local_time')).slot;
const finalize = () => chain.result('local_slots', 40);
const readStatus = async (signature: Signature, from = chain) =>
  (await from.rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send()).value[0];

async function land() {
  const payer = await chain.openWallet();
  const recipient = await newAddress();
  const slot = await slotNow();
  return { signature: await chain.send(payer, [transferSol(payer, recipient, SOL / 2n)]), slot, payer, recipient };
}

describe('getBlock and getBlocks', () => {
  it('a block holds the signatures of its slot and is null below the requested commitment', async () => {
    const { signature, slot } = await land();
    expect((await readBlock(slot)).error).toMatchObject({ code: -32004, message: `Block not available for slot ${slot}` });
    expect((await readBlock(slot, { ...FINAL, commitment: 'confirmed' })).result).toMatchObject({ signatures: [signature] });
    await finalize();
    const { result } = await readBlock(slot);
    expect(result).toMatchObject({ parentSlot: slot - 1, blockHeight: slot, signatures: [signature] });
    expect((await readBlock(slot + 1)).result).toMatchObject({
      signatures: [],
      previousBlockhash: (result as { blockhash: string }).blockhash,
    });
    expect((await readBlock(3)).error).toMatchObject({ code: -32001, message: expect.stringContaining('First available block: 1000') });
  });

  it('a block is shown in full or without transactions, as the public client requests', async () => {
    const { signature, slot } = await land();
    await finalize();
    const at = BigInt(slot);
    const full = await chain.rpc.getBlock(at, { maxSupportedTransactionVersion: 0 }).send();
    expect(full!.transactions.map(({ transaction }) => transaction.signatures[0])).toEqual([signature]);
    expect(full!.rewards).toEqual([]);
    const bare = await chain.rpc.getBlock(at, { transactionDetails: 'none', maxSupportedTransactionVersion: 0 }).send();
    expect(bare).not.toHaveProperty('transactions');
    const payer = await chain.openWallet();
    const { wire } = await chain.sign(payer, [transferSol(payer, await newAddress(), SOL / 2n)], { version: 0 });
    const later = await slotNow();
    await chain.call('sendTransaction', wire, { encoding: 'base64' });
    await finalize();
    expect((await readBlock(later, { transactionDetails: 'full' })).error?.code).toBe(-32015);
  });

  it('blocks are listed in a range and from a slot on, up to the requested commitment', async () => {
    const from = await slotNow();
    await finalize();
    expect(await chain.result('getBlocks', from, from + 2)).toEqual([from, from + 1, from + 2]);
    expect(await chain.result('getBlocksWithLimit', from, 2, { commitment: 'finalized' })).toEqual([from, from + 1]);
    expect(await chain.result('getBlocksWithLimit', from + 100, 2, { commitment: 'finalized' })).toEqual([]);
  });
});

describe('fork', () => {
  it('dropping one transaction removes it from its block, which remains', async () => {
    const { signature, slot } = await land();
    await chain.result('local_fault', { kind: 'vanish', signature });
    await finalize();
    expect((await readBlock(slot)).result).toMatchObject({ signatures: [] });
    expect(await readStatus(signature)).toBeNull();
  });

  it('dropping a block skips its slot, loses its transactions, and relinks the parent of the next block', async () => {
    const { signature, slot } = await land();
    await chain.result('local_dropBlock', slot);
    await finalize();
    expect((await readBlock(slot)).error).toMatchObject({ code: -32007, message: expect.stringContaining('was skipped, or missing') });
    expect((await readBlock(slot + 1)).result).toMatchObject({ parentSlot: slot - 1 });
    expect(await chain.result('getBlocksWithLimit', slot, 1, { commitment: 'finalized' })).toEqual([slot + 1]);
    expect(await readStatus(signature)).toBeNull();
  });

  it('a dropped transaction that lands again appears once in the later block, with its effects', async () => {
    const { signature, slot, recipient } = await land();
    await chain.result('local_fault', { kind: 'vanish', signature });
    await finalize();
    const again = await slotNow();
    expect(await chain.result('local_landAgain', signature)).toBe(true);
    expect(await chain.result('local_landAgain', signature)).toBe(false);
    await finalize();
    expect([(await readBlock(slot)).result, (await readBlock(again)).result]).toMatchObject([
      { signatures: [] },
      { signatures: [signature] },
    ]);
    expect(await readStatus(signature)).toMatchObject({ slot: BigInt(again), err: null });
    expect((await chain.rpc.getBalance(recipient).send()).value).toBe(SOL / 2n);
    expect(await chain.result('getSignaturesForAddress', recipient, { commitment: 'confirmed' })).toHaveLength(1);
  });

  it('a failed transaction that lands again runs once more and may succeed', async () => {
    const payer = await chain.openWallet();
    const recipient = await newAddress();
    const signature = await chain.send(payer, [transferSol(payer, recipient, 500n * SOL)], { skipPreflight: true });
    expect(await readStatus(signature)).toMatchObject({ err: expect.anything() });
    await chain.result('local_fault', { kind: 'vanish', signature });
    await chain.result('local_fundSol', payer.address, Number(500n * SOL));
    await chain.result('local_landAgain', signature);
    expect(await readStatus(signature)).toMatchObject({ err: null });
    expect((await chain.rpc.getBalance(recipient).send()).value).toBe(500n * SOL);
  });
});

describe('another node of the chain', () => {
  it('the second node shows the same blocks, with faults and counters of its own', async () => {
    const other = new TestChain(`${chain.url}/b`);
    const { signature } = await land();
    await other.result('local_fault', { kind: 'rpc_error', method: 'getSignatureStatuses' });
    await expect(readStatus(signature, other)).rejects.toThrow();
    expect(await readStatus(signature, other)).toMatchObject({ err: null });
    expect(await readStatus(signature)).toMatchObject({ err: null });
    expect([await chain.result('local_calls'), await other.result('local_calls')]).toMatchObject([
      { getSignatureStatuses: 1 },
      { getSignatureStatuses: 2 },
    ]);
  });

  it('a node on a fork shows its blocks without a transaction of the other nodes', async () => {
    const other = new TestChain(`${chain.url}/b`);
    const { signature, slot } = await land();
    await finalize();
    await other.result('local_fault', { kind: 'on_fork', signature, times: 0 });
    expect([await readStatus(signature), await readStatus(signature, other)]).toMatchObject([{ err: null }, null]);
    expect([(await readBlock(slot)).result, (await readBlock(slot, FINAL, other)).result]).toMatchObject([
      { signatures: [signature] },
      { signatures: [] },
    ]);
    expect(await other.result('getTransaction', signature, { commitment: 'confirmed' })).toBeNull();
  });

  it('a restarted node has no history from before and everything since', async () => {
    const before = await land();
    await chain.result('local_slots', 5);
    await chain.result('local_fault', { kind: 'no_history', slot: await slotNow(), times: 0 });
    const after = await land();
    await finalize();
    expect([await readStatus(before.signature), await readStatus(after.signature)]).toMatchObject([null, { err: null }]);
    expect((await readBlock(before.slot)).error).toMatchObject({ code: -32001 });
    expect((await readBlock(after.slot)).result).toMatchObject({ signatures: [after.signature] });
    expect(await chain.result('getTransaction', before.signature, { commitment: 'confirmed' })).toBeNull();
    expect(await chain.result('getSignaturesForAddress', before.recipient, { commitment: 'confirmed' })).toEqual([]);
    expect(await chain.result('getBlocksWithLimit', before.slot, 1, { commitment: 'finalized' })).toEqual([]);
    await chain.result('local_clearFaults');
    expect(await readStatus(before.signature)).toMatchObject({ err: null });
  });

  it('a node without history answers unknown and refuses blocks', async () => {
    const { signature, slot } = await land();
    await finalize();
    await chain.result('local_fault', { kind: 'no_history', times: 0 });
    expect(await readStatus(signature)).toBeNull();
    expect((await readBlock(slot)).error).toMatchObject({ code: -32011 });
  });
});
