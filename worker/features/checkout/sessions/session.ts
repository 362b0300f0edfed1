import { ApiError, raise } from '#core/errors.ts';
import { newId, type PaymentSessionId } from '#core/ids.ts';
import { LIFE } from '#core/limits.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import { findAuthorizationFor } from '#features/authorizations/store.ts';
import { missingIdentity } from '#features/payments/required-identity.ts';
import { requireNoSentInFlight } from '#features/payments/watch/candidates.ts';
import { certainAt } from '#features/payments/watch/expire.ts';
import { getListing, type Listing, saleOn } from '#features/products/product.ts';
import { firstCheckoutRail } from '#features/products/selling/checkout-rails.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import { obstaclesOf, prospectOf } from '#features/products/selling/obstacles.ts';
import { forecast } from '#features/rails/outlook.ts';
import { newOutageError } from '#features/rails/quote.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import type { Handoff, PaymentSession } from '#platform/db/tables/checkout.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { RailId } from '#rules/rails.ts';
import { PAYMENT } from '#rules/states.ts';
import { loadNamedIdentity } from '../buyer-identity/identity.ts';
import { type Checkout, type Connect, type IdentityNeeded, type PendingCheckout, planCheckout, prepareCheckout } from '../connect.ts';
import { getHandoff, hintOf, verifyHandoff } from '../handoffs/handoff.ts';
import { requireBuyer } from '../plan-payment.ts';
import { paymentSessionStatusOf } from './status.ts';
import { findPaymentSession, holdPayment, insertPaymentSession } from './store.ts';

const SESSION_MS = LIFE.paymentSessionMinutes * MINUTE;
/** Minimum duration of a checkout, so that a buyer who comes in the last moment can still sign. */
const LEAST_MS = 5 * MINUTE;
/** Minimum Retry-After, so that a page does not poll every second while the sweep is behind. */
const LEAST_WAIT_SECONDS = 10;

interface OpenPaymentSession {
  railId: RailId | null;
  customerRef: string | null;
  successUrl: string | null;
  metadata: Record<string, string>;
}

/**
 * Plans a payment session for the merchant's server. Throws 409 setup_not_ready if a buyer could not pay, 503 fee_wallet_missing for the
 * service's own wallet, 503 price_unavailable or rpc_unavailable if the check failed.
 */
export async function planPaymentSession(ctx: Shard, listing: Listing, input: OpenPaymentSession): Promise<Change<PaymentSession>> {
  const { product } = listing;
  const railId = input.railId ?? firstCheckoutRail(ctx.config, listing);
  await requirePayable(ctx, listing, railId);
  const session: PaymentSession = {
    id: newId<PaymentSessionId>(ctx.now, product.merchantId),
    merchantId: product.merchantId,
    livemode: product.livemode,
    productId: product.id,
    asset: product.asset,
    priceAmount: product.priceAmount,
    railId,
    customerRef: input.customerRef,
    successUrl: input.successUrl,
    metadata: input.metadata,
    paymentId: null,
    expiresAt: ctx.now + SESSION_MS,
    createdAt: ctx.now,
    version: 1,
  };
  return { events: [], writes: [insertPaymentSession(ctx.db, session)], result: session };
}

async function requirePayable(ctx: Ctx, listing: Listing, railId: RailId): Promise<void> {
  const prospect = prospectOf(saleOn(listing, railId));
  const [obstacle] = obstaclesOf(ctx.config, prospect, railId);
  if (obstacle) throw newObstacleError(obstacle, railId, prospect);
  if (!prospect.livemode) return;
  const { obstacles, unavailableDependency: silent } = await forecast(ctx, prospect, railId);
  if (silent) throw newOutageError(silent);
  if (obstacles[0]) throw newObstacleError(obstacles[0], railId, prospect);
}

/**
 * Connects for a payment session: answers its payment in progress, or a new one if there is none or the last failed. A wallet counts only
 * with an unused hand-off, or one used for this payment. Throws 404, 409 state_conflict, 410 session_expired, 422
 * identity_verification_required.
 */
export async function connectInSession(
  shard: Shard,
  input: Connect,
  paymentSessionId: PaymentSessionId,
): Promise<Checkout | IdentityNeeded> {
  const reload = () => loadSession(shard, paymentSessionId);
  const known = await reload();
  const { scope: ctx } = known;
  const listing = await getListing(ctx.db, input.slug);
  if (known.session.productId !== listing.product.id) raise('not_found');
  const named = input.handoffToken === undefined ? null : verifyHandoff(ctx.config, listing.product.id, input.handoffToken);
  const begun = await transact(ctx, { known, reload }, async ({ session, payment }): Promise<Change<Begun | IdentityNeeded>> => {
    const running = runningIn(ctx, session, payment);
    const handoff = named && (await getHandoff(ctx, named, running?.id));
    if (!running) return planBegin(ctx, listing, session, handoff, input);
    await loadNamedIdentity(ctx, listing.product.id, input.identitySessionId);
    requireSameAsset(running, input);
    const hint = handoff?.paymentId === running.id ? hintOf(handoff, running.recipientWallet) : null;
    return unchanged<Begun | IdentityNeeded>({
      payment: running,
      authorization: running.terms.authorizationId === undefined ? null : await findAuthorizationFor(ctx.db, running.id),
      wallet: input.walletAddress ?? hint,
    });
  });
  if ('provider' in begun) return begun;
  const { payment, wallet, authorization } = begun;
  if (payment.status !== 'PENDING_SIGNATURE' && authorization === null) return { payment, now: ctx.now, prepared: null, subscribing: null };
  const unidentified = missingIdentity({ payment, requiresIdentity: listing.product.requiresIdentity });
  if (unidentified) throw unidentified;
  if (wallet !== null) requireBuyer(wallet, payment.recipientWallet);
  if (authorization !== null && (wallet ?? authorization.subscriberWallet) !== authorization.subscriberWallet)
    throw new ApiError('state_conflict', {
      detail: 'Another wallet is subscribing in this session. Create a new session.',
      meta: { reason: 'other_wallet' },
    });
  // Runs after the session holds the payment: a buyer with a failed node gets the same payment on retry.
  const isPlain = authorization === null && wallet !== null;
  const [checkout] = await Promise.all([prepareCheckout(ctx, begun, wallet), isPlain ? requireNoSentInFlight(ctx, payment.id) : null]);
  return checkout;
}

