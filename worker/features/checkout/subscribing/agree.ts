import { ApiError } from '#core/errors.ts';
import { type AgreedPlan, routeOf } from '#features/authorizations/authorization.ts';
import { manageUrlOf, type Subscribing } from '#features/authorizations/steps.ts';
import { findStanding } from '#features/authorizations/store.ts';
import { newObstacleError } from '#features/products/selling/fixes.ts';
import type { Prospect } from '#features/products/selling/obstacles.ts';
import { newOutageError } from '#features/rails/quote.ts';
import { getRail } from '#features/rails/registry.ts';
import { viewPlan } from '#features/rails/subscription-plan/plan.ts';
import { consentMemoOf, isMeantFor } from '#features/subscriptions/collect-first.ts';
import { isSameSubscription, lookAtSubscriptions, type SubscriptionLook } from '#features/subscriptions/look.ts';
import { prepareSteps } from '#features/subscriptions/prepare-consent.ts';
import { applyLook } from '#features/subscriptions/reconcile.ts';
import type { Shard, Tenant } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { RailId } from '#rules/rails.ts';
import { findSubscriptionAddress, type Subscription } from '#solana/programs/subscriptions/subscription.ts';

/**
 * The published plan that a wallet is to subscribe to. 422 without a wallet, 409 setup_not_ready where the plan is not published as the
 * product is now, 409 state_conflict where this wallet is subscribed already, 503 rpc_unavailable.
 */
export async function agreeOnPlan(ctx: Shard, sale: Prospect, railId: RailId, wallet: string | undefined): Promise<AgreedPlan> {
  if (wallet === undefined) {
    const msg = 'Required for a product that renews automatically';
    throw new ApiError('validation_error', { problems: [{ loc: ['body', 'wallet_address'], msg, type: 'missing' }] });
  }
  const { obstacles, silent } = await getRail(railId).look(ctx, sale);
  if (obstacles[0]) throw newObstacleError(obstacles[0], railId, sale);
  if (silent) throw newOutageError(silent);
  const { draft } = await viewPlan(ctx, { ...sale, product: sale.product! });
  const subscriptionAddress = findSubscriptionAddress(draft.address, wallet as typeof draft.address).address;
  await requireNoneActive(ctx, subscriptionAddress, sale.product!);
  const { periodHours, pullers } = draft.plan;
  return { planAddress: draft.address, subscriptionAddress, puller: pullers[0]!, periodHours: Number(periodHours) };
}

async function requireNoneActive(ctx: Shard, address: string, seller: Tenant): Promise<void> {
  const standing = await findStanding(ctx.db, address, seller);
  if (standing?.status !== 'active' && standing?.status !== 'past_due') return;
  throw newSubscribedError(ctx, standing);
}

const newSubscribedError = (ctx: Shard, { id }: Pick<AuthorizationRow, 'id'>): ApiError =>
  new ApiError('state_conflict', {
    detail: 'The wallet is already subscribed.',
    meta: { reason: 'subscribed', authorization_id: id, manage_url: manageUrlOf(ctx.baseUrl, id) },
  });

/**
 * What is left to sign for an authorization that is not collected from yet. What is in the way is told, and never an error. Each step carries
 * the checkout's own memo: what it is signed for. Stores nothing: `onHolder` decides what follows where another authorization collects already.
 */
export async function viewSubscribing(
  ctx: Shard,
  payment: Payment,
  authorization: AuthorizationRow,
  onHolder: (holder: AuthorizationRow, look: SubscriptionLook) => unknown,
): Promise<Subscribing> {
  const [look = null] = await lookAtSubscriptions(ctx, [routeOf(authorization)]);
  if (look === null) return { authorization, steps: [], problem: 'unavailable' };
  const { subscription } = look.sight;
  const holder = subscription && look.standing.kind === 'paid' ? await findHolder(ctx, authorization, subscription) : null;
  if (holder) {
    await onHolder(holder, look);
    return { authorization, steps: [], problem: 'subscribed', holder };
  }
  const isUnproven = subscription !== null && !(await isMeantFor(ctx, payment, authorization, subscription));
  const prepared = await prepareSteps(ctx, routeOf(authorization), { known: look, memo: consentMemoOf(payment), isUnproven });
  return prepared.ok ? { authorization, steps: prepared.value, problem: null } : { authorization, steps: [], problem: prepared.reason };
}

/** The other authorization that collects from this very subscription; null: there is none. */
async function findHolder(ctx: Shard, row: AuthorizationRow, subscription: Subscription) {
  const standing = await findStanding(ctx.db, row.subscriptionAddress, row);
  return standing !== null && standing.id !== row.id && isSameSubscription(standing, subscription) ? standing : null;
}

/** As `viewSubscribing`, where a checkout begins. 409 setup_not_ready or state_conflict, 503 rpc_unavailable. */
export async function beginSubscribing(ctx: Shard, payment: Payment, authorization: AuthorizationRow): Promise<Subscribing> {
  // What was approved again is believed at once, and not with the next look of the sweep.
  const subscribing = await viewSubscribing(ctx, payment, authorization, (holder, look) => applyLook(ctx, holder, look));
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
