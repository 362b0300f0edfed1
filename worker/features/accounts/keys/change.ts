import { ApiError, raise } from '#core/errors.ts';
import type { KeyId } from '#core/ids.ts';
import { HOUR } from '#core/time.ts';
import type { Actor, Scope } from '#platform/context.ts';
import { type Change, transact, unchanged } from '#platform/db/commit.ts';
import { type StoreAnswer, unchangedWithAnswer, withAnswer } from '#platform/db/once.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { requireRecentSignIn } from '#platform/http/callers.ts';
import { PLANS } from '#rules/plans.ts';
import { planAlertFor } from '../auth/owner-emails.ts';
import { findKey, getAccount, getEndingKeyCount, replaceKey, updateKey } from '../store.ts';
import { type CreatedKey, changeKeys, draftKey, personOf, planMaker, requireKeyStaff } from './keys.ts';
import { isNarrower, type Restrictions, requireSoonEnd } from './restrictions.ts';

const getKey = async (ctx: Scope, { accountId }: Actor, keyId: KeyId): Promise<ApiKey> =>
  (await findKey(ctx.db, accountId, keyId)) ?? raise('not_found');

/** Throws 409 state_conflict for a key that is revoked, replaced by another or expired. */
function requireWorking({ now }: Scope, { revokedAt, expiresAt }: ApiKey): void {
  const reason = revokedAt !== null ? (revokedAt > now ? 'rolled' : 'revoked') : expiresAt !== null && expiresAt <= now ? 'expired' : null;
  if (reason === null) return;
  throw new ApiError('state_conflict', { detail: `The key is ${reason}. Use or create another one.`, meta: { reason } });
}

/** Throws 429 plan_limit_reached if the plan allows no further replaced key that still works. */
async function requireFewEnding(ctx: Scope, { plan }: Actor, key: ApiKey, limit: number): Promise<void> {
  const used = await getEndingKeyCount(ctx, key);
  if (used < limit) return;
  const detail = `The plan ${plan} allows ${limit} replaced keys per mode that still work, and ${used} do. Revoke one, or roll without overlap.`;
  throw new ApiError('plan_limit_reached', { detail, meta: { limit, used, plan } });
}

interface KeyPatch extends Partial<Restrictions> {
  name?: string;
}

/**
 * Changes a key, from the next request on. A live key is widened by a recent sign-in only, with an email, as it is created. Throws 403
 * sign_in_required, 404, 409 state_conflict, 422 validation_error.
 */
export async function changeKey(
  ctx: Scope,
  actor: Actor,
  { keyId, patch }: { keyId: KeyId; patch: KeyPatch },
  storeAnswer: StoreAnswer<ApiKey>,
): Promise<ApiKey> {
  const account = await getAccount(ctx.db, actor.accountId);
  return changeKeys(ctx, account, [], () =>
    transact(ctx, { reload: () => getKey(ctx, actor, keyId) }, async (key) => {
      requireWorking(ctx, key);
      const asked = { ...key, ...patch };
      if (asked.expiresAt !== key.expiresAt) requireSoonEnd(ctx, asked);
      const isWidened = key.livemode && !isNarrower(asked, key);
      if (isWidened) requireRecentSignIn(ctx, actor);
      if (JSON.stringify(asked) === JSON.stringify(key)) return unchangedWithAnswer(key, storeAnswer);
      const stored = { ...patch, ...(isWidened && { widenedAt: ctx.now }) };
      const alerts = isWidened ? await planAlertFor(ctx, actor.accountId, { change: 'live_key_widened', named: asked.name }) : [];
      const result = { ...key, ...stored, version: key.version + 1 };
      const writes = [...(await planMaker(ctx, actor, patch.scopes)), ...updateKey(ctx, key, stored), ...alerts];
      return withAnswer({ events: [], writes, result }, storeAnswer(result, { before: key }));
    }),
  );
}

/**
 * Replaces a key by a new one with the same name and rights. The old key works until the overlap ends and meanwhile counts toward no limit of
 * keys. Replaced keys that work have the same limit of their own, because repeated rolls would otherwise be keys beyond the plan. Throws 403
 * admin_requires_staff or sign_in_required (live key, old session), 404, 409 state_conflict, 422 validation_error, 429 plan_limit_reached.
 */
export async function rollKey(
  ctx: Scope,
  actor: Actor,
  { keyId, overlapHours, expiresAt }: { keyId: KeyId; overlapHours: number; expiresAt: number | null | undefined },
  storeAnswer: StoreAnswer<CreatedKey>,
): Promise<CreatedKey> {
  if (expiresAt !== undefined) requireSoonEnd(ctx, { expiresAt });
  const account = await getAccount(ctx.db, actor.accountId);
  const revokedAt = ctx.now + overlapHours * HOUR;
  const endingMax = PLANS[actor.plan].activeKeysMax;
  let created: CreatedKey | null = null;
  // Ends at the object without a query. A repeated request gets 409 and announces nothing.
  const revoked: ApiKey[] = [];
  const roll = async (key: ApiKey): Promise<Change<CreatedKey>> => {
    // An earlier try was stored and only its answer was lost.
    if (created && (await findKey(ctx.db, actor.accountId, created.key.id))) return unchanged(created);
    requireWorking(ctx, key);
    if (key.permissions.includes('admin')) requireKeyStaff(ctx, actor);
    if (key.livemode) requireRecentSignIn(ctx, actor);
    if (overlapHours > 0) await requireFewEnding(ctx, actor, key, endingMax);
    else revoked.splice(0, 1, key);
    const { name, permissions, livemode, scopes, allowedIps } = key;
    const restrictions = { scopes, allowedIps, expiresAt: expiresAt === undefined ? key.expiresAt : expiresAt };
    const given = { name, permissions, livemode, ...restrictions, createdBy: personOf(actor), rolledFrom: key.id };
    created = draftKey(ctx, actor.accountId, given);
    const alerts = livemode ? await planAlertFor(ctx, actor.accountId, { change: 'live_key', named: name }) : [];
    const maker = await planMaker(ctx, actor, scopes);
    const writes = [...maker, ...replaceKey(ctx, key, created.key, { revokedAt, endingMax }), ...alerts];
    return withAnswer({ events: [], writes, result: created }, storeAnswer(created));
  };
  return changeKeys(ctx, account, revoked, () => transact(ctx, { reload: () => getKey(ctx, actor, keyId) }, roll));
}
