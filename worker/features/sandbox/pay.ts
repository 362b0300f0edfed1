import { base64 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { newId, type PaymentId } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import { scheduleSigner } from '#features/authorizations/authorization.ts';
import { isSubscribing } from '#features/checkout/subscribing/follow.ts';
import { failureOf } from '#features/payments/confirm/verdict.ts';
import { loadWithProduct } from '#features/payments/payment.ts';
import { findRefundByNonce } from '#features/payments/refunds/store.ts';
import { type IdentityRequirement, missingIdentity } from '#features/payments/required-identity.ts';
import { followFound, planFound } from '#features/payments/watch/candidates.ts';
import { certainAt, expirePayment } from '#features/payments/watch/expire.ts';
import { inMode } from '#platform/chain/scope.ts';
import { memosOf } from '#platform/chain/simulated-blocks.ts';
import type { Scope } from '#platform/context.ts';
import { commit } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { SandboxFate } from '#platform/db/tables/sandbox.ts';
import type { PaymentRequired } from '#protocols/x402/wire.ts';
import { refundNonceOf } from '#solana/refund.ts';
import type { TestOutcome, TestPayment } from './outcomes.ts';
import { publishesPlan, subscribeAs } from './subscribe.ts';
import {
  LANDS,
  merchantOf,
  type Paying,
  planChallengePayment,
  planCheckoutPayment,
  planSignature,
  planVouchedSignature,
  type TestWallet,
  testWallet,
} from './wallet.ts';

/** The wallet of a label, or another one each time. */
export const walletOf = (scope: Scope, label: string | null): TestWallet =>
  testWallet(scope, label === null ? `once:${newId(scope.wallNow)}` : `named:${label}`);

const payingOf = (outcome: TestOutcome): Paying => (outcome === 'underpaid' || outcome === 'overpaid' ? outcome : 'paid');

/** A payment of this sandbox, and its scope: a session's payment goes by the clock of its session. */
interface Payable {
  scope: Scope;
  known: IdentityRequirement;
}

/** Throws 404 for a payment of another account or mode. */
export async function loadPayable(scope: Scope, paymentId: PaymentId): Promise<Payable> {
  const known = await loadWithProduct(scope, paymentId, scope);
  return { scope: await inMode(scope, known.payment), known };
}

interface PayPayment {
  outcome: TestOutcome;
  wallet: TestWallet;
  /** False where the call names no wallet: what renews itself is then signed for by the wallet that its checkout names. */
  isNamed?: boolean;
}

/**
 * A test wallet pays a checkout payment of this sandbox: it broadcasts, and does not tell the service. `late` lets the session end first; `declined`
 * pays nothing. What was broadcast and what was answered are stored together, so that a repetition never pays twice. 409
 * state_conflict for one that is confirmed, and what a session that is over answers.
 */
export async function payPayment(
  { scope: own, known }: Payable,
  { outcome, wallet, isNamed = true }: PayPayment,
  storeAnswer: StoreAnswer<TestPayment>,
): Promise<TestPayment> {
  const { payment } = known;
  const paid: TestPayment = { field: 'tx_signature', value: null, payer: wallet.address };
  if (outcome === 'declined') return commit(own, await unchangedWithAnswer(paid, storeAnswer));
  requirePayable(own, payment, outcome);
  const unidentified = missingIdentity(known);
  if (unidentified) throw unidentified;
  const fate = outcome === 'late' ? await endSession(own, payment) : LANDS;
  if (isSubscribing(payment)) return subscribeAs(own, payment, { outcome, wallet: isNamed ? wallet : null }, storeAnswer);
  const { signature, writes } = await planCheckoutPayment(own, payment, { wallet, paying: payingOf(outcome), fate });
  const result = { ...paid, value: signature };
  // As the walk over the real chain would find it.
  const found = planFound(own, payment, signature);
  await commit(own, await withAnswer({ events: [], writes: [...writes, found], result }, storeAnswer(result)));
  followFound(own, payment, signature);
  return result;
}

function requirePayable({ now }: Scope, payment: Payment, outcome: TestOutcome): void {
  if (payment.status === 'CONFIRMED')
    throw new ApiError('state_conflict', { detail: 'The payment is already confirmed.', meta: { reason: 'confirmed' } });
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
  { required, outcome, wallet }: { required: PaymentRequired; outcome: TestOutcome; wallet: TestWallet },
  storeAnswer: StoreAnswer<TestPayment>,
): Promise<TestPayment> {
  const paid: TestPayment = { field: 'payment_signature', value: null, payer: wallet.address };
  if (outcome === 'declined') return commit(scope, await unchangedWithAnswer(paid, storeAnswer));
  const { signature, writes } = await planChallengePayment(scope, required, { wallet, paying: payingOf(outcome) });
  const result = { ...paid, value: signature };
  return commit(scope, await withAnswer({ events: [], writes, result }, storeAnswer(result)));
}

/**
 * Signs a transaction that the API prepared, and broadcasts it where no other signature is missing and the chain takes it: as a test wallet,
 * or, where none is named and it is a refund of this merchant's or publishes a plan, as whichever wallet is paid. 422 where it is not one of
 * its signers. Declined it is neither signed nor sent.
 */
export async function signTransaction(
  scope: Scope,
  { transaction, outcome, wallet }: { transaction: string; outcome: 'paid' | 'declined'; wallet: TestWallet | null },
  storeAnswer: StoreAnswer<TestPayment>,
): Promise<TestPayment> {
  const isVouched = wallet === null && (publishesPlan(transaction) || (await isOwnRefund(scope, transaction)));
  const payer = wallet ?? merchantOf(scope);
  const {
    wire: value,
    txSignature,
    writes,
    signer,
  } = isVouched
    ? await planVouchedSignature(scope, transaction)
    : { ...(await planSignature(scope, payer, transaction)), signer: payer.address };
  if (outcome === 'declined')
    return commit(scope, await unchangedWithAnswer({ field: 'transaction', value: null, payer: signer }, storeAnswer));
  const signed: TestPayment = { field: 'transaction', value, payer: signer, ...(txSignature === null ? {} : { txSignature }) };
  const seen = scheduleSigner(scope, signer);
  return commit(scope, await withAnswer({ events: [], writes: [...writes, seen], result: signed }, storeAnswer(signed)));
}

/** Whether this merchant prepared it as a refund in the sandbox. */
async function isOwnRefund(scope: Scope, transaction: string): Promise<boolean> {
  const nonce = refundNonceOf({ memos: memosOf(base64.decode(transaction)) });
  return nonce !== null && (await findRefundByNonce(scope, nonce)) !== undefined;
}
