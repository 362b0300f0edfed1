import type { Payment } from '#platform/db/tables/payments.ts';

/** What no payment has before money came. */
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
  isKept: false,
} satisfies Partial<Payment>;

/** And what a payment may never have: a fee, a buyer who says who they are, a session of a merchant's server, a failure. */
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

/** A payment of this moment, at its first version. What is not said of it is null. */
export const newPayment = (
  now: number,
  said: Omit<Payment, keyof typeof BLANK | Dated> & Partial<Pick<Payment, keyof typeof BLANK | Dated>>,
): Payment => ({ ...BLANK, createdAt: now, updatedAt: now, version: 1, ...said });
