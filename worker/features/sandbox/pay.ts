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
import type { SandboxOutcome } from '#platform/db/tables/sandbox.ts';
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

export const walletOf = (scope: Scope, label: string | null): TestWallet =>
  testWallet(scope, label === null ? `once:${newId(scope.wallNow, scope.merchantId)}` : `named:${label}`);

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
  /** False if the call names no wallet. A subscription is then signed by the wallet of its checkout. */
  isNamed?: boolean;
}

/**
 * Pays a checkout payment as a test wallet: broadcasts without a report to the service. `late` lets the session end first, `declined` pays
 * nothing. Broadcast and answer are one batch, so a repetition never pays twice. Throws 409 state_conflict if confirmed.
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
  const chainOutcome = outcome === 'late' ? await endSession(own, payment) : LANDS;
  if (isSubscribing(payment)) return subscribeAs(own, payment, { outcome, wallet: isNamed ? wallet : null }, storeAnswer);
  const { signature, writes } = await planCheckoutPayment(own, payment, { wallet, paying: payingOf(outcome), chainOutcome });
  const result = { ...paid, value: signature };
  // Records the candidate that the reference scan would find on the real chain.
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

/** Expires the session and lets the money land in the next block. */
async function endSession(scope: Scope, payment: Payment): Promise<SandboxOutcome> {
  await expirePayment(scope, payment.id, 'session_expired');
  return { ...LANDS, blockAheadMs: Math.max(0, certainAt(payment) + SECOND - scope.now) };
}

interface ChallengePayment {
  required: PaymentRequired;
  outcome: TestOutcome;
  wallet: TestWallet;
  /** Name for the payment, as the client's own. */
  identifier: string | undefined;
}

/** Answers an x402 challenge: the PAYMENT-SIGNATURE value, or null if the wallet declines. */
export async function payRequired(
  scope: Scope,
  { required, outcome, wallet, identifier }: ChallengePayment,
  storeAnswer: StoreAnswer<TestPayment>,
): Promise<TestPayment> {
  const paid: TestPayment = { field: 'payment_signature', value: null, payer: wallet.address };
  if (outcome === 'declined') return commit(scope, await unchangedWithAnswer(paid, storeAnswer));
  const { signature, writes } = await planChallengePayment(scope, required, { wallet, paying: payingOf(outcome), identifier });
  const result = { ...paid, value: signature };
  return commit(scope, await withAnswer({ events: [], writes, result }, storeAnswer(result)));
}

/**
 * Signs a prepared transaction and broadcasts if fully signed and valid. Without a named wallet, this merchant's refunds and plan
 * publications are signed by whichever wallet must. Declined: neither signed nor sent. Throws 422 if the wallet is not a signer.
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

async function isOwnRefund(scope: Scope, transaction: string): Promise<boolean> {
  const nonce = refundNonceOf({ memos: memosOf(base64.decode(transaction)) });
  return nonce !== null && (await findRefundByNonce(scope, nonce)) !== undefined;
}
