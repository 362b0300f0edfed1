import { address, createNoopSigner, generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { getTransferSolInstruction, getTransferSolWithSeedInstruction } from '@solana-program/system';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { base58, base64, utf8 } from '#core/encoding.ts';
import { convert, formatRate, MONEY_UNITS_MAX, type Rate } from '#core/money.ts';
import { MEMO_PROGRAM, NATIVE_MINT, NETWORKS, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '#solana/assets.ts';
import { buildCheckoutTransaction, type CheckoutTerms, checkPreparedTransaction } from '#solana/checkout-transaction.ts';
import { type Expectation, matchPayment } from '#solana/match.ts';
import { parseLamportTransfer, parseTransaction, type RpcInstruction, type RpcTransaction } from '#solana/transaction.ts';
import { TestChain } from '../support/chain/chain.ts';

const key = (fill: number) => base58.encode(new Uint8Array(32).fill(fill));
const [BUYER, MERCHANT, FEE, STRANGER, TOKENS] = [key(1), key(2), key(3), key(4), key(5)] as [string, string, string, string, string];
const KEYS = [BUYER, MERCHANT, FEE, STRANGER, TOKENS, SYSTEM_PROGRAM, MEMO_PROGRAM, TOKEN_PROGRAM];
const [AT, PRICE, SHARE] = [1_700_000_000, 50_000_000n, 1_250_000n];
const u64 = (units: bigint) => new Uint8Array(new BigUint64Array([units]).buffer);

const lamports = (to: number, units: bigint, from = 0): RpcInstruction => ({
  programIdIndex: 5,
  accounts: [from, to],
  data: base58.encode(Uint8Array.of(2, 0, 0, 0, ...u64(units))),
});
const memo = (text = 'svc:nonce'): RpcInstruction => ({ programIdIndex: 6, accounts: [], data: base58.encode(utf8(text)) });
const token = (units: bigint): RpcInstruction => ({
  programIdIndex: 7,
  accounts: [4, 1, 0],
  data: base58.encode(Uint8Array.of(3, ...u64(units))),
});

function landed(instructions: RpcInstruction[], gains: Record<number, number>, change: Partial<NonNullable<RpcTransaction['meta']>> = {}) {
  const before = KEYS.map(() => 1_000_000_000);
  return parseTransaction('signature', {
    slot: 1,
    blockTime: AT,
    transaction: { signatures: ['signature'], message: { accountKeys: KEYS, header: { numRequiredSignatures: 1 }, instructions } },
    meta: { err: null, preBalances: before, postBalances: before.map((held, index) => held + (gains[index] ?? 0)), ...change },
  });
}
const expectation = (change: Partial<Expectation> = {}): Expectation => ({
  memo: 'svc:nonce',
  mint: NATIVE_MINT,
  destination: MERCHANT,
  priceUnits: PRICE,
  fee: null,
  notBeforeSeconds: AT - 1000,
  notAfterSeconds: AT + 1000,
  ...change,
});
const judge = (...[transaction, expected = expectation()]: [ReturnType<typeof landed>, Expectation?]) => {
  const match = matchPayment(transaction, expected);
  return match.ok ? match.payment : match.reason;
};
const paid = (paidUnits: bigint, feePaidUnits = 0n, feeOwedUnits = 0n) => ({
  payer: BUYER,
  paidUnits,
  overpaidUnits: paidUnits - PRICE,
  feePaidUnits,
  feeOwedUnits,
});

describe('matchPayment in SOL', () => {
  it.each<[string, ReturnType<typeof judge>, ReturnType<typeof landed>]>([
    ['exact', paid(PRICE), landed([memo(), lamports(1, PRICE)], { 0: -50_005_000, 1: 50_000_000 })],
    ['generous', paid(PRICE + 1n), landed([memo(), lamports(1, PRICE + 1n)], { 1: 50_000_001 })],
    ['in two transfers', paid(PRICE), landed([memo(), lamports(1, PRICE - 1n), lamports(1, 1n)], { 1: 50_000_000 })],
    ['short by a lamport', 'underpaid', landed([memo(), lamports(1, PRICE - 1n)], { 1: 49_999_999 })],
    ['that flows back at once', 'underpaid', landed([memo(), lamports(1, PRICE), lamports(0, PRICE - 1n, 1)], { 1: 1 })],
    ['claimed, but not received', 'recipient_mismatch', landed([memo(), lamports(1, PRICE)], {})],
    ['to somebody else', 'recipient_mismatch', landed([memo(), lamports(3, PRICE)], { 3: 50_000_000 })],
    ['received without a transfer, as when an account is closed', 'recipient_mismatch', landed([memo()], { 1: 50_000_000 })],
    ['that failed', 'transaction_failed', landed([memo(), lamports(1, PRICE)], { 0: -5000 }, { err: {} })],
    ['without our memo', 'memo_missing', landed([lamports(1, PRICE)], { 1: 50_000_000 })],
    ['for another session', 'memo_mismatch', landed([memo('svc:other'), lamports(1, PRICE)], { 1: 50_000_000 })],
    [
      'of which the node tells no balances',
      'recipient_mismatch',
      landed([memo(), lamports(1, PRICE)], {}, { preBalances: null, postBalances: null }),
    ],
  ])('a SOL payment (%s) gets its verdict', (_, expected, transaction) => {
    expect(judge(transaction)).toEqual(expected);
  });

  it('a token payment is no SOL payment, nor the reverse, and wrapped SOL is a token', () => {
    for (const mint of ['So11111111111111111111111111111111111111112', NETWORKS.devnet.usdcMint]) {
      const balance = (amount: string) => [{ accountIndex: 1, mint, uiTokenAmount: { amount } }];
      const moved = { preTokenBalances: balance('0'), postTokenBalances: balance('50000000') };
      const tokens = landed([memo(), token(PRICE)], { 0: -5000 }, moved);
      expect(judge(tokens)).toBe('mint_mismatch');
      // A lamport of rent in the same transaction does not change the verdict.
      expect(judge(landed([memo(), token(PRICE), lamports(1, 1n)], { 1: 1 }, moved))).toBe('underpaid');
      expect(judge(landed([memo(), lamports(1, PRICE)], { 1: 50_000_000 }), expectation({ mint }))).toBe('recipient_mismatch');
    }
  });

  it('the payer is the signer of the lamports, not the fee payer', () => {
    const relayed = landed([memo(), lamports(1, PRICE, 3)], { 0: -5000, 1: 50_000_000, 3: -50_000_000 });
    expect(judge(relayed)).toMatchObject({ payer: STRANGER });
    // A tip to a token account that names our address is not the payment.
    const token = landed([memo(), lamports(4, 7n, 3), lamports(1, PRICE)], { 1: 50_000_000, 4: 7 });
    expect(judge(token)).toMatchObject({ payer: BUYER });
  });

  it('a payment in SOL and one in tokens to the same address are judged separately', () => {
    const mint = NETWORKS.devnet.usdcMint;
    const balance = (amount: string) => [{ accountIndex: 1, mint, uiTokenAmount: { amount } }];
    const moved = { preTokenBalances: balance('0'), postTokenBalances: balance('50000000') };
    const both = landed([memo(), lamports(1, PRICE, 3), token(PRICE)], { 1: 50_000_000, 3: -50_000_000 }, moved);
    expect(judge(both)).toMatchObject({ payer: STRANGER, paidUnits: PRICE });
    expect(judge(both, expectation({ mint }))).toMatchObject({ payer: BUYER, paidUnits: PRICE });
    const reversed = landed([memo(), token(PRICE), lamports(1, PRICE, 3)], { 1: 50_000_000, 3: -50_000_000 }, moved);
    expect(judge(reversed)).toMatchObject({ payer: STRANGER });
    expect(judge(reversed, expectation({ mint }))).toMatchObject({ payer: BUYER });
  });

  it('a balance that JSON has rounded is not judged', () => {
    const rounded = landed(
      [memo(), lamports(1, PRICE)],
      {},
      { preBalances: KEYS.map(() => 2 ** 53), postBalances: KEYS.map(() => 2 ** 53 + 64) },
    );
    expect(judge(rounded)).toBe('recipient_mismatch');
  });

  it.each([
    [PRICE - SHARE, SHARE, paid(PRICE, SHARE, 0n)],
    [PRICE, 0n, paid(PRICE, 0n, SHARE)],
    [PRICE - SHARE, 0n, 'underpaid'],
    [PRICE - SHARE, SHARE - 1n, 'underpaid'],
  ])('fee in SOL: %s to the merchant and %s to the service', (toMerchant, toService, expected) => {
    const transaction = landed([memo(), lamports(2, toService), lamports(1, toMerchant)], { 1: Number(toMerchant), 2: Number(toService) });
    expect(judge(transaction, expectation({ fee: { destination: FEE, units: SHARE } }))).toEqual(expected);
  });

  it('a payment is accepted exactly if the price arrived', () => {
    const units = fc.bigInt({ min: 1n, max: 2n ** 50n });
    fc.assert(
      fc.property(units, units, (priceUnits, received) => {
        const match = matchPayment(landed([memo(), lamports(1, received)], { 1: Number(received) }), expectation({ priceUnits }));
        expect(match.ok).toBe(received >= priceUnits);
        if (!('payment' in match)) throw new Error(match.reason);
        expect(match.payment.paidUnits).toBe(received);
      }),
    );
  });
});

describe('system transfer instruction', () => {
  const ix = (data: number[], accounts = [BUYER, MERCHANT], programId: string = SYSTEM_PROGRAM) => ({
    programId,
    accounts,
    data: Uint8Array.from(data),
  });
  it('a transfer of lamports is parsed, and other instructions are not', () => {
    const real = getTransferSolInstruction({
      source: createNoopSigner(address(BUYER)),
      destination: address(MERCHANT),
      amount: MONEY_UNITS_MAX,
    });
    const expected = { source: BUYER, mint: NATIVE_MINT, destination: MERCHANT, authority: BUYER, units: MONEY_UNITS_MAX };
    expect(parseLamportTransfer(ix([...real.data]))).toEqual(expected);
    const validBytes = [...real.data];
    for (let length = 0; length < 12; length++) expect(parseLamportTransfer(ix(validBytes.slice(0, length)))).toBeNull();
    for (const kind of [0, 1, 3, 4, 8, 11]) expect(parseLamportTransfer(ix([kind, ...validBytes.slice(1)]))).toBeNull();
    expect(parseLamportTransfer(ix([2, 1, 0, 0, ...validBytes.slice(4)]))).toBeNull();
    expect(parseLamportTransfer(ix(validBytes, [BUYER]))).toBeNull();
    expect(parseLamportTransfer(ix(validBytes, [BUYER, MERCHANT], TOKEN_PROGRAM))).toBeNull();
    const [source, baseAccount] = [address(STRANGER), createNoopSigner(address(BUYER))];
    const seeded = { source, baseAccount, destination: address(MERCHANT), amount: 1n, fromSeed: 'x', fromOwner: address(STRANGER) };
    const { data, accounts } = getTransferSolWithSeedInstruction(seeded);
    expect(
      parseLamportTransfer(
        ix(
          [...data],
          accounts.map(({ address: name }) => name),
        ),
      ),
    ).toBeNull();
  });
});

describe('checkPreparedTransaction in SOL', () => {
  const LIFETIME = { blockhash: key(9), lastValidBlockHeight: 1000n };
  let buyer: KeyPairSigner;
  const leg = (wallet: string, units: bigint) => ({ wallet, ata: wallet, units, ataExists: false });
  const terms = (change: Partial<CheckoutTerms> = {}): CheckoutTerms => ({
    memo: 'svc:nonce',
    mint: NATIVE_MINT,
    decimals: 9,
    references: [key(11), key(12)],
    merchant: leg(MERCHANT, PRICE - SHARE),
    fee: leg(FEE, SHARE),
    ...change,
  });
  const signed = async (of: CheckoutTerms) =>
    base64.decode(await new TestChain('').sign(buyer, await buildCheckoutTransaction(of, buyer.address, LIFETIME)));
  beforeAll(async () => {
    buyer = await generateKeyPairSigner();
  });

  it.each<[string, Partial<CheckoutTerms>, string]>([
    ['itself', {}, 'ok'],
    ['one without a fee', { fee: null }, 'transfer'],
    ['one with a smaller fee', { fee: leg(FEE, SHARE - 1n) }, 'fee'],
    ['one that pays less', { merchant: leg(MERCHANT, PRICE - SHARE - 1n) }, 'transfer'],
    ['one that pays somebody else', { merchant: leg(STRANGER, PRICE - SHARE) }, 'transfer'],
    ['one of another session', { memo: 'svc:other' }, 'memo'],
    ['one nobody could find', { references: [key(11)] }, 'reference'],
    ['one that pays in a token', { mint: NETWORKS.devnet.usdcMint }, 'foreign_instruction'],
  ])('a prepared SOL transaction (%s) gets its verdict', async (_, change, expected) => {
    const checked = checkPreparedTransaction(await signed(terms(change)), terms());
    expect(checked.ok ? 'ok' : checked.reason).toBe(expected);
    if (checked.ok) expect(checked.value.payer).toBe(buyer.address);
    const usdc = terms({ mint: NETWORKS.devnet.usdcMint, decimals: 6 });
    if (expected === 'ok')
      expect(checkPreparedTransaction(await signed(terms()), usdc)).toEqual({ ok: false, reason: 'foreign_instruction' });
  });
});

describe('SOL rate', () => {
  const rate = (price: bigint, expo: number): Rate => ({ price, expo });
  it.each<[bigint, number, string, bigint, bigint]>([
    [15_142_050_000n, -8, '151.4205', 33_020_628n, 151_420_500n],
    [150n, 0, '150', 33_333_334n, 150_000_000n],
    [1n, -8, '0.00000001', 500_000_000_000_000_000n, 1n],
    [5n, -1, '0.5', 10_000_000_000n, 500_000n],
    [123_456_789n, -18, '0.000000000123456789', 0n, 1n],
  ])('a rate of %s × 10^%s is %s', (price, expo, text, lamportsOfFive, microOfOne) => {
    expect(formatRate(rate(price, expo))).toBe(text);
    const five = convert({ asset: 'USDC', units: 5_000_000n }, 'SOL', rate(price, expo));
    // If five dollars exceed the possible amount of SOL, there is no price.
    expect(five?.units ?? 0n).toBe(lamportsOfFive);
    expect(convert({ asset: 'SOL', units: 1_000_000_000n }, 'USDC', rate(price, expo))?.units).toBe(microOfOne);
    expect(convert({ asset: 'SOL', units: 7n }, 'SOL', rate(price, expo))).toEqual({ asset: 'SOL', units: 7n });
  });

  it('a conversion never gives less than the price, nor a full unit more', () => {
    const amounts = fc.bigInt({ min: 1n, max: 10n ** 13n });
    const prices = fc.tuple(fc.bigInt({ min: 1n, max: 10n ** 12n }), fc.integer({ min: -12, max: 0 }));
    fc.assert(
      fc.property(amounts, prices, fc.constantFrom('USDC' as const, 'SOL' as const), (units, [price, expo], asset) => {
        const other = asset === 'USDC' ? 'SOL' : 'USDC';
        const due = convert({ asset, units }, other, rate(price, expo));
        fc.pre(due !== null);
        // Both sides in units of 10^-(9 - expo) dollars, without rounding.
        const worth = (of: 'USDC' | 'SOL', amount: bigint) => (of === 'SOL' ? amount * price : amount * 10n ** BigInt(3 - expo));
        expect(worth(other, due!.units) >= worth(asset, units)).toBe(true);
        expect(worth(other, due!.units - 1n) < worth(asset, units)).toBe(true);
      }),
    );
  });
});
