import { canonicalJson } from '#core/encoding.ts';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { type AccountId, newFence } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { transact, unchanged, type Write } from '#platform/db/commit.ts';
import type { Account } from '#platform/db/tables/accounts.ts';
import { admissionObject } from '#platform/objects.ts';
import type { NewEvent } from '#rules/events.ts';
import { findAdmission, getAccount, replaceAccount, toAdmittedAccount } from './store.ts';

export interface AccountChange {
  values?: Partial<Account>;
  events?: NewEvent[];
  writes?: Write[];
  /** True if this very change was stored. Needed if another change may follow it, so that the row no longer names its writer. */
  wasStored?(account: Account): boolean | Promise<boolean>;
}

/**
 * Updates an account's row under its version. `plan` gets the current row at each try, counted from 1. Null changes nothing. Fields that
 * admission checks are staged at the account's object before the database write, so that no request slips in between, and confirmed there
 * before the answer.
 */
export async function changeAccount(
  ctx: Shard,
  accountId: AccountId,
  plan: (account: Account, attempt: number) => AccountChange | null | Promise<AccountChange | null>,
): Promise<Account> {
  let planned: { account: Account; wasStored?: AccountChange['wasStored'] } | null = null;
  let staged: Account | null = null;
  const writer = newFence();
  try {
    const changed = await transact(ctx, { reload: () => getAccount(ctx.db, accountId) }, async (account, attempt) => {
      // An earlier try was stored and only its answer was lost. A rival may leave the same values, and only the writer differs.
      if (planned && (await (planned.wasStored?.(account) ?? account.changedBy === writer))) return unchanged(account);
      const change = await plan(account, attempt);
      if (!change?.values) return { events: [], writes: change?.writes ?? [], result: account };
      const next = { ...account, ...change.values, changedBy: writer, version: account.version + 1 };
      planned = { account: next, wasStored: change.wasStored };
      const stored = {
        events: change.events ?? [],
        writes: [...replaceAccount(ctx, account, next), ...(change.writes ?? [])],
        result: next,
      };
      if (isJudgedAlike(account, next)) return stored;
      staged = next;
      await admissionOf(ctx, next).stage(toAdmittedAccount(next), writer);
      return stored;
    });
    if (planned) renewActor(ctx, planned);
    if (staged) await resolveStage(ctx, { staged, stored: changed, writer });
    return changed;
  } catch (error) {
    // If the database did not answer, the change may be stored. The object retains the stage until that is decided.
    const isDecided = error instanceof ApiError && error.code !== 'temporarily_unavailable';
    if (staged && isDecided) await admissionOf(ctx, staged).unstage(toAdmittedAccount(staged), writer);
    throw error;
  }
}

/** The call that ends the sessions of its own person may store more. */
function renewActor({ acting: { actor } }: Ctx, { account: { id, tokenVersion } }: { account: Account }): void {
  if (actor?.personId === id && actor.tokenVersion !== undefined) actor.tokenVersion = tokenVersion;
}

function resolveStage(ctx: Shard, { staged, stored, writer }: { staged: Account; stored: Account; writer: number }): Promise<void> {
  if (stored.version >= staged.version) return applyStaged(ctx, stored);
  const pending = admissionOf(ctx, staged).unstage(toAdmittedAccount(staged), writer);
  return pending.catch((error: unknown) => ctx.note(`admission not unstaged: ${formatErrorChain(error)}`));
}

const admissionOf = (ctx: Ctx, { admissionId }: Account) => admissionObject(ctx, `account:${admissionId}`);

function isJudgedAlike(account: Account, next: Account): boolean {
  return canonicalJson({ ...toAdmittedAccount(account), version: 0 }) === canonicalJson({ ...toAdmittedAccount(next), version: 0 });
}

/**
 * Confirms a stored change at the object, with the keys that it may have revoked: the stage, which would make the object ask for them, ends
 * here. A failure is only noted: the object asks the database within a minute.
 */
async function applyStaged(ctx: Shard, account: Account): Promise<void> {
  try {
    const stored = await findAdmission(ctx.db, account.admissionId);
    if (stored) await admissionOf(ctx, account).load(stored.account, stored.keys);
  } catch (error) {
    ctx.note(`admission not confirmed: ${formatErrorChain(error)}`);
  }
}
