import type { Address } from '@solana/kit';
import { getSetComputeUnitLimitInstruction, getSetComputeUnitPriceInstruction } from '@solana-program/compute-budget';
import { getCreateAssociatedTokenIdempotentInstructionAsync } from '@solana-program/token';
import { describe, expect, it } from 'vitest';
import { deriveTokenAddress, memo, newAddress, SOL, type TestChain, transferSol, transferUsdc, USDC, withChain } from './wallets.ts';

let chain: TestChain;
withChain((opened) => {
  chain = opened;
});

const readAll = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;

describe('SOL transfer', () => {
  it('the transfer moves exactly the amount and costs exactly one signature fee', async () => {
    const payer = await chain.openWallet({ lamports: 3n * SOL });
    const recipient = await newAddress();
    const signature = await chain.send(payer, [transferSol(payer, recipient, SOL)]);

    expect((await chain.rpc.getBalance(recipient).send()).value).toBe(SOL);
    expect((await chain.rpc.getBalance(payer.address).send()).value).toBe(2n * SOL - 5_000n);
    const recorded = await chain.rpc.getTransaction(signature, { ...readAll, encoding: 'json' }).send();
    expect(recorded?.meta).toMatchObject({ err: null, fee: 5_000n, innerInstructions: [], preTokenBalances: [], postTokenBalances: [] });
    expect(recorded?.meta?.preBalances.slice(0, 2)).toEqual([3n * SOL, 0n]);
    expect(recorded?.meta?.postBalances.slice(0, 2)).toEqual([2n * SOL - 5_000n, SOL]);
    expect(recorded?.meta?.computeUnitsConsumed).toBe(150n);
    expect(recorded?.transaction.signatures).toEqual([signature]);
    expect(recorded?.version).toBe('legacy');
  });

  it('a compute unit price is charged on top, as getFeeForMessage predicts', async () => {
    const payer = await chain.openWallet();
    const { wire, signature, transaction } = await chain.sign(payer, [
      getSetComputeUnitLimitInstruction({ units: 10_001 }),
      getSetComputeUnitPriceInstruction({ microLamports: 1_500_000n }),
      transferSol(payer, await newAddress(), SOL / 2n),
    ]);
    const message = Buffer.from(transaction.messageBytes).toString('base64');
    const foretold = await chain.result<{ value: number }>('getFeeForMessage', message);
    await chain.rpc.sendTransaction(wire, { encoding: 'base64' }).send();
    const recorded = await chain.rpc.getTransaction(signature, { ...readAll, encoding: 'json' }).send();
    expect(recorded?.meta?.fee).toBe(5_000n + 15_002n);
    expect(foretold.value).toBe(20_002);
  });
});

