import type { PaymentSession } from '#platform/db/tables/checkout.ts';
import type { Payment } from '#platform/db/tables/payments.ts';

type PaymentSessionStatus = 'open' | 'pending_confirmation' | 'completed' | 'failed' | 'expired';

export function paymentSessionStatusOf({ expiresAt }: PaymentSession, payment: Payment | null, now: number): PaymentSessionStatus {
  if (payment?.status === 'CONFIRMED') return 'completed';
  if (payment?.status === 'PENDING_CONFIRMATION') return 'pending_confirmation';
  if (now <= expiresAt) return 'open';
  return payment?.status === 'FAILED' ? 'failed' : 'expired';
}
