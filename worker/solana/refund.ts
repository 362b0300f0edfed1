import { gained } from './match.ts';
import { type ChainTransaction, transfersOf } from './transaction.ts';

/** What the memo of a refund begins with; its nonce follows. */
export const REFUND_MEMO = 'svc-refund:';

/** The nonce of the one refund a transaction names; null where it names none, or several. */
export function refundNonceOf({ memos }: Pick<ChainTransaction, 'memos'>): string | null {
  const [memo, ...more] = memos.filter((memo) => memo.startsWith(REFUND_MEMO));
  return memo === undefined || more.length > 0 ? null : memo.slice(REFUND_MEMO.length);
}

/** From which wallet, to which account, and at least how much. `mint` is NATIVE_MINT for SOL. */
interface ExpectedRefund {
  mint: string;
  fromWallet: string;
  destination: string;
  units: bigint;
}

/**
 * What a transaction pays back, in base units; else the first thing that is wrong. Only a transfer that the merchant's own wallet signed
 * counts: any wallet can copy a memo.
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
