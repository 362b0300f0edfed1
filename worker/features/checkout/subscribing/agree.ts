import { ApiError } from '#core/errors.ts';
import { type AgreedPlan, routeOf } from '#features/authorizations/authorization.ts';
import { manageUrlOf, type Subscribing } from '#features/authorizations/steps.ts';
import { findCurrent } from '#features/authorizations/store.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import type { Prospect } from '#features/products/selling/obstacles.ts';
import { newOutageError } from '#features/rails/quote.ts';
import { getRail } from '#features/rails/registry.ts';
import { viewPlan } from '#features/rails/subscription-plan/plan.ts';
import { consentMemoOf, isMeantFor } from '#features/subscriptions/collect-first.ts';
import { prepareSteps } from '#features/subscriptions/prepare-consent.ts';
import { isSameSubscription, readSubscriptions, type SubscriptionReading } from '#features/subscriptions/read-subscriptions.ts';
import { applyReading } from '#features/subscriptions/reconcile.ts';
import type { Shard, Tenant } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { RailId } from '#rules/rails.ts';
import { findSubscriptionAddress, type Subscription } from '#solana/programs/subscriptions/subscription.ts';

/**
 * Returns the published plan that a wallet is to subscribe to. Throws 422 without a wallet, 409 setup_not_ready if the published plan
 * differs from the product, 409 state_conflict if the wallet is subscribed already, 503 rpc_unavailable.
 */
export async function agreeOnPlan(ctx: Shard, sale: Prospect, railId: RailId, wallet: string | undefined): Promise<AgreedPlan> {
  if (wallet === undefined) {
    const msg = 'Required for a product that renews automatically';
    throw new ApiError('validation_error', { problems: [{ loc: ['body', 'wallet_address'], msg, type: 'missing' }] });
  }
  const { obstacles, unavailableDependency: silent } = await getRail(railId).probe(ctx, sale);
  if (obstacles[0]) throw newObstacleError(obstacles[0], railId, sale);
  if (silent) throw newOutageError(silent);
  const { draft } = await viewPlan(ctx, { ...sale, product: sale.product! });
  const subscriptionAddress = findSubscriptionAddress(draft.address, wallet as typeof draft.address).address;
  await requireNoneActive(ctx, subscriptionAddress, sale.product!);
  const { periodHours, pullers } = draft.plan;
  return { planAddress: draft.address, subscriptionAddress, puller: pullers[0]!, periodHours: Number(periodHours) };
}

async function requireNoneActive(ctx: Shard, address: string, seller: Tenant): Promise<void> {
  const current = await findCurrent(ctx.db, address, seller);
  if (current?.status !== 'active' && current?.status !== 'past_due') return;
  throw newSubscribedError(ctx, current);
}

const newSubscribedError = (ctx: Shard, { id }: Pick<AuthorizationRow, 'id'>): ApiError =>
  new ApiError('state_conflict', {
    detail: 'The wallet is already subscribed.',
    meta: { reason: 'subscribed', authorization_id: id, manage_url: manageUrlOf(ctx.baseUrl, id) },
  });

/**
 * Returns the steps left to sign for an authorization without collections. Obstacles are part of the answer, never an error. Each step
 * carries the checkout's memo, which ties it to this checkout. Stores nothing: `onHolder` decides if another authorization already
 * collects.
 */
export async function viewSubscribing(
  ctx: Shard,
  payment: Payment,
  authorization: AuthorizationRow,
  onHolder: (holder: AuthorizationRow, reading: SubscriptionReading) => unknown,
): Promise<Subscribing> {
  const [reading = null] = await readSubscriptions(ctx, [routeOf(authorization)]);
  if (reading === null) return { authorization, steps: [], problem: 'unavailable' };
  const { subscription } = reading.sight;
  const holder = subscription && reading.state.kind === 'paid' ? await findHolder(ctx, authorization, subscription) : null;
  if (holder) {
    await onHolder(holder, reading);
    return { authorization, steps: [], problem: 'subscribed', holder };
  }
  const isUnproven = subscription !== null && !(await isMeantFor(ctx, payment, authorization, subscription));
  const prepared = await prepareSteps(ctx, routeOf(authorization), { known: reading, memo: consentMemoOf(payment), isUnproven });
  return prepared.ok ? { authorization, steps: prepared.value, problem: null } : { authorization, steps: [], problem: prepared.reason };
}

async function findHolder(ctx: Shard, row: AuthorizationRow, subscription: Subscription) {
  const current = await findCurrent(ctx.db, row.subscriptionAddress, row);
  return current !== null && current.id !== row.id && isSameSubscription(current, subscription) ? current : null;
}

export async function beginSubscribing(ctx: Shard, payment: Payment, authorization: AuthorizationRow): Promise<Subscribing> {
  // Applies a renewed approval at once, without waiting for the sweep's next reading.
  const subscribing = await viewSubscribing(ctx, payment, authorization, (holder, reading) => applyReading(ctx, holder, reading));
  if (subscribing.holder) throw newSubscribedError(ctx, subscribing.holder);
  switch (subscribing.problem) {
    case 'unavailable':
      throw newOutageError('rpc_unavailable');
    case 'plan_missing':
      throw new ApiError('setup_not_ready', {
        detail: 'The plan is closed to new subscribers.',
        meta: { reason: 'subscription_plan_published' },
      });
    case 'ending': {
      const detail = 'The wallet cancelled a subscription that cannot be resumed. It can subscribe again after the period has ended.';
      throw new ApiError('state_conflict', { detail, meta: { reason: 'subscription_ending' } });
    }
    default:
      return subscribing;
  }
}
