import { formatErrorChain } from '#core/errors.ts';
import { expectationOf, loadArchivedBodies } from '#features/payments/payment.ts';
import { verifyReceipt } from '#features/receipts/document.ts';
import { loadArchivedReceipts, type Receipt } from '#features/receipts/receipt.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { StoredPayment } from '#platform/db/archive.ts';
import { claimedTransaction, claimKeyOf } from '#platform/db/outcome.ts';
import type { Finality } from '#solana/finality.ts';
import { ANY_TIME, matchPayment, paidOutOf } from '#solana/match.ts';
import type { ChainTransaction } from '#solana/transaction.ts';
import type { RecordedPayment } from './store.ts';

/** Result for a final payment: `null` if as recorded, `unknown` if no node could answer, else the first difference. */
type ChainFinding = string | null;
export const UNKNOWN = 'unknown';

/** Recorded data of a payment. `isRead` is false if the archive that has the payment does not answer. */
export interface AuditedPayment extends Pick<RecordedPayment, 'payouts'> {
  claim: RecordedPayment['claim'];
  payment: StoredPayment | null;
  receipt: Receipt | null;
  isRead: boolean;
}

const GROUP_MAX = 20;

export async function auditPayments(ctx: Ctx, sample: readonly AuditedPayment[]): Promise<ChainFinding[]> {
  const findings: ChainFinding[] = [];
  for (let from = 0; from < sample.length; from += GROUP_MAX) {
    const group = sample.slice(from, from + GROUP_MAX);
    const shown = await readTransactions(ctx, group);
    const shownOf = ({ claim }: AuditedPayment) => shown.get(claim.txSignature ?? '') ?? UNKNOWN;
    findings.push(...group.map((one) => (one.isRead ? problemOf(one, shownOf(one), ctx.config.RECEIPT_KEYS) : UNKNOWN)));
  }
  return findings;
}

export async function readRecorded(ctx: Shard, { claim, payouts, ...rows }: RecordedPayment): Promise<AuditedPayment> {
  try {
    const [payment = null] = await loadArchivedBodies(ctx, rows.payment ? [rows.payment] : []);
    const [receipt = null] = await loadArchivedReceipts(ctx, rows.receipt ? [rows.receipt] : []);
    return { claim: payment ? completed(claim, payment) : claim, payment, receipt, payouts, isRead: true };
  } catch (error) {
    ctx.note(`payment ${claim.subjectId}: ${formatErrorChain(error)}`);
    return { claim, payment: null, receipt: null, payouts, isRead: false };
  }
}

/** Adds the signature to a claim without, because the payment is or was in the archive. */
const completed = (claim: RecordedPayment['claim'], { txSignature, slot }: StoredPayment): RecordedPayment['claim'] =>
  claim.txSignature === null && txSignature !== null && claimKeyOf(txSignature) === claimedTransaction(claim.txKey)
    ? { ...claim, txSignature, slot: claim.slot ?? slot }
    : claim;

const problemOf = (recorded: AuditedPayment, seen: ChainTransaction | string, receiptKeys: string): ChainFinding =>
  recordProblem(recorded, receiptKeys) ?? (typeof seen === 'string' ? seen : chainProblem(recorded, seen));

/** Reads the transactions by their signatures, each or what is wrong with it. */
async function readTransactions(ctx: Ctx, group: readonly AuditedPayment[]): Promise<Map<string, ChainTransaction | string>> {
  const claims = group.flatMap(({ claim: { txSignature, slot } }) => (txSignature === null ? [] : [{ txSignature, slot }]));
  if (claims.length === 0) return new Map();
  const answer = await ctx.chain.findTransactions(claims.map(({ txSignature }) => txSignature));
  if (answer.kind === 'unavailable') {
    ctx.note(`rpc: ${answer.reason}`);
    return new Map();
  }
  // A node may have lost its history, so a missing transaction needs the same proof as a reversal.
  const hidden = claims.filter((_, i) => answer.sightings[i]!.kind === 'not_found');
  const outcomes = hidden.length === 0 ? null : await ctx.chain.finalityOf(hidden);
  const outcomeOf = (claim: (typeof claims)[number]): Finality['kind'] =>
    outcomes?.kind === 'finality' ? (outcomes.finality[hidden.indexOf(claim)]?.kind ?? UNKNOWN) : UNKNOWN;
  const seenAs = (claim: (typeof claims)[number], i: number): ChainTransaction | string => {
    const sighting = answer.sightings[i]!;
    if (sighting.kind === 'found') return sighting.transaction;
    return outcomeOf(claim) === 'absent' ? 'transaction_absent' : UNKNOWN;
  };
  return new Map(claims.map((claim, i) => [claim.txSignature, seenAs(claim, i)]));
}

function recordProblem({ claim, payment, receipt }: Omit<AuditedPayment, 'isRead' | 'payouts'>, receiptKeys: string): string | null {
  if (!payment) return 'payment_missing';
  if (payment.status !== 'CONFIRMED' || payment.orphanedAt !== null) return 'payment_status';
  if (payment.txSignature !== claim.txSignature || !payment.livemode) return 'payment_transaction';
  if (!receipt) return 'receipt_missing';
  const isItsOwn =
    receipt.id === payment.receiptId &&
    receipt.paymentId === payment.id &&
    receipt.txSignature === claim.txSignature &&
    receipt.merchantId === payment.merchantId;
  if (!isItsOwn) return 'receipt_of_another';
  const { valid, reason } = verifyReceipt(receipt, receiptKeys);
  return valid ? null : `receipt_${reason}`;
}

/**
 * Returns the mismatch between a payment's records and its transaction on the chain. For a payment that sums channel payouts, only the
 * newest payout is checked. Pure.
 */
function chainProblem(
  { payment, receipt, payouts }: Omit<AuditedPayment, 'isRead' | 'claim'>,
  transaction: ChainTransaction,
): string | null {
  const { channelId, isMetered } = payment!.terms;
  const { amount } = JSON.parse(receipt!.document) as { amount: { base_units: string } };
  if (channelId !== undefined) {
    const { paid } = paidOutOf(transaction, channelId, payment!.recipientAta);
    if (payouts.find(({ txSignature }) => txSignature === transaction.signature)?.amount !== paid) return 'chain_amount';
    return BigInt(amount.base_units) === payouts.reduce((sum, payout) => sum + payout.amount, 0n) ? null : 'receipt_amount';
  }
  // Timeliness was judged at confirmation. Money accepted afterwards was never in time.
  const expected = { ...expectationOf(payment!), ...ANY_TIME };
  const match = matchPayment(transaction, expected);
  if (!match.ok) return `chain_${match.reason}`;
  const { payer, paidUnits, overpaidUnits, feeOwedUnits } = match.payment;
  // The channel moves what vouchers promised, on behalf of the payer.
  if (!isMetered && payer !== payment!.payerWallet) return 'chain_payer';
  if (overpaidUnits !== (payment!.overpaidAmount ?? 0n) || feeOwedUnits !== (payment!.feeOwedAmount ?? 0n)) return 'chain_amount';
  return amount.base_units === paidUnits.toString() ? null : 'receipt_amount';
}
