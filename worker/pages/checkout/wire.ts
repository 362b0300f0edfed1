/**
 * What the public API answers to a buyer's browser; only what the page reads.
 * @module
 */

import type { Amount } from '../parts/text.ts';

/** The service's share of a price: a transfer of its own. */
export interface Fee extends Amount {
  /** Absent where the payment was begun elsewhere: its status does not name the wallet. */
  recipient?: string;
}

export interface Connected {
  payment_id: string;
  status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION';
  price: Amount;
  fee?: Fee;
  recipient: string;
  memo: string;
  solana_pay_url: string;
  transaction?: string;
  expires_at: string;
  price_quote?: { rate: string; expires_at: string };
}

export interface PaymentStatus {
  payment_id: string;
  slug: string;
  status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
  failure_code?: 'session_expired' | 'underpaid' | 'transaction_failed';
  price: Amount;
  fee?: Amount;
  recipient_wallet: string;
  memo: string;
  price_quote?: { rate: string; expires_at: string };
  overpaid?: Amount;
  tx_signature?: string;
  receipt_id?: string;
  expires_at: string;
  poll_after_ms: number | null;
}

/** A refusal, or that no answer came. */
export interface Failure {
  ok: false;
  /** 0 where no answer came. */
  status: number;
  code: string;
  detail: string;
  meta: { reason?: string; provider?: string; payment_id?: string; recovered_payment_id?: string };
  retryAfterMs: number | null;
}

export type Answer<T> = { ok: true; value: T } | Failure;

/** Whether the same call may succeed a little later. */
export const isPassing = ({ status }: Failure): boolean => status === 0 || status === 429 || status >= 500;
