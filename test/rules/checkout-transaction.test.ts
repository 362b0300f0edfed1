import {
  AccountRole,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createTransactionMessage,
  decompileTransactionMessage,
  generateKeyPairSigner,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
  type Instruction,
  type KeyPairSigner,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from '@solana/kit';
import { getSetComputeUnitLimitInstruction } from '@solana-program/compute-budget';
import { getAdvanceNonceAccountInstruction, getTransferSolInstruction } from '@solana-program/system';
import { getApproveInstruction, getCreateAssociatedTokenIdempotentInstruction, getTransferCheckedInstruction } from '@solana-program/token';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { base58, utf8 } from '#core/encoding.ts';
import { ATA_PROGRAM, COMPUTE_BUDGET_PROGRAM, LIGHTHOUSE_PROGRAM, MEMO_PROGRAM, TOKEN_PROGRAM } from '#solana/assets.ts';
import {
  associatedTokenAccount,
  buildCheckoutTransaction,
  type CheckoutTerms,
  checkPreparedTransaction,
} from '#solana/checkout-transaction.ts';
import { memoInstruction, TestChain, USDC } from '../support/chain/chain.ts';

const key = (fill: number) => base58.encode(new Uint8Array(32).fill(fill));
const LIFETIME = { blockhash: key(9), lastValidBlockHeight: 1_000n };
const REFERENCES = [key(11), key(12)];
const FOREIGN = key(13);
const wallet = new TestChain('');
const bytesOf = (base64: string) => Uint8Array.from(getBase64Encoder().encode(base64));
const decode = (base64: string) => getTransactionDecoder().decode(bytesOf(base64));

let buyer: KeyPairSigner;
let stranger: KeyPairSigner;
let terms: CheckoutTerms;
let termsWithFee: CheckoutTerms;
const preparedText = new Map<CheckoutTerms, string>();

beforeAll(async () => {
  buyer = await generateKeyPairSigner();
  stranger = await generateKeyPairSigner();
  const [merchant, service] = [(await generateKeyPairSigner()).address, (await generateKeyPairSigner()).address];
  const leg = async (wallet: string, units: bigint) => ({
    wallet,
    units,
    ata: await associatedTokenAccount(wallet, USDC),
    ataExists: true,
  });
  const common = { memo: 'svc:nonce', mint: USDC, decimals: 6, references: REFERENCES };
  terms = { ...common, merchant: await leg(merchant, 5_000_000n), fee: null };
  termsWithFee = { ...common, merchant: await leg(merchant, 4_950_000n), fee: await leg(service, 50_000n) };
  for (const of of [terms, termsWithFee]) preparedText.set(of, await prepared(of));
});

const instructionsOf = (base64: string): readonly Instruction[] =>
  decompileTransactionMessage(getCompiledTransactionMessageDecoder().decode(decode(base64).messageBytes)).instructions;
const prepared = (of: CheckoutTerms) => buildCheckoutTransaction(of, buyer.address, LIFETIME);

/** Prepared transaction with changed instructions, signed by the buyer: the answer of a careless or hostile wallet. */
async function tampered(of: CheckoutTerms, change: (instructions: readonly Instruction[]) => readonly Instruction[]): Promise<string> {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(buyer.address, m),
    (m) => setTransactionMessageLifetimeUsingBlockhash({ ...LIFETIME, blockhash: LIFETIME.blockhash as Blockhash }, m),
    (m) => appendTransactionMessageInstructions([...change(instructionsOf(preparedText.get(of)!))], m),
  );
  return wallet.sign(buyer, getBase64EncodedWireTransaction(compileTransaction(message)));
}
const check = (base64: string, of: CheckoutTerms) => checkPreparedTransaction(bytesOf(base64), of);
const verdict = (base64: string, of: CheckoutTerms) => {
  const checked = check(base64, of);
  return checked.ok ? 'ok' : checked.reason;
};
const transferTo = async (destination: string, units: bigint, mint: string = USDC) =>
  getTransferCheckedInstruction({
    source: address(await associatedTokenAccount(buyer.address, mint)),
    mint: address(mint),
    destination: address(destination),
    authority: { address: buyer.address } as KeyPairSigner,
    amount: units,
    decimals: 6,
  });
