import { gained } from './match.ts';
import { type ChainTransaction, transfersOf } from './transaction.ts';

export const REFUND_MEMO = 'svc-refund:';

/** Nonce of the refund that a transaction names. Null if it names none or several. */
export function refundNonceOf({ memos }: Pick<ChainTransaction, 'memos'>): string | null {
  const [memo, ...more] = memos.filter((memo) => memo.startsWith(REFUND_MEMO));
  return memo === undefined || more.length > 0 ? null : memo.slice(REFUND_MEMO.length);
}

interface ExpectedRefund {
  mint: string;
  fromWallet: string;
  destination: string;
  units: bigint;
}

/**
 * Refunded amount of a transaction in base units, or the first mismatch. Only transfers signed by the merchant's own wallet count, because
 * any wallet can copy a memo.
 */
export function matchRefund(
  transaction: ChainTransaction,
  expected: ExpectedRefund,
): { ok: true; units: bigint } | { ok: false; reason: 'transaction_failed' | 'recipient_mismatch' | 'payer_mismatch' | 'underpaid' } {
  if (transaction.failed) return { ok: false, reason: 'transaction_failed' };
  const transfers = transfersOf(transaction, expected.mint).filter(({ destination }) => destination === expected.destination);
  if (transfers.length === 0) return { ok: false, reason: 'recipient_mismatch' };
  if (!transfers.every(({ authority }) => authority === expected.fromWallet)) return { ok: false, reason: 'payer_mismatch' };
  const units = gained(transaction, expected.destination, expected.mint);
  return units < expected.units ? { ok: false, reason: 'underpaid' } : { ok: true, units };
}
