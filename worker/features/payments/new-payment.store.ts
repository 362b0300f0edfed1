import type { Payment } from '#platform/db/tables/payments.ts';

export const UNPAID = {
  feeOwedAmount: null,
  overpaidAmount: null,
  customerWallet: null,
  payerWallet: null,
  txSignature: null,
  slot: null,
  blockTime: null,
  membershipId: null,
  receiptId: null,
  recoversPaymentId: null,
  confirmedAt: null,
  finalizedAt: null,
  orphanedAt: null,
  refunds: null,
  accessRevokedAt: null,
  isRetained: false,
} satisfies Partial<Payment>;

/** Defaults of optional columns. */
export const BLANK = {
  ...UNPAID,
  failureCode: null,
  feeAmount: null,
  feeWallet: null,
  feeAta: null,
  expectedWallet: null,
  customerRef: null,
  email: null,
  paymentSessionId: null,
} satisfies Partial<Payment>;

type Dated = 'createdAt' | 'updatedAt' | 'version';

export const newPayment = (
  now: number,
  said: Omit<Payment, keyof typeof BLANK | Dated> & Partial<Pick<Payment, keyof typeof BLANK | Dated>>,
): Payment => ({ ...BLANK, createdAt: now, updatedAt: now, version: 1, ...said });