const is = (program: string) => (ix: Instruction) => ix.programAddress === program;
const lacks = (program: string) => (ix: Instruction) => ix.programAddress !== program;

describe('buildCheckoutTransaction', () => {
  it('the transaction ends with the memo and the transfer that carries the references in order', async () => {
    for (const of of [terms, termsWithFee]) {
      const instructions = instructionsOf(await prepared(of));
      const [memo, transfer] = instructions.slice(-2);
      expect(memo!.programAddress).toBe(MEMO_PROGRAM);
      expect(memo!.data).toEqual(utf8('svc:nonce'));
      expect(transfer!.programAddress).toBe(TOKEN_PROGRAM);
      const accounts = transfer!.accounts!;
      expect(accounts.slice(0, 3).map(({ address }) => address)).toEqual([
        await associatedTokenAccount(buyer.address, USDC),
        USDC,
        of.merchant.ata,
      ]);
      expect(accounts.slice(-2)).toEqual(REFERENCES.map((reference) => ({ address: reference, role: AccountRole.READONLY })));
    }
  });

  it('the price is paid in one transfer, and with a fee in two', async () => {
    const transfersOf = (base64: string) =>
      instructionsOf(base64)
        .filter(is(TOKEN_PROGRAM))
        .map(({ accounts, data }) => [accounts![2]!.address, new DataView(Uint8Array.from(data!).buffer).getBigUint64(1, true)]);
    expect(transfersOf(await prepared(terms))).toEqual([[terms.merchant.ata, 5_000_000n]]);
    const { merchant, fee } = termsWithFee;
    expect(transfersOf(await prepared(termsWithFee))).toEqual([
      [fee!.ata, 50_000n],
      [merchant.ata, 4_950_000n],
    ]);
  });

  it('a token account is created only if it is missing', async () => {
    const created = async (merchantExists: boolean, feeExists: boolean) => {
      const fee = { ...termsWithFee.fee!, ataExists: feeExists };
      const instructions = instructionsOf(
        await prepared({ ...termsWithFee, merchant: { ...termsWithFee.merchant, ataExists: merchantExists }, fee }),
      );
      return instructions.filter(is(ATA_PROGRAM)).map(({ accounts }) => accounts![1]!.address);
    };
    expect(await created(true, true)).toEqual([]);
    expect(await created(false, true)).toEqual([termsWithFee.merchant.ata]);
    expect(await created(true, false)).toEqual([termsWithFee.fee!.ata]);
    expect(await created(false, false)).toEqual([termsWithFee.merchant.ata, termsWithFee.fee!.ata]);
  });

  it('the transaction has version 0, is paid by the buyer, is unsigned and fits into a packet', async () => {
    const fee = { ...termsWithFee.fee!, ataExists: false };
    const base64 = await prepared({ ...termsWithFee, merchant: { ...termsWithFee.merchant, ataExists: false }, fee });
    const message = getCompiledTransactionMessageDecoder().decode(decode(base64).messageBytes);
    expect(message.version).toBe(0);
    expect(message.staticAccounts[0]).toBe(buyer.address);
    expect(decode(base64).signatures).toEqual({ [buyer.address]: null });
    expect(bytesOf(base64).length).toBeLessThanOrEqual(1232);
  });
});

