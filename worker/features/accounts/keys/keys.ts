/**
 * API keys: prefix, 21 random digits, 11 that name the account's admission object, and 6 by which we know that we made it: 35 bits of
 * a MAC, so that typos and forged keys end here, without a call to anything. Keys of the first round end in a checksum that any caller
 * can make, and are looked up as long as their caller has not shown too many bad ones.
 * @module
 */

import { crc32, equalBytes, pepperedHash, pepperedHashes, sha256Hex } from '#core/crypto.ts';
import { base62, randomBase62, utf8 } from '#core/encoding.ts';
import { ApiError, planFull, raise, storyOf } from '#core/errors.ts';
import { type AccountId, admissionIdOf, type KeyId, newId } from '#core/ids.ts';
import type { Actor, Config, Ctx, Scope, Shard } from '#platform/context.ts';
import { commit, commitNew, isConstraint } from '#platform/db/commit.ts';
import { type StoreAnswer, withAnswer } from '#platform/db/once.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { requireRecentSignIn } from '#platform/http/callers.ts';
import { admissionObject } from '#platform/objects.ts';
import { PERMISSIONS, type Permission } from '#rules/admission.ts';
import { PLANS } from '#rules/plans.ts';
import { planAlertOf } from '../auth/owner-emails.ts';
import { findKey, getActiveKeyCount, insertKey, revokeKeyRow, toAdmittedKey } from '../store.ts';

const SHAPE = /^svc_(live|test)_[0-9A-Za-z]{21}([0-9A-Za-z]{11})([0-9A-Za-z]{6})$/;
const MAC_SPACE = 62n ** 6n;
/** MACs under each pepper, in the order of the peppers. */
const macsOf = (peppers: string, text: string): string[] =>
  pepperedHashes(peppers, 'api-key-check', text).map((hash) => base62(BigInt(`0x${hash.slice(0, 32)}`) % MAC_SPACE, 6));
const checksum = (text: string): string => base62(BigInt(crc32(utf8(text))), 6);

function newRawKey(ctx: Ctx, accountId: AccountId, livemode: boolean): string {
  const body = `svc_${livemode ? 'live' : 'test'}_${randomBase62(21)}${admissionIdOf(accountId)}`;
  return body + macsOf(ctx.config.PEPPER, body)[0];
}

export interface ParsedKey {
  admissionId: string;
  /** The hashes under which it may be stored: of the pepper that its own digits prove, else of each pepper. */
  keyHashes: string[];
  /** Its own digits prove that we made it. */
  isVouched: boolean;
}

/** What vouched keys name, by a hash of the key: the MACs of one cost as much as the rest of a consume. Raw keys are not remembered. */
const known = new WeakMap<Config, Map<string, ParsedKey>>();
const KNOWN_MAX = 1000;

/** What a raw key names; null where it cannot be one of ours. */
export function parseRawKey({ config }: Pick<Ctx, 'config'>, rawKey: string): ParsedKey | null {
  const match = SHAPE.exec(rawKey);
  if (!match) return null;
  const vouched = known.get(config) ?? new Map<string, ParsedKey>();
  const name = sha256Hex(utf8(rawKey));
  const parsed = vouched.get(name) ?? parseUnknown(config, rawKey, match[2]!, match[3]!);
  if (!parsed?.isVouched) return parsed;
  if (vouched.size >= KNOWN_MAX) vouched.clear();
  known.set(config, vouched.set(name, parsed));
  return parsed;
}

function parseUnknown({ PEPPER }: Config, rawKey: string, admissionId: string, check: string): ParsedKey | null {
  const body = rawKey.slice(0, -6);
  const vouches = macsOf(PEPPER, body).map((mac) => equalBytes(utf8(mac), utf8(check)));
  const isVouched = vouches.includes(true);
  if (!isVouched && checksum(body) !== check) return null;
  const hashes = pepperedHashes(PEPPER, KEY_PURPOSE, rawKey);
  return { admissionId, keyHashes: isVouched ? hashes.filter((_, index) => vouches[index]) : hashes, isVouched };
}

