import { ApiError } from '#core/errors.ts';
import type { AccountId, SetupIntentId } from '#core/ids.ts';
import { formatAmount } from '#core/money.ts';
import { isoOrNull } from '#core/time.ts';
import { isSetupOpen } from '#features/agent-setup/secret.ts';
import { findSetup, listPendingPayments } from '#features/agent-setup/store.ts';
import { getHolding } from '#features/plans/holding.ts';
import { getHeldPlan } from '#features/plans/store.ts';
import { chainObstacles } from '#features/rails/x402.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import { type AccountPlans, extendPlan, type HeldPlan, type PaidPlan, planAt, planPrice, planRank } from '#rules/plans.ts';
import { getSpending } from './store.ts';

/**
 * Checks before a first payment and after a failed one that paying would succeed. Returns the plans that the account would hold after
 * paying now.
 */
export async function requireForSale(
  ctx: Scope,
  payTo: string,
  accountId: AccountId,
  { plan, setupIntentId }: { plan: PaidPlan; setupIntentId: SetupIntentId | null },
): Promise<HeldPlan> {
  const account = await getHeldPlan(ctx.db, accountId);
  const held = await getHolding(ctx.db, { id: accountId, ...account }, ctx);
  // Card plans are live, so a test purchase is compared with test purchases alone.
  requireNotLower(ctx, ctx.livemode ? { ...held, processorPlans: account.processorPlans } : held, plan);
  if (setupIntentId) {
    await requireTimeLeft(ctx, setupIntentId);
    await requireWithinLimits(ctx, setupIntentId, plan);
  }
  const [obstacle] = await chainObstacles(ctx, payTo);
  if (obstacle) throw treasuryNotReady(obstacle === 'payout_ata_exists' ? 'treasury_ata_exists' : obstacle);
  return extendPlan(held, { plan, paidUnits: planPrice(plan), at: Math.max(ctx.now, held.nextAt) });
}

export async function requireTimeLeft(ctx: Shard, setupIntentId: SetupIntentId): Promise<void> {
  const setup = await findSetup(ctx.db, setupIntentId);
  if (setup && isSetupOpen({ ...setup, isPaying: false }, ctx.now)) return;
  const [pending] = setup?.status === 'expired' ? [] : await listPendingPayments(ctx.db, setupIntentId);
  if (!pending)
    throw new ApiError('invalid_authorization', { detail: 'The setup has ended. Start a new one: POST /v1/access/agent-bootstrap.' });
  throw new ApiError('state_conflict', {
    detail: 'The setup has reached its end with a payment in flight. Send that payment again, or ask for the status; pay nothing new.',
    meta: {
      reason: 'payment_pending',
      ...(pending.terms.plan ? { plan: pending.terms.plan } : {}),
      tx_signature: pending.txSignature,
      next: `POST /v1/access/agent-bootstrap/${setupIntentId}/status`,
    },
  });
}

export const treasuryNotReady = (reason: string): ApiError =>
  new ApiError('setup_not_ready', { detail: 'Plans cannot currently be paid by x402. Retry later.', meta: { reason } });

/**
 * Throws 409 state_conflict for a purchase that changes nothing: a lower plan while a higher one runs, or any plan over one that never
 * ends.
 */
function requireNotLower({ now }: Ctx, held: AccountPlans, plan: PaidPlan): void {
  const current = planAt(held, now);
  const isEndless = held.plan !== 'free' && held.planThrough === null;
  if (planRank(plan) >= planRank(current) && !isEndless) return;
  throw new ApiError('state_conflict', {
    detail: isEndless ? `The ${current} plan of the account has no end.` : `The ${current} plan of the account is higher and active.`,
    meta: { reason: isEndless ? 'plan_endless' : 'plan_lower', plan: current, paid_through: isoOrNull(held.planThrough) },
  });
}

/** Throws 403 spend_limit_exceeded before a challenge is made. The claim's batch enforces the limits again. */
export async function requireWithinLimits(ctx: Shard, setupIntentId: SetupIntentId, plan: PaidPlan): Promise<void> {
  const { perPayment, perDay, today } = await getSpending(ctx, setupIntentId);
  const price = planPrice(plan);
  const exceeded = perPayment !== null && price > perPayment ? 'per_payment' : perDay !== null && today + price > perDay ? 'per_day' : null;
  if (!exceeded) return;
  const inUsdc = (units: bigint | null) => (units === null ? null : formatAmount({ asset: 'USDC', units }));
  const limits = { per_payment: inUsdc(perPayment), per_day: inUsdc(perDay), spent_today: inUsdc(today) };
  throw new ApiError('spend_limit_exceeded', { meta: { reason: exceeded, ...limits, price: inUsdc(price) } });
}