describe('USDC payment with a memo and references', () => {
  it('the payment is found by any reference, with the memo as a node prints it', async () => {
    const buyer = await chain.openWallet({ usdc: 10_000_000n });
    const merchant = await chain.openWallet({ usdc: 1n });
    const references = [await newAddress(), await newAddress()];
    const signature = await chain.send(buyer, [
      await transferUsdc(buyer, merchant.address, 2_500_000n, references),
      memo('order:é'),
      memo('second', 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo' as Address),
    ]);

    for (const reference of references) {
      const found = await chain.rpc.getSignaturesForAddress(reference, { commitment: 'confirmed' }).send();
      expect(found).toHaveLength(1);
      expect(found[0]).toMatchObject({ signature, err: null, memo: '[8] order:é; [6] second', confirmationStatus: 'confirmed' });
    }
    expect((await chain.rpc.getTokenAccountBalance(await deriveTokenAddress(merchant.address)).send()).value).toEqual({
      amount: '2500001',
      decimals: 6,
      uiAmount: 2.500001,
      uiAmountString: '2.500001',
    });
  });

  it('the record lists token balances before and after with owner, mint and program', async () => {
    const buyer = await chain.openWallet({ usdc: 1_000_000n });
    const merchant = await chain.openWallet({ usdc: 5n });
    const signature = await chain.send(buyer, [await transferUsdc(buyer, merchant.address, 1_000_000n)]);
    const meta = (await chain.rpc.getTransaction(signature, { ...readAll, encoding: 'base64' }).send())?.meta;
    const held = (owner: string, balances = meta?.preTokenBalances) => balances?.find((balance) => balance.owner === owner);

    expect(meta?.preTokenBalances).toHaveLength(2);
    expect(held(buyer.address)).toMatchObject({
      mint: USDC,
      programId: 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      uiTokenAmount: { amount: '1000000', decimals: 6, uiAmountString: '1' },
    });
    expect(held(buyer.address, meta?.postTokenBalances)?.uiTokenAmount).toMatchObject({ amount: '0', uiAmount: null });
    expect(held(merchant.address, meta?.postTokenBalances)?.uiTokenAmount).toMatchObject({ amount: '1000005', uiAmountString: '1.000005' });
  });

  it('parsed references appear as cosigners, because a node cannot distinguish them', async () => {
    const buyer = await chain.openWallet({ usdc: 10n });
    const merchant = await chain.openWallet({ usdc: 1n });
    const reference = await newAddress();
    const signature = await chain.send(buyer, [await transferUsdc(buyer, merchant.address, 7n, [reference]), memo('hi')]);
    const recorded = await chain.rpc.getTransaction(signature, { ...readAll, encoding: 'jsonParsed' }).send();
    const [transfer, note] = recorded?.transaction.message.instructions ?? [];

    expect(transfer).toMatchObject({
      program: 'spl-token',
      parsed: {
        type: 'transferChecked',
        info: { multisigAuthority: buyer.address, signers: [reference], mint: USDC, tokenAmount: { amount: '7' } },
      },
    });
    expect(note).toMatchObject({ program: 'spl-memo', parsed: 'hi' });
    const keys = recorded?.transaction.message.accountKeys ?? [];
    expect(keys[0]).toMatchObject({ pubkey: buyer.address, signer: true, writable: true, source: 'transaction' });
    expect(keys.find((key) => key.pubkey === reference)).toMatchObject({ signer: false, writable: false });
  });
});

describe('token account creation inside a payment', () => {
  it('the record has the inner instructions, and a balance after without one before', async () => {
    const buyer = await chain.openWallet({ usdc: 3_000_000n });
    const merchant = await newAddress();
    const create = await getCreateAssociatedTokenIdempotentInstructionAsync({ payer: buyer, mint: USDC, owner: merchant });
    const signature = await chain.send(buyer, [create, await transferUsdc(buyer, merchant, 3_000_000n)]);
    const recorded = await chain.rpc.getTransaction(signature, { ...readAll, encoding: 'jsonParsed' }).send();
    const meta = recorded?.meta;

    expect(meta?.preTokenBalances?.map((balance) => balance.owner)).toEqual([buyer.address]);
    expect(meta?.postTokenBalances?.map((balance) => balance.owner).sort()).toEqual([buyer.address, merchant].sort());
    expect(meta?.innerInstructions).toHaveLength(1);
    const inner = meta?.innerInstructions?.[0];
    const types = inner?.instructions.map((instruction) => ('parsed' in instruction ? instruction.parsed.type : null));
    expect(inner?.index).toBe(0);
    expect(types).toEqual(['getAccountDataSize', 'createAccount', 'initializeImmutableOwner', 'initializeAccount3']);
    const rent = await chain.rpc.getMinimumBalanceForRentExemption(165n).send();
    expect((await chain.rpc.getBalance(buyer.address).send()).value).toBe(SOL - 5_000n - rent);
  });
});

describe('failing transaction', () => {
  it('a failed transaction without preflight is recorded with its error and its fee', async () => {
    const buyer = await chain.openWallet({ usdc: 1n });
    const merchant = await chain.openWallet({ usdc: 1n });
    const signature = await chain.send(buyer, [await transferUsdc(buyer, merchant.address, 2n)], { skipPreflight: true });
    const err = { InstructionError: [0, { Custom: 1 }] };

    const raw = await chain.result<{ meta: Record<string, unknown> }>('getTransaction', signature, { commitment: 'confirmed' });
    expect(raw.meta).toMatchObject({ err, status: { Err: err }, fee: 5_000 });
    expect((raw.meta.logMessages as string[]).join('\n')).toContain('insufficient funds');
    const [status] = (await chain.result<{ value: unknown[] }>('getSignatureStatuses', [signature])).value;
    expect(status).toMatchObject({ err, confirmationStatus: 'confirmed' });
    const [listed] = await chain.result<unknown[]>('getSignaturesForAddress', merchant.address, { commitment: 'confirmed' });
    expect(listed).toBeUndefined();
    const [byToken] = await chain.result<unknown[]>('getSignaturesForAddress', await deriveTokenAddress(merchant.address), {
      commitment: 'confirmed',
    });
    expect(byToken).toMatchObject({ signature, err });
    expect((await chain.rpc.getTokenAccountBalance(await deriveTokenAddress(buyer.address)).send()).value.amount).toBe('1');
  });

  it('a transaction never lands if its payer cannot pay the fee', async () => {
    const poor = await chain.openWallet({ lamports: 0n });
    const signature = await chain.send(poor, [transferSol(poor, await newAddress(), 1n)], { skipPreflight: true });
    expect((await chain.rpc.getSignatureStatuses([signature]).send()).value).toEqual([null]);
  });
});
