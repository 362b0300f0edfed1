/**
 * Accounts that agents create for themselves. No person can sign in, so the keys are the only access, and the holder of the setup secret
 * issues and revokes them.
 * @module
 */

import { formatErrorChain } from '#core/errors.ts';
import { admissionIdOf } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import type { ApiKey } from '#platform/db/tables/keys.ts';
import { admissionObject } from '#platform/objects.ts';
import { type AccountPlans, PLANS, planAt } from '#rules/plans.ts';
import { draftKey } from './keys/keys.ts';
import { newAccount } from './new-account.ts';
import { insertAccount, insertKey, revokeKeyRow, toAdmittedAccount, toAdmittedKey } from './store.ts';

const admissionOf = (ctx: Ctx, accountId: string) => admissionObject(ctx, `account:${admissionIdOf(accountId)}`);

/** Drafts an account without email or wallet on the free plan, and its sandbox key. Commit both in one batch. */
export function planAgentAccount(ctx: Shard, agentName: string): { account: Account; key: ApiKey; rawKey: string; writes: Write[] } {
  const account = newAccount(ctx, agentName, {});
  const { key, rawKey } = draftKey(ctx, account.id, {
    ...{ name: 'sandbox', permissions: ['read', 'execute'], livemode: false },
    createdBy: { kind: 'setup' },
  });
  const writes = [...insertAccount(ctx.db, account), ...insertKey(ctx, key, PLANS.free.activeKeysMax)];
  return { account, key, rawKey, writes };
}

/** Loads a new account into its admission object. Best effort: an object without the account asks the database. */
export async function announceAccount(ctx: Ctx, account: Account, key: ApiKey): Promise<void> {
  const pending = admissionOf(ctx, account.id).load(toAdmittedAccount(account), [toAdmittedKey(key)]);
  await pending.catch((error: unknown) => ctx.note(`admission not updated: ${formatErrorChain(error)}`));
}

export const planAgentKey = (ctx: Shard, held: AccountPlans, key: ApiKey): Write[] =>
  insertKey(ctx, key, PLANS[planAt(held, ctx.now)].activeKeysMax);

export const revokeKeys = (ctx: Shard, keys: Pick<ApiKey, 'id' | 'merchantId'>[]): Write[] =>
  keys.map(({ id, merchantId }) => revokeKeyRow(ctx.db, merchantId, id, ctx.now));
