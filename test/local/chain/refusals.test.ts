import { getBase64Encoder, getTransactionDecoder, getTransactionEncoder, type SignatureBytes } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { type ChainServer, newAddress, openChain, SOL, type TestChain, transferSol, transferUsdc, withChain } from './wallets.ts';

let chain: TestChain;
let server: ChainServer;
withChain((opened, running) => {
  chain = opened;
  server = running;
});

const base64 = { encoding: 'base64' } as const;

function corruptSignature(wire: string): string {
  const transaction = getTransactionDecoder().decode(getBase64Encoder().encode(wire));
  const [signer, signature] = Object.entries(transaction.signatures)[0]!;
  const corrupted = Uint8Array.from(signature!);
  corrupted[10] = corrupted[10]! ^ 1;
  const signatures = { ...transaction.signatures, [signer]: corrupted as SignatureBytes };
  return Buffer.from(getTransactionEncoder().encode({ ...transaction, signatures })).toString('base64');
}

describe('preflight', () => {
  it('a failing preflight answers -32002 with the error, logs and units of a node', async () => {
    const buyer = await chain.openWallet({ usdc: 1n });
    const merchant = await chain.openWallet({ usdc: 1n });
    const { wire, signature } = await chain.sign(buyer, [await transferUsdc(buyer, merchant.address, 2n)]);
    const { error } = await chain.call('sendTransaction', wire, base64);

    expect(error?.code).toBe(-32002);
    expect(error?.message).toBe('Transaction simulation failed: Error processing Instruction 0: custom program error: 0x1');
    expect(error?.data).toMatchObject({ accounts: null, err: { InstructionError: [0, { Custom: 1 }] }, returnData: null });
    expect(error?.data?.logs).toContain('Program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA failed: custom program error: 0x1');
    expect(error?.data?.unitsConsumed).toBeGreaterThan(0);
    expect((await chain.rpc.getSignatureStatuses([signature]).send()).value).toEqual([null]);
  });

  it('a payer without funds is named', async () => {
    const poor = await chain.openWallet({ lamports: 0n });
    const { wire } = await chain.sign(poor, [transferSol(poor, await newAddress(), 1n)]);
    const { error } = await chain.call('sendTransaction', wire, base64);
    expect(error).toMatchObject({ code: -32002, data: { err: 'AccountNotFound' } });
    expect(error?.message).toContain('no record of a prior credit');
  });
});

describe('signature checks', () => {
  it('an invalid signature is refused with -32003', async () => {
    const payer = await chain.openWallet();
    const { wire } = await chain.sign(payer, [transferSol(payer, await newAddress(), SOL / 2n)]);
    const { error } = await chain.call('sendTransaction', corruptSignature(wire), base64);
    expect(error).toMatchObject({ code: -32003, message: 'Transaction signature verification failure' });
    const simulated = await chain.call('simulateTransaction', corruptSignature(wire), { ...base64, sigVerify: true });
    expect(simulated.error?.code).toBe(-32003);
  });

  it('an invalid signature lands nowhere if preflight is skipped', async () => {
    const payer = await chain.openWallet();
    const recipient = await newAddress();
    const { wire } = await chain.sign(payer, [transferSol(payer, recipient, SOL / 2n)]);
    await chain.result('sendTransaction', corruptSignature(wire), { ...base64, skipPreflight: true });
    expect((await chain.rpc.getBalance(recipient).send()).value).toBe(0n);
    expect((await chain.rpc.getBalance(payer.address).send()).value).toBe(SOL);
  });

  it('a missing signature is refused with -32003', async () => {
    const payer = await chain.openWallet();
    const { transaction } = await chain.sign(payer, [transferSol(payer, await newAddress(), SOL / 2n)]);
    const unsigned = getTransactionEncoder().encode({ ...transaction, signatures: { [payer.address]: null } });
    const { error } = await chain.call('sendTransaction', Buffer.from(unsigned).toString('base64'), base64);
    expect(error?.code).toBe(-32003);
  });
});

