/**
 * Accounts that agents make for themselves: no person can sign in to one, so its keys are all there is, and the holder of its
 * setup secret makes and ends them.
 * @module
 */

import { ApiError, storyOf } from '#core/errors.ts';
import { admissionIdOf } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { isConstraint, type Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { admissionObject } from '#platform/objects.ts';
import { type AccountPlans, PLANS, planAt } from '#rules/plans.ts';
import { newAccount } from './auth/sign-in.ts';
import { draftKey } from './keys/keys.ts';
import { insertAccount, insertKey, revokeKeyRow, toAdmittedAccount, toAdmittedKey } from './store.ts';

const admissionOf = (ctx: Ctx, accountId: string) => admissionObject(ctx, `account:${admissionIdOf(accountId)}`);

/** An account without e-mail or wallet, on the free plan, and its sandbox key: belong into one batch. */
export function planAgentAccount(ctx: Shard, agentName: string): { account: Account; key: ApiKey; rawKey: string; writes: Write[] } {
  const account = newAccount(ctx, agentName, {});
  const { key, rawKey } = draftKey(ctx, account.id, { name: 'sandbox', permissions: ['read', 'execute'], livemode: false });
  const writes = [insertAccount(ctx.db, account), ...insertKey(ctx, key, PLANS.free.activeKeysMax)];
  return { account, key, rawKey, writes };
}

/** Tells the account's object of a new account. Optional: an object that was not told asks the database. */
export async function announceAccount(ctx: Ctx, account: Account, key: ApiKey): Promise<void> {
  const told = admissionOf(ctx, account.id).load(toAdmittedAccount(account), [toAdmittedKey(key)]);
  await told.catch((error: unknown) => ctx.note(`admission not updated: ${storyOf(error)}`));
}

/** Refused where the plan of the account allows no more keys. */
export const planAgentKey = (ctx: Shard, held: AccountPlans, key: ApiKey): Write[] =>
  insertKey(ctx, key, PLANS[planAt(held, ctx.now)].activeKeysMax);

/**
 * Stores the end of these keys by `store`, and has them refused from the next request on. The database decides first: a batch
 * that was aborted leaves every key as good as it was. Before it, the object is told that a change is under way, so that it asks
 * the database within a minute should its caller never come back to tell it the outcome.
 */
export async function endKeys<T>(ctx: Ctx, account: Account, keys: Pick<ApiKey, 'keyHash'>[], store: () => Promise<T>): Promise<T> {
  const object = admissionOf(ctx, account.id);
  const underWay = { ...toAdmittedAccount(account), version: account.version + 1 };
  const tell = (told: Promise<unknown>) => told.catch((error: unknown) => ctx.note(`admission not updated: ${storyOf(error)}`));
  await object.stage(underWay);
  try {
    const result = await store();
    // The object remembers a revoked key for ever: a load that was read before cannot bring it back.
    for (const { keyHash } of keys) await tell(object.revokeKey(keyHash, ctx.now));
    await tell(object.unstage(underWay));
    return result;
  } catch (error) {
    // Where the database did not answer, it may have stored the change: the object then asks it within a minute.
    const isDecided = isConstraint(error) || (error instanceof ApiError && error.code !== 'temporarily_unavailable');
    if (isDecided) await tell(object.unstage(underWay));
    throw error;
  }
}

/** The writes and events that revoke these keys, for the batch that `endKeys` stores. */
export const revokeKeys = (ctx: Shard, keys: Pick<ApiKey, 'id' | 'merchantId'>[]): Write[] =>
  keys.map(({ id, merchantId }) => revokeKeyRow(ctx.db, merchantId, id, ctx.now));
