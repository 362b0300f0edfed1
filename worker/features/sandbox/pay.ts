import { ApiError, raise } from '#core/errors.ts';
import { newId, type PaymentId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import { failureOf } from '#features/payments/confirm/verdict.ts';
import { requireViewer } from '#features/payments/payment.ts';
import { missingIdentity } from '#features/payments/required-identity.ts';
import { findWithProduct } from '#features/payments/store.ts';
import { rememberFound } from '#features/payments/watch/candidates.ts';
import { certainAt, expirePayment } from '#features/payments/watch/expire.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Scope } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { SandboxFate } from '#platform/db/tables/sandbox.ts';
import type { PaymentRequired } from '#protocols/x402/wire.ts';
import { LANDS, type Paying, payChallenge, payCheckout, signWith, type TestWallet, testWallet } from './wallet.ts';

export const OUTCOMES = ['paid', 'underpaid', 'declined', 'late', 'overpaid'] as const;
export type TestOutcome = (typeof OUTCOMES)[number];

/** The wallet of a label, or another one each time. */
export const walletOf = (scope: Scope, label: string | null): TestWallet =>
  testWallet(scope, label === null ? `once:${newId(scope.wallNow)}` : `named:${label}`);

const payingOf = (outcome: TestOutcome): Paying => (outcome === 'underpaid' || outcome === 'overpaid' ? outcome : 'paid');

/**
 * A test wallet pays a checkout payment of this sandbox: it broadcasts, and does not tell the service. `late` lets the session end first; `declined`
 * pays nothing. 404, 409 state_conflict for one that is confirmed, and what a session that is over answers.
 */
export async function payPayment(
  scope: Scope,
  { paymentId, outcome, label }: { paymentId: PaymentId; outcome: TestOutcome; label: string | null },
): Promise<{ txSignature: string | null; payer: string }> {
  const known = (await findWithProduct(scope, paymentId)) ?? raise('not_found');
  const { payment } = known;
  requireViewer(payment, scope);
  const own = await inMode(scope, payment);
  const wallet = walletOf(own, label);
  if (outcome === 'declined') return { txSignature: null, payer: wallet.address };
  requirePayable(own, payment, outcome);
  const unidentified = missingIdentity(known);
  if (unidentified) throw unidentified;
  const fate = outcome === 'late' ? await endSession(own, payment) : LANDS;
  const txSignature = await payCheckout(own, payment, { wallet, paying: payingOf(outcome), fate });
  // As the walk over the real chain would find it.
  await rememberFound(own, payment, txSignature);
  return { txSignature, payer: wallet.address };
}

function requirePayable({ now }: Scope, payment: Payment, outcome: TestOutcome): void {
  if (payment.status === 'CONFIRMED')
    throw new ApiError('state_conflict', { detail: 'This payment is already confirmed.', meta: { reason: 'confirmed' } });
  if (outcome === 'late') return;
  if (payment.status === 'FAILED') throw failureOf(payment);
  if (now > payment.expiresAt) throw new ApiError('session_expired');
}

/** Ends the session as time would, and has the money come in a block right after it. */
async function endSession(scope: Scope, payment: Payment): Promise<SandboxFate> {
  await expirePayment(scope, payment.id, 'session_expired');
  return { ...LANDS, blockAheadMs: Math.max(0, certainAt(payment) + SECOND - scope.now) };
}

/** A test wallet answers a challenge of x402: what the agent sends as PAYMENT-SIGNATURE, or nothing where it declines. */
export async function payRequired(
  scope: Scope,
  { required, outcome, label }: { required: PaymentRequired; outcome: TestOutcome; label: string | null },
): Promise<{ paymentSignature: string | null; payer: string }> {
  const wallet = walletOf(scope, label);
  if (outcome === 'declined') return { paymentSignature: null, payer: wallet.address };
  return { paymentSignature: await payChallenge(scope, required, { wallet, paying: payingOf(outcome) }), payer: wallet.address };
}

/** Signs a transaction that the API prepared, as the test wallet of a label. 422 where it is not one of its signers. */
export function signTransaction(scope: Scope, { transaction, label }: { transaction: string; label: string | null }) {
  const wallet = walletOf(scope, label ?? 'merchant');
  return { transaction: signWith(wallet, transaction).wire, payer: wallet.address };
}
