import { ApiError, formatErrorChain, notAMember, planFull, raise } from '#core/errors.ts';
import { type AccountId, admissionIdOf, type KeyId, newFence, newId } from '#core/ids.ts';
import { isoOrNull } from '#core/time.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { commit, commitNew, isConstraint, type Write } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { ApiKey, KeyMaker } from '#platform/db/tables/keys.ts';
import { requireRecentSignIn, requireStaffFactor, roleRefused } from '#platform/http/callers.ts';
import { admissionObject } from '#platform/objects.ts';
import { hasRole, roleIn, rolesWith } from '#rules/access/roles.ts';
import { NAMED_SCOPES } from '#rules/access/scopes.ts';
import { PERMISSIONS, type Permission } from '#rules/admission.ts';
import { PLANS } from '#rules/plans.ts';
import { planAlertFor } from '../auth/owner-emails.ts';
import { abortUnlessMember } from '../members/store.ts';
import { findKey, getAccount, getActiveKeyCount, insertKey, isRevoked, revokeKeyRow, toAdmittedAccount, toAdmittedKey } from '../store.ts';
import { hashRawKey, newRawKey } from './raw-key.ts';
import { type Restrictions, requireSoonEnd, UNRESTRICTED } from './restrictions.ts';

interface CreateKey extends Restrictions {
  name: string;
  permissions: string[];
  sandboxMode: boolean;
}

type Given = Pick<ApiKey, 'name' | 'permissions' | 'livemode' | 'createdBy'> & Partial<Pick<ApiKey, 'rolledFrom'> & Restrictions>;

export function draftKey(ctx: Ctx, merchantId: AccountId, given: Given): CreatedKey {
  const rawKey = newRawKey(ctx, merchantId, given.livemode);
  const key = {
    id: newId<KeyId>(ctx.now, merchantId),
    merchantId,
    keyHash: hashRawKey(ctx, rawKey),
    keyPrefix: rawKey.slice(0, 'svc_live_'.length + 4),
    ...UNRESTRICTED,
    rolledFrom: null,
    ...given,
    createdAt: ctx.now,
    revokedAt: null,
    widenedAt: null,
    version: 1,
  };
  return { key, rawKey };
}

export const personOf = ({ accountId, personId }: Actor): KeyMaker => ({ kind: 'person', user_id: personId ?? accountId });

/** Fields of a key in the audit log. */
export const recordedKey = ({ id, name, permissions, livemode, scopes, expiresAt, allowedIps, rolledFrom }: ApiKey) => ({
  ...{ id, name, permissions, livemode, scopes, expires_at: isoOrNull(expiresAt), allowed_ips: allowedIps, rolled_from: rolledFrom },
});

export interface CreatedKey {
  key: ApiKey;
  rawKey: string;
}

/** Throws 403 admin_requires_staff, or for staff without a factor that was proven in the past hours. */
export function requireKeyStaff(ctx: Ctx, actor: Actor): void {
  if (!actor.isStaff) throw new ApiError('admin_requires_staff');
  requireStaffFactor(ctx, actor);
}

/**
 * Writes that abort if the person who makes a key has lost the role for it since the call was admitted: a removal or transfer must leave no
 * key behind. A key reads the audit log only if the person may. Throws 401 invalid_authorization (not_a_member) or 403 (role).
 */
export async function planMaker(ctx: Shard, { accountId, personId }: Actor, scopes: ApiKey['scopes'] = null): Promise<Write[]> {
  if (personId === null) return [];
  const role = roleIn(await getAccount(ctx.db, accountId), personId);
  if (role === null) throw notAMember();
  const needs = ['keys:write' as const, ...NAMED_SCOPES.filter((scope) => scopes?.includes(scope))];
  for (const need of needs) if (!hasRole(role, need)) throw roleRefused(role, need);
  const roles = rolesWith('keys:write').filter((one) => needs.every((need) => hasRole(one, need)));
  return [abortUnlessMember(ctx, accountId, personId, roles)];
}

/**
 * Creates a key. `rawKey` exists only in this answer, and the key works once `announceKey` succeeds. Throws 403 admin_requires_staff or
 * sign_in_required (live key, old session), 422 invalid_permissions or validation_error, 429 plan_limit_reached.
 */
