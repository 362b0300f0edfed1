import type { Ctx } from '../context.ts';
import { storyOf } from '../core/errors.ts';
import { admissionIdOf } from '../core/ids.ts';
import type { Write } from '../db/commit.ts';
import { PLANS, planAt } from '../plans.ts';
import { draftKey } from './keys.ts';
import { newAccount } from './sign-in.ts';
import { type Account, type ApiKey, insertAccount, insertKey, revokeKeyRow, toAdmittedAccount, toAdmittedKey } from './store.ts';

/**
 * Accounts that agents make for themselves: nobody can sign in to one, so its keys are all there is, and whoever holds its
 * setup secret makes and ends them.
 */
export type { Account, ApiKey };

const admissionOf = (ctx: Ctx, accountId: string) => ctx.env.ADMISSION.getByName(`account:${admissionIdOf(accountId)}`);

/** An account without e-mail or wallet, on the free plan, and its sandbox key: belong into one batch. */
export function planAgentAccount(ctx: Ctx, agentName: string): { account: Account; key: ApiKey; rawKey: string; writes: Write[] } {
  const account = newAccount(ctx, agentName, {});
  const { key, rawKey } = draftKey(ctx, account.id, { name: 'sandbox', permissions: ['read', 'execute'], livemode: false });
  const writes = [insertAccount(ctx.db, account), ...insertKey(ctx, key, PLANS.free.activeKeysMax)];
  return { account, key, rawKey, writes };
}

/** Nothing depends on it: an object that nobody woke yet asks the database. */
export async function announceAccount(ctx: Ctx, account: Account, key: ApiKey): Promise<void> {
  const told = admissionOf(ctx, account.id).load(toAdmittedAccount(account), [toAdmittedKey(key)]);
  await told.catch((error: unknown) => ctx.note(`admission not told: ${storyOf(error)}`));
}

/** Statements, not effects: refused where the plan of the account allows no more keys. */
export const planAgentKey = (ctx: Ctx, { plan, planThrough }: Pick<Account, 'plan' | 'planThrough'>, key: ApiKey): Write[] =>
  insertKey(ctx, key, PLANS[planAt({ plan, planThrough }, ctx.now)].activeKeysMax);

export const announceKey = (ctx: Ctx, key: ApiKey): Promise<void> => admissionOf(ctx, key.merchantId).putKey(toAdmittedKey(key));

/**
 * Refused from the next request on. The statement, which belongs into the caller's batch, only writes down what is so already; it
 * comes in a list because a statement that is awaited runs.
 */
export async function withdrawKey(ctx: Ctx, key: Pick<ApiKey, 'id' | 'merchantId' | 'keyHash'>): Promise<Write[]> {
  await admissionOf(ctx, key.merchantId).revokeKey(key.keyHash, ctx.now);
  return [revokeKeyRow(ctx.db, key.merchantId, key.id, ctx.now)];
}