const KEY_PURPOSE = 'api-key';

export interface CreateKey {
  name: string;
  permissions: string[];
  sandboxMode: boolean;
}

/** A key before it is stored. `rawKey` is known to the caller alone. */
export function draftKey(
  ctx: Ctx,
  merchantId: AccountId,
  given: Pick<ApiKey, 'name' | 'permissions' | 'livemode'>,
): { key: ApiKey; rawKey: string } {
  const rawKey = newRawKey(ctx, merchantId, given.livemode);
  const key = {
    id: newId<KeyId>(ctx.now),
    merchantId,
    keyHash: pepperedHash(ctx.config.PEPPER, KEY_PURPOSE, rawKey),
    keyPrefix: rawKey.slice(0, 'svc_live_'.length + 4),
    ...given,
    createdAt: ctx.now,
    revokedAt: null,
  };
  return { key, rawKey };
}

export interface CreatedKey {
  key: ApiKey;
  rawKey: string;
}

/**
 * A new key. `rawKey` exists only in this answer. It works once `announceKey` has been through. 403 admin_requires_staff and
 * sign_in_required (live keys, old sessions), 422 invalid_permissions, 429 plan_limit_reached.
 */
export async function createKey(ctx: Scope, actor: Actor, input: CreateKey, storeAnswer: StoreAnswer<CreatedKey>): Promise<CreatedKey> {
  const permissions = [...new Set(input.permissions)];
  if (
    permissions.length === 0 ||
    !permissions.every((permission): permission is Permission => PERMISSIONS.includes(permission as Permission))
  ) {
    throw new ApiError('invalid_permissions');
  }
  if (permissions.includes('admin') && !actor.isStaff) throw new ApiError('admin_requires_staff');
  // A token that was stolen long after its sign-in must not leave a key behind that outlives it.
  if (!input.sandboxMode) requireRecentSignIn(ctx, actor);

  const merchantId = actor.accountId;
  const created = draftKey(ctx, merchantId, { name: input.name, permissions, livemode: !input.sandboxMode });
  const { key } = created;
  const limit = PLANS[actor.plan].activeKeysMax;
  try {
    const alerts = key.livemode ? await planAlertOf(ctx, merchantId, { change: 'live_key', named: key.name }) : [];
    const change = await withAnswer(
      { events: [], writes: [...insertKey(ctx, key, limit), ...alerts], result: created },
      storeAnswer(created),
    );
    return await commitNew(ctx, change, () => findKey(ctx.db, merchantId, key.id));
  } catch (error) {
    if (!isConstraint(error)) throw error;
    const used = await getActiveKeyCount(ctx.db, key);
    throw planFull('keys', { limit, used, plan: actor.plan });
  }
}

/**
 * Tells the account's admission object of a stored key, which works from then on: an object that knows its account asks the database
 * for no key. Belongs before every answer that shows the key, the first and its repetitions, because any call before may have crashed
 * here. 503 temporarily_unavailable where the object or the database is out of reach; the same request tells it then.
 */
export async function announceKey(ctx: Shard, { merchantId, id }: Pick<ApiKey, 'merchantId' | 'id'>): Promise<void> {
  try {
    const key = await findKey(ctx.db, merchantId, id);
    if (key) await admissionObject(ctx, `account:${admissionIdOf(merchantId)}`).putKey(toAdmittedKey(key));
  } catch (error) {
    ctx.note(`key not announced: ${storyOf(error)}`);
    throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
  }
}

/** Immediate and permanent; a second time it is simply already so. */
export async function revokeKey(ctx: Scope, actor: Actor, keyId: KeyId): Promise<void> {
  const merchantId = actor.accountId;
  const key = (await findKey(ctx.db, merchantId, keyId)) ?? raise('not_found');
  const revokedAt = key.revokedAt ?? ctx.now;
  await admissionObject(ctx, `account:${admissionIdOf(merchantId)}`).revokeKey(key.keyHash, revokedAt);
  await commit(ctx, { events: [], writes: [revokeKeyRow(ctx.db, merchantId, keyId, revokedAt)], result: null });
}
