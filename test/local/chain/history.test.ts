import {
  type Address,
  type AddressesByLookupTableAddress,
  appendTransactionMessageInstructions,
  compressTransactionMessageUsingAddressLookupTables,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  pipe,
  type Signature,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { History } from '../../../local/chain/ledger/history.ts';
import {
  type ChainServer,
  deriveTokenAddress,
  memo,
  newAddress,
  openChain,
  SOL,
  TestChain,
  transferSol,
  transferUsdc,
  withChain,
} from './wallets.ts';

let chain: TestChain;
let server: ChainServer;
withChain((opened, running) => {
  chain = opened;
  server = running;
});

describe('commitment levels', () => {
  it('a transaction is missing in the history below the requested commitment', async () => {
    await chain.result('local_mode', 'manual');
    await chain.result('local_commitment', { confirmedAfterSlots: 2, finalizedAfterSlots: 5 });
    const payer = await chain.openWallet();
    const recipient = await newAddress();
    const signature = await chain.send(payer, [transferSol(payer, recipient, SOL / 2n)]);
    const readStatus = async () => {
      const [status] = (await chain.rpc.getSignatureStatuses([signature]).send()).value;
      const isSeen = async (commitment: 'confirmed' | 'finalized') =>
        (await chain.result('getTransaction', signature, { commitment })) !== null &&
        (await chain.result<unknown[]>('getSignaturesForAddress', recipient, { commitment })).length === 1;
      return [status?.confirmationStatus, status?.confirmations, await isSeen('confirmed'), await isSeen('finalized')];
    };

    expect(await readStatus()).toEqual(['processed', 0n, false, false]);
    await chain.result('local_slots', 2);
    expect(await readStatus()).toEqual(['confirmed', 2n, true, false]);
    await chain.result('local_slots', 3);
    expect(await readStatus()).toEqual(['finalized', null, true, true]);
    expect(await chain.result('getTransaction', signature)).not.toBeNull();
  });

  it('a test chain confirms at once, and the dev chain after a slot', async () => {
    const payer = await chain.openWallet();
    const signature = await chain.send(payer, [transferSol(payer, await newAddress(), SOL / 2n)]);
    expect(await chain.result('getTransaction', signature, { commitment: 'confirmed' })).not.toBeNull();

    const dev = new TestChain(server.url);
    await dev.result('local_mode', 'manual');
    const devPayer = await dev.openWallet();
    const devSignature = await dev.send(devPayer, [transferSol(devPayer, await newAddress(), SOL / 2n)]);
    expect(await dev.result('getTransaction', devSignature, { commitment: 'confirmed' })).toBeNull();
    await dev.result('local_slots', 1);
    expect(await dev.result('getTransaction', devSignature, { commitment: 'confirmed' })).not.toBeNull();
    await dev.result('local_slots', 31);
    expect(await dev.result('getTransaction', devSignature)).not.toBeNull();
  });

  it('history methods refuse a commitment below confirmed', async () => {
    const { error } = await chain.call('getTransaction', '1'.repeat(64), { commitment: 'processed' });
    expect(error).toMatchObject({ code: -32602, message: 'Method does not support commitment below `confirmed`' });
    expect((await chain.call('getSignaturesForAddress', await newAddress(), { commitment: 'processed' })).error?.code).toBe(-32602);
  });

  it('the status of an old transaction needs searchTransactionHistory', async () => {
    const payer = await chain.openWallet();
    const signature = await chain.send(payer, [transferSol(payer, await newAddress(), SOL / 2n)]);
    await chain.result('local_warp', 61);
    expect((await chain.rpc.getSignatureStatuses([signature]).send()).value).toEqual([null]);
    const searched = await chain.rpc.getSignatureStatuses([signature], { searchTransactionHistory: true }).send();
    expect(searched.value[0]).toMatchObject({ confirmationStatus: 'finalized', confirmations: null, err: null });
  });
});

describe('paging through an address', () => {
  it('signatures are listed newest first, with before, until and limit', async () => {
    const payer = await chain.openWallet({ lamports: 10n * SOL });
    const recipient = await newAddress();
    const sent: Signature[] = [];
    for (let index = 0; index < 5; index += 1)
      sent.push(await chain.send(payer, [transferSol(payer, recipient, SOL / 100n + BigInt(index))]));
    const page = async (config: Record<string, unknown>) => {
      const found = await chain.result<{ signature: Signature }[]>('getSignaturesForAddress', recipient, {
        commitment: 'confirmed',
        ...config,
      });
      return found.map(({ signature }) => sent.indexOf(signature));
    };

    expect(await page({})).toEqual([4, 3, 2, 1, 0]);
    expect(await page({ limit: 2 })).toEqual([4, 3]);
    expect(await page({ before: sent[3], limit: 2 })).toEqual([2, 1]);
    expect(await page({ until: sent[1] })).toEqual([4, 3, 2]);
    expect(await page({ before: sent[4], until: sent[0] })).toEqual([3, 2, 1]);
    expect(await page({ before: '1'.repeat(64) })).toEqual([]);
    const refused = await Promise.all([0, 1_001].map((limit) => chain.call('getSignaturesForAddress', recipient, { limit })));
    expect(refused.map(({ error }) => error?.code)).toEqual([-32602, -32602]);
  });
});

describe('version 0 transaction with a lookup table', () => {
  async function sendThroughTable() {
    const buyer = await chain.openWallet({ usdc: 100n });
    const merchant = await chain.openWallet({ usdc: 1n });
    const reference = await newAddress();
    const table = await newAddress();
    const destination = await deriveTokenAddress(merchant.address);
    await chain.result('local_setLookupTable', table, [reference, await newAddress(), destination]);
    const latest = (await chain.rpc.getLatestBlockhash().send()).value;
    const transfer = await transferUsdc(buyer, merchant.address, 40n, [reference]);
    const addresses: AddressesByLookupTableAddress = { [table]: [reference, await newAddress(), destination] };
    const message = pipe(
      createTransactionMessage({ version: 0 }),
      (draft) => setTransactionMessageFeePayerSigner(buyer, draft),
      (draft) => setTransactionMessageLifetimeUsingBlockhash(latest, draft),
      (draft) => appendTransactionMessageInstructions([transfer, memo('through a table')], draft),
      (draft) => compressTransactionMessageUsingAddressLookupTables(draft, addresses),
    );
    const wire = getBase64EncodedWireTransaction(await signTransactionMessageWithSigners(message));
    return { wire, reference, table, destination };
  }

  it('the transaction is executed, found by its loaded reference, and shown with its loaded addresses', async () => {
    const { wire, reference, table, destination } = await sendThroughTable();
    const signature = await chain.rpc.sendTransaction(wire, { encoding: 'base64' }).send();
    const [found] = await chain.rpc.getSignaturesForAddress(reference, { commitment: 'confirmed' }).send();
    expect(found).toMatchObject({ signature, err: null, memo: '[15] through a table' });

    const read = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 } as const;
    const json = await chain.rpc.getTransaction(signature, { ...read, encoding: 'json' }).send();
    expect(json?.version).toBe(0);
    expect(json?.meta?.loadedAddresses).toEqual({ writable: [destination], readonly: [reference] });
    expect(json?.transaction.message).toMatchObject({
      addressTableLookups: [{ accountKey: table, writableIndexes: [2], readonlyIndexes: [0] }],
    });
    const keys = [...(json?.transaction.message.accountKeys ?? []), destination, reference];
    const credited = json?.meta?.postTokenBalances?.find((balance) => keys[balance.accountIndex] === destination);
    expect(credited?.uiTokenAmount.amount).toBe('41');

    const parsed = await chain.rpc.getTransaction(signature, { ...read, encoding: 'jsonParsed' }).send();
    const loadedKeys = parsed?.transaction.message.accountKeys.filter((key) => key.source === 'lookupTable');
    expect(loadedKeys).toEqual([
      { pubkey: destination, signer: false, source: 'lookupTable', writable: true },
      { pubkey: reference, signer: false, source: 'lookupTable', writable: false },
    ]);
    const base64 = await chain.rpc.getTransaction(signature, { ...read, encoding: 'base64' }).send();
    expect(base64?.transaction[0]).toBe(wire);
  });

  it('a client without maxSupportedTransactionVersion gets -32015', async () => {
    const { wire } = await sendThroughTable();
    const signature = await chain.result('sendTransaction', wire, { encoding: 'base64' });
    const { error } = await chain.call('getTransaction', signature, { commitment: 'confirmed' });
    expect(error?.code).toBe(-32015);
  });

  it('a missing lookup table is refused', async () => {
    const { wire } = await sendThroughTable();
    const { error } = await openChain(server).call('sendTransaction', wire, { encoding: 'base64' });
    expect(error).toMatchObject({ code: -32602 });
    expect(error?.message).toContain("address table account that doesn't exist");
  });
});

describe('bounded history', () => {
  it('the oldest transaction is deleted everywhere, and its message can be sent again', () => {
    const history = new History(2);
    const balances = { lamports: [], tokens: [] };
    const execution = { err: null, logs: [], unitsConsumed: 0n, returnData: null, innerInstructions: [] };
    const payer = '11111111111111111111111111111111' as Address;
    for (const signature of ['first', 'second', 'third']) {
      history.add({
        signature,
        messageHash: `hash of ${signature}`,
        slot: 1,
        blockTime: 1,
        bytes: new Uint8Array(),
        keys: [payer],
        loaded: { writable: [], readonly: [] },
        execution,
        fee: 0n,
        before: balances,
        after: balances,
        memo: null,
      });
    }
    expect(history.find('first')).toBeNull();
    expect(history.hasProcessed('hash of first')).toBe(false);
    expect(history.hasProcessed('hash of second')).toBe(true);
    expect(history.count).toBe(3);
    expect(history.listByAddress(payer, { limit: 10 }, () => true).map(({ signature }) => signature)).toEqual(['third', 'second']);
  });
});
