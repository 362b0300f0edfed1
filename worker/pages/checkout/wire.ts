import type { Amount } from '../parts/text.ts';

/** Service fee, paid by a transfer of its own. */
export interface Fee extends Amount {
  /** Absent if the payment was begun elsewhere, because its status has no wallet. */
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
  refunded?: { amount: Amount }[];
  seen?: SeenMoney[];
  tx_signature?: string;
  receipt_id?: string;
  access_until?: string;
  /** Entry to the access, returned only to the buyer's own identity session. */
  delivery?: { status: 'not_required' | 'pending' | 'delivered' | 'failed' | 'revoked'; invite_url?: string; last_error?: string };
  expires_at: string;
  poll_after_ms: number | null;
}
