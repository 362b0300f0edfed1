export const OUTCOMES = ['paid', 'underpaid', 'declined', 'late', 'overpaid'] as const;
export type TestOutcome = (typeof OUTCOMES)[number];

/** Result of a test wallet. `value` is null if the wallet declined. `field`: its name on the wire. */
export interface TestPayment {
  field: 'tx_signature' | 'payment_signature' | 'transaction';
  value: string | null;
  payer: string;
  txSignature?: string;
}
