import { ApiError, raise } from '#core/errors.ts';
import { type EndpointId, newId, type ProductId, type SandboxSessionId } from '#core/ids.ts';
import { DAY, SECOND } from '#core/time.ts';
import { planProduct } from '#features/products/create-product.ts';
import { getProduct } from '#features/products/product.ts';
import { findEndpoint } from '#features/webhooks/store.ts';
import { inSandbox } from '#platform/chain/scope.ts';
import type { Actor, Scope, Shard } from '#platform/context.ts';
import { type Change, commit, isAborted } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { SandboxOptions, SandboxSession } from '#platform/db/tables/sandbox.ts';
import { PLANS, type PlanName } from '#rules/plans.ts';
import { SANDBOX_SESSION } from '#rules/states.ts';
import { SCENARIOS, type ScenarioName } from '../scenarios/table.ts';
import { merchantOf } from '../wallet.ts';
import { queueRun } from './run.ts';
import { countSandboxSessions, getSandboxSession, insertSandboxSession, updateSandboxSession } from './store.ts';

export interface BeginSession {
  scenario: ScenarioName;
  seed: string | null;
  productId: ProductId | null;
  endpointId: EndpointId | null;
  advanceSeconds: number;
  options: SandboxOptions;
}

const PRICE = { asset: 'USDC', amount: '5' } as const;

/**
 * Starts a session of a scenario and stores it with its product. Throws 404 if the product or endpoint is not in this merchant's sandbox,
 * 429 plan_limit_reached if the day's sessions are used up.
 */
export async function beginSession(
  ctx: Scope,
  actor: Actor,
  input: BeginSession,
  storeAnswer: StoreAnswer<SandboxSession>,
): Promise<SandboxSession> {
  const { merchantId } = ctx;
  if (input.productId !== null) await getProduct(ctx, input.productId);
  if (input.endpointId !== null) (await findEndpoint(ctx, input.endpointId)) ?? raise('not_found');
  const sessionId = newId<SandboxSessionId>(ctx.wallNow, merchantId);
  const made = input.productId === null ? await planWares(ctx, actor, sessionId, input) : null;
  const session: SandboxSession = {
    id: sessionId,
    merchantId,
    scenario: input.scenario,
    seed: input.seed ?? sessionId.slice(-12),
    status: 'running',
    options: input.options,
    productId: made?.result.id ?? input.productId,
    endpointId: input.endpointId,
    advancedMs: 0,
    advancingToMs: 0,
    nextStep: 0,
    waits: 0,
    notes: {
      ...(made ? { wares: 'own' } : {}),
      ...(input.advanceSeconds > 0 ? { advance_after: String(input.advanceSeconds) } : {}),
    },
    steps: [],
    eventSeq: 0,
    movedAt: ctx.wallNow,
    endedAt: null,
    createdAt: ctx.wallNow,
    version: 1,
  };
  const day = { since: ctx.wallNow - (ctx.wallNow % DAY), max: PLANS[actor.plan].sandboxSessionsPerDay };
  const writes = [...insertSandboxSession(ctx, session, day), ...(made?.writes ?? [])];
  try {
    await commit(ctx, await withAnswer({ events: [], writes, result: session }, storeAnswer(session)));
  } catch (error) {
    const used = isAborted(error) ? await countSandboxSessions(ctx.db, merchantId, day.since) : 0;
    throw used >= day.max ? usedUp(ctx, actor.plan, used, day.since + DAY) : error;
  }
  // Best effort: the sweep resumes a session after a minute if the message is lost.
  ctx.defer(queueRun(ctx, session.id));
  return session;
}

function usedUp({ wallNow }: Shard, plan: PlanName, used: number, resetAt: number): ApiError {
  const limit = PLANS[plan].sandboxSessionsPerDay;
  return new ApiError('plan_limit_reached', { retryAfterSeconds: (resetAt - wallNow) / SECOND, meta: { limit, used, plan } });
}

/** Plans the session's product on the session's clock. The product counts in no quota, appears in no list and ends with the session. */
function planWares(
  ctx: Scope,
  actor: Actor,
  sessionId: SandboxSessionId,
  { scenario, options }: BeginSession,
): Promise<Change<{ id: ProductId }>> {
  const { wares } = SCENARIOS[scenario]!;
  const own = inSandbox(ctx, ctx.merchantId, { sessionId, endpointId: null, now: ctx.wallNow });
  const name = `Sandbox: ${scenario}`;
  const price = options.price ?? PRICE;
  // A test wallet, so that the sandbox has the key to sign refunds.
  const payout_wallet = merchantOf(own).address;
  return planProduct(own, actor, { name, price, product_type: 'api', payout_wallet, ...wares }, sessionId);
}

/** Limit of advances: a session must be erased before its events would move to the archive, which retains them. */
export const ADVANCE_WITHIN_MS = 60 * DAY;

/**
 * Advances the clock of a completed session. Throws 404, and 409 state_conflict if the session runs (also if a concurrent advance won), has
 * failed or began more than 60 days ago.
 */
export async function advanceSession(
  ctx: Scope,
  sessionId: SandboxSessionId,
  seconds: number,
  storeAnswer: StoreAnswer<SandboxSession>,
): Promise<SandboxSession> {
  const session = await getSandboxSession(ctx.db, ctx.merchantId, sessionId);
  if (!SANDBOX_SESSION.can(session.status, 'advance')) throw conflict(session);
  if (ctx.wallNow - session.createdAt > ADVANCE_WITHIN_MS)
    throw new ApiError('state_conflict', {
      detail: 'The session began more than 60 days ago. Start another one.',
      meta: { reason: 'too_old' },
    });
  const after: SandboxSession = {
    ...session,
    status: SANDBOX_SESSION.next(session.status, 'advance'),
    advancingToMs: session.advancedMs + seconds * SECOND,
    endedAt: null,
    movedAt: ctx.wallNow,
  };
  try {
    const change = { events: [], writes: updateSandboxSession(ctx, session, after), result: after };
    await commit(ctx, await withAnswer(change, storeAnswer(after)));
  } catch (error) {
    throw isAborted(error) ? conflict(await getSandboxSession(ctx.db, ctx.merchantId, sessionId)) : error;
  }
  ctx.defer(queueRun(ctx, sessionId));
  return after;
}

const conflict = ({ status }: SandboxSession): ApiError =>
  new ApiError('state_conflict', {
    detail: status === 'failed' ? 'The session failed. Start another one.' : 'The session is running. Wait until it has completed.',
    meta: { reason: status },
  });