export async function createKey(ctx: Scope, actor: Actor, input: CreateKey, storeAnswer: StoreAnswer<CreatedKey>): Promise<CreatedKey> {
  const permissions = [...new Set(input.permissions)];
  if (
    permissions.length === 0 ||
    !permissions.every((permission): permission is Permission => PERMISSIONS.includes(permission as Permission))
  ) {
    throw new ApiError('invalid_permissions');
  }
  if (permissions.includes('admin')) requireKeyStaff(ctx, actor);
  // A token stolen long after its sign-in must not create a key that outlives the token.
  if (!input.sandboxMode) requireRecentSignIn(ctx, actor);

  const merchantId = actor.accountId;
  const { name, sandboxMode, ...restrictions } = input;
  requireSoonEnd(ctx, restrictions);
  const created = draftKey(ctx, merchantId, { ...restrictions, name, permissions, livemode: !sandboxMode, createdBy: personOf(actor) });
  const { key } = created;
  const limit = PLANS[actor.plan].activeKeysMax;
  try {
    const alerts = key.livemode ? await planAlertFor(ctx, merchantId, { change: 'live_key', named: key.name }) : [];
    const change = await withAnswer(
      { events: [], writes: [...(await planMaker(ctx, actor, key.scopes)), ...insertKey(ctx, key, limit), ...alerts], result: created },
      storeAnswer(created),
    );
    return await commitNew(ctx, change, () => findKey(ctx.db, merchantId, key.id));
  } catch (error) {
    if (!isConstraint(error)) throw error;
    await planMaker(ctx, actor, key.scopes);
    const used = await getActiveKeyCount(ctx, key);
    throw planFull('keys', { limit, used, plan: actor.plan });
  }
}

/**
 * Loads a stored key into the account's admission object, from which point the key works. Call before every answer that shows the key, also
 * replays, because an earlier request may have crashed here. Throws 503 temporarily_unavailable if the object or the database does not
 * answer. The same request can be retried.
 */
export async function announceKey(ctx: Shard, { merchantId, id }: Pick<ApiKey, 'merchantId' | 'id'>): Promise<void> {
  try {
    const key = await findKey(ctx.db, merchantId, id);
    if (key) await admissionObject(ctx, `account:${admissionIdOf(merchantId)}`).putKey(toAdmittedKey(key));
  } catch (error) {
    ctx.note(`key not announced: ${formatErrorChain(error)}`);
    throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
}

/**
 * Changes keys by the batch that `store` commits, effective from the next request. `keys`: those that it revokes. The database decides first:
 * an aborted batch leaves all keys as they were. The change is staged at the object before, so that the object asks the database within a
 * minute if the caller crashes.
 */
export async function changeKeys<T>(ctx: Ctx, account: Account, keys: Pick<ApiKey, 'keyHash'>[], store: () => Promise<T>): Promise<T> {
  const object = admissionObject(ctx, `account:${account.admissionId}`);
  const underWay = { ...toAdmittedAccount(account), version: account.version + 1 };
  const bestEffort = (pending: Promise<unknown>) =>
    pending.catch((error: unknown) => ctx.note(`admission not updated: ${formatErrorChain(error)}`));
  const writer = newFence();
  await object.stage(underWay, writer);
  try {
    const result = await store();
    // The object remembers a revoked key for ever, so a load that was read earlier cannot restore the key.
    for (const { keyHash } of keys) await bestEffort(object.revokeKey(keyHash, ctx.now));
    await bestEffort(object.unstage(underWay, writer));
    return result;
  } catch (error) {
    // If the database did not answer, the change may be stored. The object then asks the database within a minute.
    const isDecided = isConstraint(error) || (error instanceof ApiError && error.code !== 'temporarily_unavailable');
    if (isDecided) await bestEffort(object.unstage(underWay, writer));
    throw error;
  }
}

/** Revokes a key permanently and at once. Idempotent. */
export async function revokeKey(ctx: Scope, actor: Actor, keyId: KeyId): Promise<void> {
  const merchantId = actor.accountId;
  const key = (await findKey(ctx.db, merchantId, keyId)) ?? raise('not_found');
  const revokedAt = Math.min(key.revokedAt ?? ctx.now, ctx.now);
  await admissionObject(ctx, `account:${admissionIdOf(merchantId)}`).revokeKey(key.keyHash, revokedAt);
  const entry = { action: 'key.revoked', subject: { type: 'key', id: keyId }, before: { name: key.name }, after: {} } as const;
  // The entry precedes the effect in the batch, so that of concurrent calls one records it.
  const writes = [recordAction(ctx, key, entry, isRevoked(keyId, ctx.now)), revokeKeyRow(ctx.db, merchantId, keyId, revokedAt)];
  await commit(ctx, { events: [], writes, result: null });
}
