import { storyOf } from '#core/errors.ts';
import { expectationOf, wholePayments } from '#features/payments/payment.ts';
import { verifyReceipt } from '#features/receipts/document.ts';
import { type Receipt, wholeReceipts } from '#features/receipts/receipt.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { StoredPayment } from '#platform/db/archive.ts';
import type { Finality } from '#solana/finality.ts';
import { ANY_TIME, matchPayment, paidOutOf } from '#solana/match.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import type { RecordedPayment } from './store.ts';

/** How a final payment stands: `null` as recorded, `unknown` where no node could tell, else the first thing that differs. */
type ChainFinding = string | null;
export const UNKNOWN = 'unknown';

/** What is recorded of a payment, whole. `isRead` is false where the archive, which has it, does not answer. */
export interface Whole extends Pick<RecordedPayment, 'payouts'> {
  claim: RecordedPayment['claim'];
  payment: StoredPayment | null;
  receipt: Receipt | null;
  isRead: boolean;
}

/** A node shows so many transactions in one call. */
const GROUP_MAX = 20;

/** Compares final payments with their receipts and with the chain, in their order. Changes nothing. */
export async function auditPayments(ctx: Ctx, sample: readonly Whole[]): Promise<ChainFinding[]> {
  const findings: ChainFinding[] = [];
  for (let from = 0; from < sample.length; from += GROUP_MAX) {
    const group = sample.slice(from, from + GROUP_MAX);
    const shown = await lookUp(ctx, group);
    findings.push(...group.map((one, i) => (one.isRead ? problemOf(one, shown[i]!, ctx.config.RECEIPT_KEYS) : UNKNOWN)));
  }
  return findings;
}

export async function readWhole(ctx: Shard, { claim, payouts, ...rows }: RecordedPayment): Promise<Whole> {
  try {
    const [payment = null] = await wholePayments(ctx, rows.payment ? [rows.payment] : []);
    const [receipt = null] = await wholeReceipts(ctx, rows.receipt ? [rows.receipt] : []);
    return { claim, payment, receipt, payouts, isRead: true };
  } catch (error) {
    ctx.note(`payment ${claim.subjectId}: ${storyOf(error)}`);
    return { claim, payment: null, receipt: null, payouts, isRead: false };
  }
}

/** What the rows say of each other needs no node. */
const problemOf = (recorded: Whole, seen: ChainTransaction | string, receiptKeys: string): ChainFinding =>
  recordProblem(recorded, receiptKeys) ?? (typeof seen === 'string' ? seen : chainProblem(recorded, seen));

/** Each transaction as the chain has it; a word where it has not, or cannot tell. */
async function lookUp(ctx: Ctx, group: readonly Whole[]): Promise<(ChainTransaction | string)[]> {
  const claims = group.map(({ claim: { txSignature, slot } }) => ({ txSignature, slot }));
  const answer = await ctx.chain.findTransactions(claims.map(({ txSignature }) => txSignature));
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    return claims.map(() => UNKNOWN);
  }
  // A node may have lost its history: that a transaction is gone takes the same proof as where it is taken back.
  const hidden = claims.filter((_, i) => answer.sightings[i]!.kind === 'not_found');
  const fates = hidden.length === 0 ? null : await ctx.chain.finalityOf(hidden);
  const fateOf = (claim: (typeof claims)[number]): Finality['kind'] =>
    fates?.kind === 'finality' ? (fates.finality[hidden.indexOf(claim)]?.kind ?? UNKNOWN) : UNKNOWN;
  return claims.map((claim, i) => {
    const sighting = answer.sightings[i]!;
    if (sighting.kind === 'found') return sighting.transaction;
    return fateOf(claim) === 'absent' ? 'transaction_absent' : UNKNOWN;
  });
}

/** What is wrong between a claim, its payment and its receipt. Pure. */
function recordProblem({ claim, payment, receipt }: Omit<Whole, 'isRead' | 'payouts'>, receiptKeys: string): string | null {
  if (!payment) return 'payment_missing';
  if (payment.status !== 'CONFIRMED' || payment.orphanedAt !== null) return 'payment_status';
  if (payment.txSignature !== claim.txSignature || !payment.livemode) return 'payment_transaction';
  if (!receipt) return 'receipt_missing';
  const isItsOwn =
    receipt.id === payment.receiptId && receipt.txSignature === claim.txSignature && receipt.merchantId === payment.merchantId;
  if (!isItsOwn) return 'receipt_of_another';
  const { valid, reason } = verifyReceipt(receipt, receiptKeys);
  return valid ? null : `receipt_${reason}`;
}

/**
 * What is wrong between the records of a payment and the transaction that the chain shows for it. Of a payment that sums payouts of a
 * channel the chain is asked for the newest alone. Pure.
 */
function chainProblem({ payment, receipt, payouts }: Omit<Whole, 'isRead' | 'claim'>, transaction: ChainTransaction): string | null {
  const { channelId, isMetered } = payment!.terms;
  const { amount } = JSON.parse(receipt!.document) as { amount: { base_units: string } };
  if (channelId !== undefined) {
    const { paid } = paidOutOf(transaction, channelId, payment!.recipientAta);
    if (payouts.find(({ txSignature }) => txSignature === transaction.signature)?.amount !== paid) return 'chain_amount';
    return BigInt(amount.base_units) === payouts.reduce((sum, payout) => sum + payout.amount, 0n) ? null : 'receipt_amount';
  }
  // Whether it came in time was judged when it was confirmed; money accepted afterwards never did.
  const expected = { ...expectationOf(payment!), ...ANY_TIME };
  const match = matchPayment(transaction, expected);
  if (!match.ok) return `chain_${match.reason}`;
  const { payer, paidUnits, overpaidUnits, feeOwedUnits } = match.payment;
  // What vouchers promised is moved by the channel, for the payer.
  if (!isMetered && payer !== payment!.payerWallet) return 'chain_payer';
  if (overpaidUnits !== (payment!.overpaidAmount ?? 0n) || feeOwedUnits !== (payment!.feeOwedAmount ?? 0n)) return 'chain_amount';
  return amount.base_units === paidUnits.toString() ? null : 'receipt_amount';
}
