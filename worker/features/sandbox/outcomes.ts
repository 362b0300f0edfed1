/** What a test wallet does with what it is asked to pay. */
export const OUTCOMES = ['paid', 'underpaid', 'declined', 'late', 'overpaid'] as const;
export type TestOutcome = (typeof OUTCOMES)[number];

/** What a test wallet gave; null: it declined. `field`: what it is called on the wire. */
export interface TestPayment {
  field: 'tx_signature' | 'payment_signature' | 'transaction';
  value: string | null;
  payer: string;
  /** Of a transaction that was signed, where its broadcast could follow. */
  txSignature?: string;
}
