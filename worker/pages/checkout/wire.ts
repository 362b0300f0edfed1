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

export interface SeenMoney {
  amount: Amount;
  tx_signature: string;
  reason: 'late' | 'underpaid' | 'second_payment' | 'identity_missing';
}

export interface PaymentStatus {
  payment_id: string;
  slug: string;
  status: 'PENDING_SIGNATURE' | 'PENDING_CONFIRMATION' | 'CONFIRMED' | 'FAILED';
  failure_code?: 'session_expired' | 'underpaid' | 'transaction_failed' | 'replaced';
  price: Amount;
  fee?: Amount;
  recipient_wallet: string;
  memo: string;
  price_quote?: { rate: string; expires_at: string };
  overpaid?: Amount;
  /** Money that arrived and does not pay this payment. */
  seen?: SeenMoney[];
  tx_signature?: string;
  receipt_id?: string;
  /** Until when the buyer has access by now; absent where it has no end. */
  access_until?: string;
  /** How the buyer gets in; told to their own identity session alone. */
  delivery?: { status: 'not_required' | 'pending' | 'delivered' | 'failed' | 'revoked'; invite_url?: string; last_error?: string };
  expires_at: string;
  poll_after_ms: number | null;
}
