import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import type { SetupIntentId } from '#core/ids.ts';
import { findSetupBySecret, isSetupOpen, locateSetup, parseSetupSecret } from '#features/agent-setup/secret.ts';
import { getHeldPlan } from '#features/plans/store.ts';
import type { Actor } from '#platform/context.ts';
import { setActor, showsCredential } from '#platform/http/callers.ts';
import type { ActorEnv } from '#platform/http/openapi.ts';
import { countRefusedCredential, hitBucket, rateHeaders } from '#platform/http/rate-limit.ts';
import { planAt } from '#rules/plans.ts';

export interface ActivatorEnv extends ActorEnv {
  /** `setupIntentId`: where a setup secret was shown instead of a key or token, whose spend limits bind what is bought. */
  Variables: ActorEnv['Variables'] & { setupIntentId: SetupIntentId | null };
}

const NO_CREDENTIAL =
  'Show whose plan this is: an API key in X-Svc-Key, the token of a sign-in in Authorization: Bearer, or the setup_secret of an agent’s setup in X-Svc-Setup-Secret.';

/**
 * Who may buy a plan for an account: its key, its owner's token, or the agent that sets it up. Where a setup secret is shown
 * beside another credential, the secret counts: it is the narrower right, and spend limits bind it.
 */
const requireActivator = createMiddleware<ActivatorEnv>(async (c, next) => {
  const secret = c.req.header('X-Svc-Setup-Secret');
  if (secret === undefined) {
    if (!showsCredential(c)) throw new ApiError('invalid_authorization', { detail: NO_CREDENTIAL });
    await setActor(c, await c.var.authenticate(c, 'execute'));
    c.set('setupIntentId', null);
    return next();
  }
  const { ctx } = c.var;
  // A bucket of its own, with room for an agent that asks again as often as 202 tells it to.
  const rate = await hitBucket(c, 'status', `activate:${parseSetupSecret(secret)?.setupIntentId ?? ''}`);
  for (const [name, value] of Object.entries(rateHeaders(rate))) c.header(name, value);
  const shard = await locateSetup(ctx, secret);
  const setup = await findSetupBySecret(shard, secret);
  // Wrong, unknown and over are one answer: a guess learns nothing.
  if (!setup || !isSetupOpen(setup, ctx.now)) {
    await countRefusedCredential(c);
    throw new ApiError('invalid_authorization');
  }
  const account = await getHeldPlan(shard.db, setup.accountId);
  if (account.status === 'suspended') throw new ApiError('account_suspended');
  if (account.status === 'deleted') throw new ApiError('invalid_authorization');
  const actor: Actor = {
    accountId: setup.accountId,
    keyId: null,
    livemode: c.req.query('mode') !== 'sandbox',
    permissions: ['execute'],
    plan: planAt(account, ctx.now),
    isStaff: false,
    via: 'setup',
    signIn: null,
  };
  await setActor(c, actor);
  c.set('setupIntentId', setup.id);
  return next();
});

export const activatorRoute = {
  security: [{ apiKey: [] }, { bearer: [] }, { setupSecret: [] }] as Record<string, string[]>[],
  middleware: requireActivator,
};
