import { type IdentitySessionId, newAuthorizationId } from '#core/ids.ts';
import type { Asset } from '#core/money.ts';
import { SECOND } from '#core/time.ts';
import { planAuthorization } from '#features/authorizations/authorization.ts';
import type { Subscribing } from '#features/authorizations/steps.ts';
import { findPayment } from '#features/payments/store.ts';
import { getActiveListing, type Listing } from '#features/products/product.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { type Change, commitNew, isAborted } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Handoff, PaymentSession } from '#platform/db/tables/checkout.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';
import { openSessionsMax, planAt } from '#rules/plans.ts';
import { requireProvenIdentity } from './buyer-identity/identity.ts';
import { type BuyerTerms, buyerTerms, requireTrusted, withHandoff } from './buyer-terms.ts';
import { hintOf, loadHandoff, requireUnused } from './handoffs/handoff.ts';
import { planPayment, requireBuyer, requirePayee, requireSpendablePayee } from './plan-payment.ts';
import { type Prepared, prepareTransaction } from './prepare-transaction.ts';
import { abortIfAtSessionLimit, requireSessionCapacity, useHandoff } from './sessions/store.ts';
import { agreeOnPlan, beginSubscribing } from './subscribing/agree.ts';

export interface Connect {
  slug: string;
  asset?: Asset;
  walletAddress?: string;
  email?: string;
  locale?: string | undefined;
  customerRef?: string;
  handoffToken?: string;
  identitySessionId?: IdentitySessionId;
}

/** Provider at which the buyer has to prove who they are. Until then there is nothing to pay. */
export interface IdentityNeeded {
  provider: IdentityProvider;
}

export interface Checkout {
  payment: Payment;
  /** Business time of the answer, by the payment's clock. */
  now: number;
  prepared: Prepared | null;
  /** Steps that the buyer signs instead if the product renews itself. */
  subscribing: Subscribing | null;
}

/** Planned payment, and the authorization that it begins with if the product renews itself. */
export interface PendingCheckout {
  payment: Payment;
  authorization: AuthorizationRow | null;
}

/**
 * Opens a checkout session: a payment with its own nonce and reference key, and what the buyer needs to pay it. Throws 404, 429
 * plan_limit_reached if the product has too many open sessions, 503 rpc_unavailable, and the refusals of a hand-off and `planCheckout`.
 */
export async function connectBuyer(shard: Shard, input: Connect, storeAnswer: StoreAnswer<Checkout>): Promise<Checkout | IdentityNeeded> {
  const { scope: ctx, listing, handoff } = await loadSale(shard, input);
  const change = await planCheckout(ctx, listing, input, { session: null, handoff, expiresAt: sessionExpiry(ctx, listing.product) });
  if ('provider' in change) return change;
  const { payment } = change.result;
  // Calls the node before storing, so that a payment that cannot be received is not stored.
  const checkout = await prepareCheckout(ctx, change.result, payment.expectedWallet);
  const openMax = openSessionsMax(planAt(listing.merchant, ctx.now), payment.expectedWallet !== null);
  try {
    const { events } = change;
    // A buyer with a hand-off is exempt from the limit on anonymous sessions.
    const writes = handoff ? change.writes : [abortIfAtSessionLimit(ctx, payment.productId, openMax), ...change.writes];
    await commitNew(ctx, await withAnswer({ events, writes, result: checkout }, storeAnswer(checkout)), () => findPayment(ctx, payment.id));
  } catch (error) {
    if (handoff) await requireUnused(ctx, handoff);
    else if (isAborted(error)) await requireSessionCapacity(ctx.db, payment.productId, openMax);
    throw error;
  }
  return checkout;
}

/** Loads what is sold, the hand-off that a buyer was sent with, and the scope of the product. */
async function loadSale(
  shard: Shard,
  { slug, handoffToken }: Connect,
): Promise<{ scope: Scope; listing: Listing; handoff: Handoff | null }> {
  const { listing, handoff } =
    handoffToken === undefined
      ? { listing: await getActiveListing(shard.db, slug), handoff: null }
      : await loadHandoff(shard, slug, handoffToken);
  return { scope: await inMode(shard, listing.product), listing, handoff };
}

/** Time at which a checkout that begins now ends. */
export const sessionExpiry = ({ now, config }: Ctx, { sessionSeconds }: Product): number =>
  now + (sessionSeconds ?? config.SESSION_SECONDS) * SECOND;

/** Terms that are fixed before a payment begins: by the product, or by the merchant's server in a session or a hand-off. */
interface FixedTerms {
  session: PaymentSession | null;
  handoff: Handoff | null;
  expiresAt: number;
}

/**
 * Plans a payment without storing it. Throws 409 setup_not_ready, 422 invalid_wallet_address or for an asset that is not accepted, 503
 * fee_wallet_missing, and the errors of identity and quote.
 */
export async function planCheckout(
  ctx: Shard,
  listing: Listing,
  given: Connect,
  { session, handoff, expiresAt }: FixedTerms,
): Promise<Change<PendingCheckout> | IdentityNeeded> {
  const { product, merchant } = listing;
  const payee = requirePayee(ctx.config, listing, given.asset);
  requireTrusted(product, given.customerRef, [handoff, session]);
  await requireSpendablePayee(ctx, payee);
  const input = handoff ? withHandoff(given, { ...handoff, walletAddress: hintOf(handoff, payee.recipient) }) : given;
  if (input.walletAddress !== undefined) requireBuyer(input.walletAddress, payee.recipient);
  const identity = await requireProvenIdentity(ctx, product, input.identitySessionId);
  if (identity === 'missing') return { provider: product.requiresIdentity! };

  const { prospect, railId } = payee;
  const plan = product.renewalMode === 'AUTOMATIC' ? await agreeOnPlan(ctx, prospect, railId, input.walletAddress) : null;
  const terms: BuyerTerms = {
    successUrl: product.successUrl ?? merchant.merchantSettings.default_redirect_url ?? null,
    ...(input.locale === undefined ? {} : { locale: input.locale }),
    ...(identity && input.identitySessionId ? { identitySessionId: input.identitySessionId } : {}),
    ...(handoff ? { handoffId: handoff.id } : {}),
    ...(plan ? { authorizationId: newAuthorizationId(ctx.now, product.merchantId) } : {}),
  };
  const created = await planPayment(ctx, product, payee, {
    terms: buyerTerms(terms, { identity, handoff, session }),
    expectedWallet: input.walletAddress ?? null,
    customerRef: session?.customerRef ?? input.customerRef ?? null,
    email: input.email?.trim().toLowerCase() ?? null,
    paymentSessionId: session?.id ?? null,
    expiresAt,
  });
  const { result: payment } = created;
  const authorized = plan && planAuthorization(ctx, { ...payment, expectedWallet: payment.expectedWallet! }, plan);
  const used = handoff ? useHandoff(ctx, handoff, payment.id) : [];
  return {
    events: created.events,
    writes: [...created.writes, ...(authorized?.writes ?? []), ...used],
    result: { payment, authorization: authorized?.result ?? null },
  };
}

/** Prepares what the buyer signs for a payment that can still be paid, planned or stored. Throws 503 rpc_unavailable. */
export async function prepareCheckout(ctx: Shard, { payment, authorization }: PendingCheckout, wallet: string | null): Promise<Checkout> {
  const { now } = ctx;
  if (authorization) return { payment, now, prepared: null, subscribing: await beginSubscribing(ctx, payment, authorization) };
  return { payment, now, prepared: wallet === null ? null : await prepareTransaction(ctx, payment, wallet), subscribing: null };
}