async function loadSession(shard: Shard, paymentSessionId: PaymentSessionId) {
  const known = (await findPaymentSession(shard.db, paymentSessionId)) ?? raise('not_found');
  return { ...known, scope: await inMode(shard, known.session) };
}

/** Throws 409 `other_asset`: a wallet without the asset of the first payment cannot sign its transaction. */
function requireSameAsset(running: Payment, { asset = running.asset }: Connect): void {
  if (asset === running.asset) return;
  const detail = `The session has an open payment in ${running.asset}. Name it in replaces_payment_id to pay in ${asset}.`;
  throw new ApiError('state_conflict', { detail, meta: { reason: 'other_asset', payment_id: running.id } });
}

interface Begun extends PendingCheckout {
  wallet: string | null;
}

function runningIn(ctx: Ctx, session: PaymentSession, payment: Payment | null): Payment | null {
  const { now } = ctx;
  const status = paymentSessionStatusOf(session, payment, now);
  if (status === 'completed') {
    const meta = { reason: 'completed', payment_id: payment!.id };
    throw new ApiError('state_conflict', { detail: 'The payment session is already paid.', meta });
  }
  // Money may be in flight: the buyer sees the pending payment and is not asked to pay again.
  if (status === 'pending_confirmation') return payment;
  const isRunning = payment !== null && !PAYMENT.isTerminal(payment.status);
  if (isRunning && now <= payment.expiresAt) return payment;
  if (isRunning && status === 'open') {
    // Only a quote ends before its session. A transaction sent in time may still be pending, so only one payment runs at a time.
    const detail = 'The quote of this session has expired. Connect again once it is certain that nothing was paid.';
    const retryAfterSeconds = Math.max(LEAST_WAIT_SECONDS, (certainAt(payment) - now) / SECOND);
    throw new ApiError('session_expired', { detail, meta: { reason: 'quote_expired' }, retryAfterSeconds });
  }
  if (isRunning || status !== 'open') throw new ApiError('session_expired');
  return null;
}

export const endOfNext = ({ now }: Ctx, { expiresAt }: PaymentSession): number => Math.max(expiresAt, now + LEAST_MS);

/** Returns the listing as promised by the session: its price and rail, regardless of later product changes. */
const promisedIn = ({ asset, priceAmount, railId }: PaymentSession, { product, ...seller }: Listing): Listing => ({
  ...seller,
  product: { ...product, asset, priceAmount, defaultRail: railId },
});

export interface SessionListing {
  listing: Listing;
  payment: Payment | null;
  isOver: boolean;
}

/** Loads a payment session for its buyer before connect. Throws 404 for another product, and if no payment can begin. */
export async function getSessionListing(ctx: Shard, slug: string, paymentSessionId: PaymentSessionId): Promise<SessionListing> {
  const { session, payment } = (await findPaymentSession(ctx.db, paymentSessionId)) ?? raise('not_found');
  const listing = await getListing(ctx.db, slug);
  if (session.productId !== listing.product.id) raise('not_found');
  const begun = payment?.status === 'FAILED' ? null : payment;
  if (!begun && listing.product.status !== 'active') raise('not_found');
  return { listing: promisedIn(session, listing), payment: begun, isOver: !begun && ctx.now > session.expiresAt };
}

async function planBegin(
  ctx: Shard,
  listing: Listing,
  session: PaymentSession,
  handoff: Handoff | null,
  input: Connect,
): Promise<Change<Begun | IdentityNeeded>> {
  // After the product is withdrawn, a running payment finishes and no new one begins.
  if (listing.product.status !== 'active') raise('not_found');
  const change = await planCheckout(ctx, promisedIn(session, listing), input, {
    session,
    handoff,
    expiresAt: endOfNext(ctx, session),
  });
  if ('provider' in change) return unchanged<Begun | IdentityNeeded>(change);
  const { result, writes } = change;
  const { payment } = result;
  return {
    ...change,
    writes: [...writes, ...holdPayment(ctx, session, payment.id)],
    result: { ...result, wallet: payment.expectedWallet },
  };
}
