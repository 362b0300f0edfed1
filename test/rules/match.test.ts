import type { Address } from '@solana/kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { type Expectation, type Match, matchPayment, paidOutOf } from '#solana/match.ts';
import { findAuthorityAddress, SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import type { ChainTransaction } from '#solana/transaction.ts';

const MINT = 'mint-usdc';
const PRICE = 1_000_000n;
const FEE = 30_000n;
const CREATED = 1_700_000_000;
const EXPIRES = CREATED + 900;

const expectation = (change: Partial<Expectation> = {}): Expectation => ({
  memo: 'svc:nonce',
  mint: MINT,
  destination: 'ata-merchant',
  priceUnits: PRICE,
  fee: null,
  notBeforeSeconds: CREATED - 120,
  notAfterSeconds: EXPIRES + 120,
  ...change,
});
const withFee = (change: Partial<Expectation> = {}) => expectation({ fee: { destination: 'ata-fee', units: FEE }, ...change });

/** Transaction in which `gains` of the price's mint arrived, each transferred by the buyer. */
function paying(gains: Record<string, bigint>, change: Partial<ChainTransaction> = {}): ChainTransaction {
  const total = Object.values(gains).reduce((sum, units) => sum + units, 0n);
  return {
    signature: 'signature',
    slot: 5,
    blockTimeSeconds: CREATED + 60,
    failed: false,
    feePayer: 'wallet-relayer',
    memos: ['svc:nonce'],
    transfers: Object.entries(gains).map(([destination, units]) => ({
      source: 'ata-buyer',
      mint: MINT,
      destination,
      authority: 'wallet-buyer',
      units,
    })),
    lamportTransfers: [],
    lamportDeltas: new Map([['wallet-relayer', -5000n]]),
    events: [],
    channels: new Map(),
    tokenDeltas: new Map(
      [...Object.entries(gains), ['ata-buyer', -total] as const].map(([account, delta]) => [account, { mint: MINT, delta }]),
    ),
    ...change,
  };
}
const exact = (change: Partial<ChainTransaction> = {}) => paying({ 'ata-merchant': PRICE }, change);
const verdict = (match: Match): string => (match.ok ? 'ok' : match.reason);
const judge = (transaction: ChainTransaction, expected = expectation()) => verdict(matchPayment(transaction, expected));

describe('matchPayment', () => {
  it('a channel payout is no payment, whatever its memo, unless vouchers promised it', () => {
    const channels = new Map([['channel', 'wallet-buyer']]);
    const transfer = { source: 'ata-channel', mint: MINT, destination: 'ata-merchant', authority: 'channel', units: PRICE };
    const payout = exact({ channels, transfers: [transfer] });
    expect(judge(payout)).toBe('recipient_mismatch');
    expect(judge(payout, expectation({ owedBy: 'channel' }))).toBe('ok');
    const both = paying(
      { 'ata-merchant': PRICE + 7n },
      { channels, transfers: [transfer, { ...transfer, authority: 'wallet-buyer', units: 7n }] },
    );
    expect(matchPayment(both, expectation())).toMatchObject({
      ok: false,
      reason: 'underpaid',
      payment: { payer: 'wallet-buyer', paidUnits: 7n },
    });
  });

  it('a subscription collection is no payment, whatever its memo, unless it pays a period', () => {
    const wallet = base58.encode(new Uint8Array(32).fill(7)) as Address;
    const authority = findAuthorityAddress(wallet, wallet).address;
    const collected = Uint8Array.of(2, ...new Uint8Array(64), ...new Uint8Array(64).fill(7), ...new Uint8Array(128));
    const events = [{ programId: SUBSCRIPTIONS_PROGRAM, data: collected }];
    const transfer = { source: 'ata-buyer', mint: MINT, destination: 'ata-merchant', authority, units: PRICE };
    const collection = exact({ events, transfers: [transfer] });
    expect(judge(collection)).toBe('recipient_mismatch');
    expect(judge(collection, expectation({ owedBy: 'plan' }))).toBe('ok');
    expect(judge(exact({ transfers: [transfer] }))).toBe('ok');
  });

  it('a channel payout counts the amounts that the channel itself moved, and zero if the transaction failed', () => {
    const transfers = [
      { source: 'ata-channel', mint: MINT, destination: 'ata-merchant', authority: 'channel', units: 5n },
      { source: 'ata-channel', mint: MINT, destination: 'ata-buyer', authority: 'channel', units: 3n },
      { source: 'ata-other', mint: MINT, destination: 'ata-merchant', authority: 'other', units: 9n },
    ];
    expect(paidOutOf(exact({ transfers }), 'channel', 'ata-merchant')).toEqual({ all: 8n, paid: 5n });
    expect(paidOutOf(exact({ transfers, failed: true }), 'channel', 'ata-merchant')).toEqual({ all: 0n, paid: 0n });
  });

  it('an exact payment on time is accepted, and its payer is the owner of the money, not the fee payer', () => {
    expect(matchPayment(exact(), expectation())).toEqual({
      ok: true,
      payment: { payer: 'wallet-buyer', paidUnits: PRICE, overpaidUnits: 0n, feeOwedUnits: 0n, feePaidUnits: 0n },
    });
  });

  it.each<[string, string, ChainTransaction]>([
    ['failed on chain', 'transaction_failed', exact({ failed: true })],
    ['has no memo', 'memo_missing', exact({ memos: [] })],
    ['has only memos of others', 'memo_missing', exact({ memos: ['thanks', ' svc:nonce', 'SVC:nonce', 'xsvc:nonce'] })],
    ['names two sessions', 'memo_ambiguous', exact({ memos: ['svc:nonce', 'svc:other'] })],
    ['names two sessions, ours second', 'memo_ambiguous', exact({ memos: ['svc:other', 'svc:nonce'] })],
    ['names this session twice', 'memo_ambiguous', exact({ memos: ['svc:nonce', 'svc:nonce'] })],
    ['names another session', 'memo_mismatch', exact({ memos: ['svc:other'] })],
    ['says more than the memo', 'memo_mismatch', exact({ memos: ['svc:nonce '] })],
    ['says less than the memo', 'memo_mismatch', exact({ memos: ['svc:nonc'] })],
    ['has the memo in other letters', 'memo_mismatch', exact({ memos: ['svc:NONCE'] })],
    ['pays somebody else', 'recipient_mismatch', paying({ 'ata-stranger': PRICE })],
    ['takes from the merchant', 'recipient_mismatch', paying({ 'ata-merchant': -PRICE })],
    ['moves nothing', 'recipient_mismatch', exact({ tokenDeltas: new Map(), transfers: [] })],
    ['sends the money round in a circle', 'recipient_mismatch', paying({ 'ata-merchant': 0n })],
    ['is one unit short', 'underpaid', paying({ 'ata-merchant': PRICE - 1n })],
    ['is dust', 'underpaid', paying({ 'ata-merchant': 1n })],
    ['is from before the session', 'too_early', exact({ blockTimeSeconds: CREATED - 121 })],
    ['has no time yet', 'too_early', exact({ blockTimeSeconds: null })],
    ['comes after the end', 'late', exact({ blockTimeSeconds: EXPIRES + 121 })],
  ])('a payment that %s is refused with %s', (_, reason, transaction) => {
    expect(judge(transaction)).toBe(reason);
  });

  it('a payment in another mint is refused with mint_mismatch, even in the right account', () => {
    const otherMint = new Map([
      ['ata-buyer', { mint: 'mint-fake', delta: -PRICE }],
      ['ata-merchant', { mint: 'mint-fake', delta: PRICE }],
    ]);
    expect(judge(exact({ tokenDeltas: otherMint }))).toBe('mint_mismatch');
  });

  it('the payment is judged by balance changes, not by what a transfer instruction claims', () => {
    const claimed = exact();
    claimed.tokenDeltas.set('ata-merchant', { mint: MINT, delta: PRICE / 2n });
    expect(judge(claimed)).toBe('underpaid');
    expect(judge(exact({ transfers: [] }))).toBe('recipient_mismatch');
  });

  it('the memo is checked first, so a foreign transaction shows nothing else', () => {
    expect(judge(exact({ failed: true, memos: ['svc:other'], blockTimeSeconds: 0 }))).toBe('memo_mismatch');
    expect(judge(exact({ failed: true, blockTimeSeconds: 0 }))).toBe('transaction_failed');
  });

  it('a payment may have other memos next to ours', () => {
    expect(judge(exact({ memos: ['order 7', 'svc:nonce', ''] }))).toBe('ok');
  });

  it('both edges of the time window count as on time', () => {
    const at = (blockTimeSeconds: number) => judge(exact({ blockTimeSeconds }));
    expect([CREATED - 121, CREATED - 120, CREATED - 119].map(at)).toEqual(['too_early', 'ok', 'ok']);
    expect([EXPIRES + 119, EXPIRES + 120, EXPIRES + 121].map(at)).toEqual(['ok', 'ok', 'late']);
  });

  it('a late or short payment still reports its amounts', () => {
    const late = matchPayment(paying({ 'ata-merchant': PRICE + 7n }, { blockTimeSeconds: EXPIRES + 500 }), expectation());
    expect(late).toMatchObject({ reason: 'late', payment: { payer: 'wallet-buyer', paidUnits: PRICE + 7n, overpaidUnits: 7n } });
    const short = matchPayment(paying({ 'ata-merchant': 5n }), expectation());
    expect(short).toMatchObject({ reason: 'underpaid', payment: { paidUnits: 5n, overpaidUnits: 0n, feeOwedUnits: 0n } });
    expect(judge(paying({ 'ata-merchant': 5n }, { blockTimeSeconds: EXPIRES + 500 }))).toBe('underpaid');
  });
});

describe('matchPayment with a fee', () => {
  const pay = (merchant: bigint, fee: bigint) => matchPayment(paying({ 'ata-merchant': merchant, 'ata-fee': fee }), withFee());
  const summary = (match: Match) => {
    if (!('payment' in match)) return match.reason;
    return `${verdict(match)}: overpaid ${match.payment.overpaidUnits}, fee owed ${match.payment.feeOwedUnits}`;
  };

  it.each<[string, bigint, bigint, string]>([
    ['split as asked', PRICE - FEE, FEE, 'ok: overpaid 0, fee owed 0'],
    ['the whole price to the merchant, no fee', PRICE, 0n, `ok: overpaid 0, fee owed ${FEE}`],
    ['a short first leg, no fee', PRICE - FEE, 0n, 'underpaid: overpaid 0, fee owed 0'],
    ['a short first leg and a short fee', PRICE - FEE, FEE - 1n, 'underpaid: overpaid 0, fee owed 0'],
    ['a first leg one unit short, the fee complete', PRICE - FEE - 1n, FEE, 'underpaid: overpaid 0, fee owed 0'],
    ['a fee beyond the asked, which makes nothing good', PRICE - FEE - 1n, FEE + 1n, 'underpaid: overpaid 0, fee owed 0'],
    ['part of the fee to the merchant instead', PRICE - 10n, 10n, `ok: overpaid 0, fee owed ${FEE - 10n}`],
    ['the whole price and the fee on top', PRICE, FEE, `ok: overpaid ${FEE}, fee owed 0`],
    ['more than the price to the merchant, no fee', PRICE + 9n, 0n, `ok: overpaid 9, fee owed ${FEE}`],
    ['everything to the service', 0n, PRICE, 'recipient_mismatch'],
    ['the fee account losing money', PRICE - FEE, -FEE, 'underpaid: overpaid 0, fee owed 0'],
  ])('price and fee (%s) get their verdict', (_, merchant, fee, expected) => {
    expect(summary(pay(merchant, fee))).toBe(expected);
  });

  it('a fee in another mint counts as owed', () => {
    const transaction = paying({ 'ata-merchant': PRICE });
    transaction.tokenDeltas.set('ata-fee', { mint: 'mint-fake', delta: FEE });
    expect(summary(matchPayment(transaction, withFee()))).toBe(`ok: overpaid 0, fee owed ${FEE}`);
  });

  it('a price and fee to the same account count each unit once', () => {
    const oneAccount = withFee({ fee: { destination: 'ata-merchant', units: FEE } });
    const both = matchPayment(paying({ 'ata-merchant': PRICE }), oneAccount);
    expect(both).toMatchObject({ ok: true, payment: { paidUnits: PRICE, overpaidUnits: 0n } });
    expect(judge(paying({ 'ata-merchant': PRICE - FEE }), oneAccount)).toBe('underpaid');
  });
});

describe('matchPayment over random amounts', () => {
  const amount = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), fc.bigInt({ min: 0n, max: 50n }));
  const around = (edge: bigint) => fc.bigInt({ min: -5n, max: 5n }).map((step) => (edge + step < 0n ? 0n : edge + step));

  it('a payment is accepted exactly if the price is covered, and the surplus is the amount beyond it', () => {
    const cases = fc.bigInt({ min: 1n, max: 2n ** 63n }).chain((price) => fc.tuple(fc.constant(price), fc.oneof(amount, around(price))));
    fc.assert(
      fc.property(cases, ([price, received]) => {
        fc.pre(received > 0n);
        const match = matchPayment(paying({ 'ata-merchant': received }), expectation({ priceUnits: price }));
        expect(verdict(match)).toBe(received >= price ? 'ok' : 'underpaid');
        if (!('payment' in match)) throw new Error('no payment shown');
        expect(match.payment.paidUnits).toBe(received);
        expect(match.payment.overpaidUnits).toBe(received > price ? received - price : 0n);
      }),
    );
  });

  it('paid equals price plus surplus, and the fee is either paid or owed', () => {
    const price = fc.bigInt({ min: 2n, max: 2n ** 40n });
    const cases = price.chain((price) =>
      fc.bigInt({ min: 1n, max: price / 2n }).chain((fee) =>
        fc.record({
          price: fc.constant(price),
          fee: fc.constant(fee),
          received: fc.oneof(around(price), around(price - fee), fc.bigInt({ min: 1n, max: price * 2n })),
          feeReceived: fc.oneof(around(fee), fc.constant(0n), fc.bigInt({ min: 0n, max: price })),
        }),
      ),
    );
    fc.assert(
      fc.property(cases, ({ price, fee, received, feeReceived }) => {
        fc.pre(received > 0n);
        const expected = expectation({ priceUnits: price, fee: { destination: 'ata-fee', units: fee } });
        const match = matchPayment(paying({ 'ata-merchant': received, 'ata-fee': feeReceived }), expected);
        if (!('payment' in match)) throw new Error(match.reason);
        const surplusFee = feeReceived > fee ? feeReceived - fee : 0n;
        const counted = feeReceived - surplusFee;
        const { overpaidUnits, feeOwedUnits, paidUnits } = match.payment;
        expect(paidUnits).toBe(received + counted);
        expect(match.ok).toBe(received + counted >= price);
        if (match.ok) expect(paidUnits).toBe(price + overpaidUnits);
        if (match.ok) expect(counted + feeOwedUnits).toBe(fee);
        else expect([overpaidUnits, feeOwedUnits]).toEqual([0n, 0n]);
        // The merchant never gets less than price - fee.
        if (match.ok) expect(received >= price - fee).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
