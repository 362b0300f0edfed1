import { NATIVE_MINT } from './assets.ts';
import { collectorsIn } from './programs/subscriptions/collected.ts';
import { type ChainTransaction, svcMemos, type TokenTransfer, transfersOf } from './transaction.ts';

/**
 * Expected payment of a transaction. Only `matchPayment` decides. The memo merely correlates: the amount is what the recipient's account
 * gained, in the right mint (or lamports) and in time.
 */
export interface Expectation {
  /** Null if the transaction is known by its signature, because the service signed it. */
  memo: string | null;
  mint: string;
  /** Recipient's associated token account for the mint. For SOL the wallet itself. */
  destination: string;
  priceUnits: bigint;
  /** Part of the price paid to the service in the same transaction, if configured. */
  fee: { destination: string; units: bigint } | null;
  /**
   * Source of owed money: a channel (vouchers) or a subscription plan (period). Its transfers pay nothing else, whatever memo the sender
   * adds.
   */
  owedBy?: 'channel' | 'plan' | undefined;
  /** Seconds of chain time, both inclusive. */
  notBeforeSeconds: number;
  notAfterSeconds: number;
}

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
  /** Received part of the price: the merchant's amount plus the service's amount up to the fee. */
  paidUnits: bigint;
  /** Authority of the transfer: the spender, not the network fee payer. */
  payer: string;
  overpaidUnits: bigint;
  feePaidUnits: bigint;
  /** Fee that is missing although the merchant received the full price. */
  feeOwedUnits: bigint;
}

export type Match =
  | { ok: true; payment: PaidTransfer }
  /** The payment belongs to this session. Only the condition in `reason` failed. */
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

  // A fee to the merchant's own account is indistinguishable from the price and counts once.
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

const isOwedElsewhere = (transaction: ChainTransaction, authority: string, { owedBy }: Expectation): boolean =>
  (owedBy !== 'channel' && transaction.channels.has(authority)) || (owedBy !== 'plan' && collectorsIn(transaction).includes(authority));

/** Requires exactly one `svc:` memo that matches: a transaction that names two sessions pays neither. */
function matchMemo(memos: string[], expected: string): 'memo_missing' | 'memo_ambiguous' | 'memo_mismatch' | null {
  const [memo, ...more] = svcMemos(memos);
  if (memo === undefined) return 'memo_missing';
  if (more.length > 0) return 'memo_ambiguous';
  return memo === expected ? null : 'memo_mismatch';
}

const unitsOf = (transfers: readonly TokenTransfer[]): bigint => transfers.reduce((sum, { units }) => sum + units, 0n);

/** Total payout of a channel in a transaction, and the part to one token account. Only the program can move a channel's money. */
export function paidOutOf({ failed, transfers }: ChainTransaction, channelId: string, destination: string): { all: bigint; paid: bigint } {
  const moved = failed ? [] : transfers.filter(({ authority }) => authority === channelId);
  return { all: unitsOf(moved), paid: unitsOf(moved.filter((one) => one.destination === destination)) };
}

export const gained = (transaction: ChainTransaction, account: string, mint: string): bigint => {
  if (mint === NATIVE_MINT) return transaction.lamportDeltas.get(account) ?? 0n;
  const change = transaction.tokenDeltas.get(account);
  return change?.mint === mint ? change.delta : 0n;
};

function paidElsewhere(transaction: ChainTransaction, expected: Expectation): 'mint_mismatch' | 'recipient_mismatch' {
  const changes = [...transaction.tokenDeltas.values()];
  // Every transaction moves lamports at least for its fee, so only explicit transfers count.
  if (expected.mint === NATIVE_MINT && transaction.lamportTransfers.length > 0) return 'recipient_mismatch';
  const usedMint = changes.some(({ mint, delta }) => mint === expected.mint && delta !== 0n);
  return !usedMint && changes.some(({ delta }) => delta !== 0n) ? 'mint_mismatch' : 'recipient_mismatch';
}

/**
 * Splits the price: price - fee to the merchant, fee to the service. A merchant who received the full price owes the fee. Only a fee
 * actually received makes up for a short merchant amount.
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