describe('checkPreparedTransaction, accepted', () => {
  it('the prepared transaction passes with the signature that it will have on chain', async () => {
    for (const of of [terms, termsWithFee]) {
      const signed = await wallet.sign(buyer, await prepared(of));
      const signature = base58.encode(Uint8Array.from(decode(signed).signatures[buyer.address]!));
      expect(check(signed, of)).toEqual({ ok: true, value: { signature, payer: buyer.address } });
    }
  });

  it('a transaction that creates the missing accounts passes', async () => {
    const of = { ...terms, merchant: { ...terms.merchant, ataExists: false } };
    expect(verdict(await wallet.sign(buyer, await prepared(of)), of)).toBe('ok');
  });

  it('a transaction with a guard, budget or memo added by the wallet passes', async () => {
    const guard: Instruction = { programAddress: address(LIGHTHOUSE_PROGRAM), accounts: [], data: Uint8Array.of(1, 2, 3) };
    const budget = getSetComputeUnitLimitInstruction({ units: 90_000 });
    const withoutBudget = (all: readonly Instruction[]) => all.filter(lacks(COMPUTE_BUDGET_PROGRAM));
    expect(verdict(await tampered(terms, (all) => [guard, ...all, guard]), terms)).toBe('ok');
    expect(verdict(await tampered(terms, (all) => [budget, ...withoutBudget(all)]), terms)).toBe('ok');
    expect(verdict(await tampered(terms, withoutBudget), terms)).toBe('ok');
    expect(verdict(await tampered(terms, (all) => [memoInstruction('sent with a wallet'), ...all]), terms)).toBe('ok');
  });
});

