import { NATIVE_MINT } from './assets.ts';
import { collectorsIn } from './programs/subscriptions/collected.ts';
import { type ChainTransaction, svcMemos, type TokenTransfer, transfersOf } from './transaction.ts';

/**
 * What a payment expects of its transaction. `matchPayment` alone decides whether one meets it. The memo only correlates; what counts is what
 * the recipient's own account gained, in the right mint (or in lamports), in time.
 */
export interface Expectation {
  /** null where the transaction is known by its signature, because we signed it. */
  memo: string | null;
  /** NATIVE_MINT for SOL. */
  mint: string;
  /** Associated token account of the recipient for that mint; for SOL the wallet itself. */
  destination: string;
  priceUnits: bigint;
  /** Part of the price that goes to the service in the same transaction, if one is configured. */
  fee: { destination: string; units: bigint } | null;
  /**
   * Debtor of this money: a channel by vouchers, or a subscription plan for a period. Its transfers pay nothing else, whatever memo the
   * sender adds.
   */
  owedBy?: 'channel' | 'plan' | undefined;
  /** Seconds of chain time, both inclusive. */
  notBeforeSeconds: number;
  notAfterSeconds: number;
}

/** For a transaction that was judged in time before. */
export const ANY_TIME = { notBeforeSeconds: 0, notAfterSeconds: Number.MAX_SAFE_INTEGER };

type MismatchReason =
  | 'transaction_failed'
  | 'memo_missing'
  | 'memo_ambiguous'
  | 'memo_mismatch'
  | 'recipient_mismatch'
  | 'mint_mismatch'
  | 'underpaid'
  | 'too_early'
  | 'late';

export interface PaidTransfer {
  /** All of the price that arrived: the merchant's part and, up to what is due, the service's. */
  paidUnits: bigint;
  /** Authority of the transfer: who spent the money, not who paid the network fee. */
  payer: string;
  overpaidUnits: bigint;
  /** Part of it that went to the service. */
  feePaidUnits: bigint;
  /** Fee that did not arrive although the merchant got the whole price. */
  feeOwedUnits: bigint;
}

export type Match =
  | { ok: true; payment: PaidTransfer }
  /** The money is there and it is this session's; only the condition named by `reason` failed. */
  | { ok: false; reason: 'late' | 'underpaid' | 'too_early'; payment: PaidTransfer }
  | { ok: false; reason: Exclude<MismatchReason, 'late' | 'underpaid' | 'too_early'> };

export function matchPayment(transaction: ChainTransaction, expected: Expectation): Match {
  const correlation = expected.memo === null ? null : matchMemo(transaction.memos, expected.memo);
  if (correlation) return { ok: false, reason: correlation };
  if (transaction.failed) return { ok: false, reason: 'transaction_failed' };

  const transfers = transfersOf(transaction, expected.mint).filter(({ destination }) => destination === expected.destination);
  const owed = transfers.filter(({ authority }) => isOwedElsewhere(transaction, authority, expected));
  const received = gained(transaction, expected.destination, expected.mint) - unitsOf(owed);
  if (received <= 0n) return { ok: false, reason: paidElsewhere(transaction, expected) };
  const transfer = transfers.find((one) => !owed.includes(one));
  if (!transfer) return { ok: false, reason: 'recipient_mismatch' };

  // A fee to the merchant's own account cannot be told apart from the price: counted once.
  const feeReceived =
    expected.fee && expected.fee.destination !== expected.destination ? gained(transaction, expected.fee.destination, expected.mint) : 0n;
  const { paid, feePaid, feeOwed } = matchFee(received, feeReceived < 0n ? 0n : feeReceived, expected);
  const payment = {
    payer: transfer.authority,
    paidUnits: paid,
    overpaidUnits: paid > expected.priceUnits ? paid - expected.priceUnits : 0n,
    feePaidUnits: feePaid,
    feeOwedUnits: feeOwed,
  };
  const at = transaction.blockTimeSeconds;
  if (at === null || at < expected.notBeforeSeconds) return { ok: false, reason: 'too_early', payment };
  if (paid < expected.priceUnits) return { ok: false, reason: 'underpaid', payment };
  if (at > expected.notAfterSeconds) return { ok: false, reason: 'late', payment };
  return { ok: true, payment };
}

/** True for a transfer of money that a channel or a plan owed, but not for this payment. */
const isOwedElsewhere = (transaction: ChainTransaction, authority: string, { owedBy }: Expectation): boolean =>
  (owedBy !== 'channel' && transaction.channels.has(authority)) || (owedBy !== 'plan' && collectorsIn(transaction).includes(authority));

/** Exactly one `svc:` memo, and it is this one: a transaction that names two sessions pays neither. */
function matchMemo(memos: string[], expected: string): 'memo_missing' | 'memo_ambiguous' | 'memo_mismatch' | null {
  const [memo, ...more] = svcMemos(memos);
  if (memo === undefined) return 'memo_missing';
  if (more.length > 0) return 'memo_ambiguous';
  return memo === expected ? null : 'memo_mismatch';
}

const unitsOf = (transfers: readonly TokenTransfer[]): bigint => transfers.reduce((sum, { units }) => sum + units, 0n);

/** All that a channel pays out in a transaction, and how much of it to one token account. A program alone moves a channel's money. */
export function paidOutOf({ failed, transfers }: ChainTransaction, channelId: string, destination: string): { all: bigint; paid: bigint } {
  const moved = failed ? [] : transfers.filter(({ authority }) => authority === channelId);
  return { all: unitsOf(moved), paid: unitsOf(moved.filter((one) => one.destination === destination)) };
}

/** What an account has more after a transaction, in a mint or in lamports. */
export const gained = (transaction: ChainTransaction, account: string, mint: string): bigint => {
  if (mint === NATIVE_MINT) return transaction.lamportDeltas.get(account) ?? 0n;
  const change = transaction.tokenDeltas.get(account);
  return change?.mint === mint ? change.delta : 0n;
};

/** Tells the buyer why nothing arrived: the right asset went to another account, or another asset was sent. */
function paidElsewhere(transaction: ChainTransaction, expected: Expectation): 'mint_mismatch' | 'recipient_mismatch' {
  const changes = [...transaction.tokenDeltas.values()];
  // Every transaction moves lamports, for its fee if for nothing else; only a transfer of them is meant.
  if (expected.mint === NATIVE_MINT && transaction.lamportTransfers.length > 0) return 'recipient_mismatch';
  const usedMint = changes.some(({ mint, delta }) => mint === expected.mint && delta !== 0n);
  return !usedMint && changes.some(({ delta }) => delta !== 0n) ? 'mint_mismatch' : 'recipient_mismatch';
}

/**
 * With a fee the price is split: price - fee to the merchant, fee to the service. A merchant who got the whole price owes
 * the fee; a short first leg is made good only by a fee that really arrived.
 */
function matchFee(
  received: bigint,
  feeReceived: bigint,
  { priceUnits, fee }: Expectation,
): { paid: bigint; feePaid: bigint; feeOwed: bigint } {
  if (!fee || fee.units === 0n) return { paid: received, feePaid: 0n, feeOwed: 0n };
  const counted = feeReceived < fee.units ? feeReceived : fee.units;
  const owed = fee.units - counted;
  const paid = received + counted;
  return { paid, feePaid: counted, feeOwed: paid >= priceUnits ? owed : 0n };
}