describe('blockhash', () => {
  it('a blockhash is valid for 150 slots and refused in the next one', async () => {
    await chain.result('local_mode', 'manual');
    const payer = await chain.openWallet();
    const { blockhash, lastValidBlockHeight } = (await chain.rpc.getLatestBlockhash().send()).value;
    const { slot } = await chain.result<{ slot: number }>('local_time');
    expect(lastValidBlockHeight).toBe(BigInt(slot) + 150n);
    const first = await chain.sign(payer, [transferSol(payer, await newAddress(), SOL / 10n)], { blockhash });
    const second = await chain.sign(payer, [transferSol(payer, await newAddress(), SOL / 10n)], { blockhash });

    await chain.result('local_slots', 150);
    await chain.rpc.sendTransaction(first.wire, base64).send();
    expect((await chain.rpc.isBlockhashValid(blockhash).send()).value).toBe(true);
    await chain.result('local_slots', 1);
    expect((await chain.rpc.isBlockhashValid(blockhash).send()).value).toBe(false);
    const { error } = await chain.call('sendTransaction', second.wire, base64);
    expect(error).toMatchObject({ code: -32002, message: 'Transaction simulation failed: Blockhash not found' });
    expect(error?.data).toMatchObject({ err: 'BlockhashNotFound', logs: [], unitsConsumed: 0 });
  });

  it('a blockhash of another chain is not found, and without preflight its transaction is silently lost', async () => {
    const other = openChain(server);
    const payer = await chain.openWallet();
    const recipient = await newAddress();
    const { blockhash } = (await other.rpc.getLatestBlockhash().send()).value;
    const { wire, signature } = await chain.sign(payer, [transferSol(payer, recipient, SOL / 2n)], { blockhash });
    expect((await chain.call('sendTransaction', wire, base64)).error?.data).toMatchObject({ err: 'BlockhashNotFound' });
    expect(await chain.result('sendTransaction', wire, { ...base64, skipPreflight: true })).toBe(signature);
    expect((await chain.rpc.getBalance(recipient).send()).value).toBe(0n);
  });
});

describe('duplicate transaction', () => {
  it('a duplicate is refused by preflight and changes nothing without it', async () => {
    const payer = await chain.openWallet();
    const recipient = await newAddress();
    const { wire, signature } = await chain.sign(payer, [transferSol(payer, recipient, SOL / 4n)]);
    await chain.rpc.sendTransaction(wire, base64).send();
    const { error } = await chain.call('sendTransaction', wire, base64);
    expect(error).toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: This transaction has already been processed',
      data: { err: 'AlreadyProcessed' },
    });
    expect(await chain.result('sendTransaction', wire, { ...base64, skipPreflight: true })).toBe(signature);
    expect((await chain.rpc.getBalance(recipient).send()).value).toBe(SOL / 4n);
    expect(await chain.result('getSignaturesForAddress', recipient, { commitment: 'confirmed' })).toHaveLength(1);
  });
});

describe('simulateTransaction', () => {
  it('a simulation changes nothing and shows the resulting accounts', async () => {
    const payer = await chain.openWallet();
    const recipient = await newAddress();
    const { wire } = await chain.sign(payer, [transferSol(payer, recipient, SOL / 2n)]);
    const accounts = { addresses: [recipient], encoding: 'base64' } as const;
    const { value } = await chain.rpc.simulateTransaction(wire, { encoding: 'base64', accounts, innerInstructions: true }).send();
    expect(value).toMatchObject({ err: null, unitsConsumed: 150n, innerInstructions: [] });
    expect(value.accounts?.[0]?.lamports).toBe(SOL / 2n);
    expect((await chain.rpc.getBalance(recipient).send()).value).toBe(0n);
  });

  it('a simulation replaces an expired blockhash on request, without checking signatures', async () => {
    const payer = await chain.openWallet();
    const { wire } = await chain.sign(payer, [transferSol(payer, await newAddress(), SOL / 2n)]);
    await chain.result('local_warp', 120);
    const expired = await chain.rpc.simulateTransaction(wire, base64).send();
    expect(expired.value.err).toBe('BlockhashNotFound');
    const replaced = await chain.rpc.simulateTransaction(wire, { encoding: 'base64', replaceRecentBlockhash: true }).send();
    expect(replaced.value.err).toBeNull();
    const { blockhash } = (await chain.rpc.getLatestBlockhash().send()).value;
    expect(replaced.value.replacementBlockhash?.blockhash).toHaveLength(blockhash.length);
    const both = { ...base64, replaceRecentBlockhash: true, sigVerify: true };
    expect((await chain.call('simulateTransaction', wire, both)).error?.code).toBe(-32602);
  });
});