describe('checkPreparedTransaction, refused', () => {
  it('an unsigned transaction is refused with unsigned', async () => {
    expect(verdict(await prepared(terms), terms)).toBe('unsigned');
  });

  it('a transaction with one changed byte in a signature or in the message is refused', async () => {
    const wire = bytesOf(await wallet.sign(buyer, await prepared(terms)));
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 64 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const flipped = wire.map((byte, i) => (i === at ? byte ^ change : byte));
        expect(checkPreparedTransaction(flipped, terms)).toEqual({ ok: false, reason: 'unsigned' });
      }),
      { numRuns: 200 },
    );
    for (let at = 0; at < wire.length; at++) {
      const flipped = wire.map((byte, i) => (i === at ? byte ^ 0x10 : byte));
      expect(checkPreparedTransaction(flipped, terms).ok, `byte ${at}`).toBe(false);
    }
  });

  it('bytes that are no transaction are refused', async () => {
    const wire = bytesOf(await wallet.sign(buyer, await prepared(terms)));
    expect(checkPreparedTransaction(new Uint8Array(), terms)).toEqual({ ok: false, reason: 'undecodable' });
    for (const length of [1, 64, 65, 70, wire.length - 1]) expect(checkPreparedTransaction(wire.slice(0, length), terms).ok).toBe(false);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 1232 }), (bytes) => {
        expect(checkPreparedTransaction(bytes, terms).ok).toBe(false);
      }),
    );
  });

  it('a transaction followed by extra bytes is refused', async () => {
    const wire = bytesOf(await wallet.sign(buyer, await prepared(terms)));
    for (const tail of [[0], [1, 2, 3], [...wire]])
      expect(checkPreparedTransaction(Uint8Array.from([...wire, ...tail]), terms).ok, `${tail.length} bytes`).toBe(false);
  });

  it('a transaction with a missing second signature is refused', async () => {
    const tip = getTransferSolInstruction({ source: stranger, destination: buyer.address, amount: 1n });
    const half = await tampered(terms, (all) => [tip, ...all]);
    expect(verdict(half, terms)).toBe('unsigned');
    expect(verdict(await wallet.sign(stranger, half), terms)).toBe('foreign_instruction');
  });

  const swap = (program: string, by: (ix: Instruction) => Instruction | readonly Instruction[]) => (all: readonly Instruction[]) =>
    all.flatMap((ix) => (is(program)(ix) ? by(ix) : ix));
  type Case = [string, string, () => Promise<(all: readonly Instruction[]) => readonly Instruction[]>];
  const cases: Case[] = [
    ['the memo is another', 'memo', async () => swap(MEMO_PROGRAM, () => memoInstruction('svc:other'))],
    ['the memo is missing', 'memo', async () => (all) => all.filter(lacks(MEMO_PROGRAM))],
    ['it names a second session', 'memo', async () => (all) => [memoInstruction('svc:other'), ...all]],
    ['it names this session twice', 'memo', async () => (all) => [memoInstruction('svc:nonce'), ...all]],
    ['the amount is smaller', 'transfer', async () => withTransfer(await transferTo(terms.merchant.ata, 4_999_999n))],
    ['the amount is larger', 'transfer', async () => withTransfer(await transferTo(terms.merchant.ata, 5_000_001n))],
    ['the money goes elsewhere', 'transfer', async () => withTransfer(await transferTo(FOREIGN, 5_000_000n))],
    ['the mint is another', 'transfer', async () => withTransfer(await transferTo(terms.merchant.ata, 5_000_000n, FOREIGN))],
    ['the transfer is missing', 'transfer', async () => (all) => all.filter(lacks(TOKEN_PROGRAM))],
    ['it pays twice', 'transfer', async () => swap(TOKEN_PROGRAM, (ix) => [ix, ix])],
    [
      'it pays somebody else as well',
      'transfer',
      async () => {
        const extra = await transferTo(FOREIGN, 1n);
        return (all) => [extra, ...all];
      },
    ],
    ['the references are missing', 'reference', async () => swap(TOKEN_PROGRAM, (ix) => ({ ...ix, accounts: ix.accounts!.slice(0, -2) }))],
    ['one reference is missing', 'reference', async () => swap(TOKEN_PROGRAM, (ix) => ({ ...ix, accounts: ix.accounts!.slice(0, -1) }))],
    [
      'another program is called',
      'foreign_instruction',
      async () => (all) => [...all, { programAddress: address(FOREIGN), data: Uint8Array.of(1) }],
    ],
    ['the token program does something else', 'foreign_instruction', async () => (all) => [approval(), ...all]],
    ['an account of another mint is created', 'foreign_instruction', async () => (all) => [creation(terms.merchant.ata, FOREIGN), ...all]],
    ['an account of a stranger is created', 'foreign_instruction', async () => (all) => [creation(FOREIGN, USDC), ...all]],
    ['it would never expire', 'durable_nonce', async () => (all) => [nonceAdvance(), ...all]],
  ];
  const withTransfer = (transfer: Instruction) =>
    swap(TOKEN_PROGRAM, (ix) => ({ ...transfer, accounts: [...transfer.accounts!, ...ix.accounts!.slice(-2)] }));
  const asBuyer = () => ({ address: buyer.address }) as KeyPairSigner;
  const approval = () => getApproveInstruction({ source: address(FOREIGN), delegate: address(FOREIGN), owner: asBuyer(), amount: 1n });
  const creation = (ata: string, mint: string) =>
    getCreateAssociatedTokenIdempotentInstruction({ payer: asBuyer(), ata: address(ata), owner: address(FOREIGN), mint: address(mint) });
  const nonceAdvance = () => getAdvanceNonceAccountInstruction({ nonceAccount: address(FOREIGN), nonceAuthority: asBuyer() });

  it.each(cases)('a transaction is refused if %s (%s)', async (_, reason, change) => {
    expect(verdict(await tampered(terms, await change()), terms)).toBe(reason);
  });

  it('a transaction without the full fee to the right account is refused', async () => {
    const { fee } = termsWithFee;
    const isFee = (ix: Instruction) => ix.accounts?.[2]?.address === fee!.ata;
    const withFee = (by: Instruction) => tampered(termsWithFee, (all) => all.map((ix) => (isFee(ix) ? by : ix)));
    expect(verdict(await tampered(termsWithFee, (all) => all.filter((ix) => !isFee(ix))), termsWithFee)).toBe('transfer');
    expect(verdict(await withFee(await transferTo(fee!.ata, 49_999n)), termsWithFee)).toBe('fee');
    expect(verdict(await withFee(await transferTo(FOREIGN, 50_000n)), termsWithFee)).toBe('fee');
  });

  it('a transaction with lookup tables is refused with lookup_tables', async () => {
    const table = { lookupTableAddress: address(FOREIGN), writableIndexes: [0], readonlyIndexes: [] };
    const { messageBytes } = decode(await prepared(terms));
    // A version 0 message ends with the number of its lookup tables.
    const withTable = [...messageBytes.slice(0, -1), 1, ...base58.decode(table.lookupTableAddress), 1, 0, 0];
    const unsigned = Uint8Array.from([1, ...new Uint8Array(64), ...withTable]);
    const signed = await wallet.sign(buyer, btoa(String.fromCharCode(...unsigned)));
    expect(verdict(signed, terms)).toBe('lookup_tables');
  });
});
