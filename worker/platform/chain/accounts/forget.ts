import type { Address } from '@solana/kit';
import { getTokenDecoder } from '@solana-program/token';
import { base64 } from '#core/encoding.ts';
import type { Shard } from '#platform/context.ts';
import type { SandboxAccount } from '#platform/db/tables/sandbox.ts';
import { decodeAuthority, decodeSubscription, SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import { readPlanAccount } from '#solana/programs/subscriptions/subscription-state.ts';
import { isClassicHolding } from '#solana/programs/token-account.ts';
import { deleteOrRetain, listLongUnneeded } from './accounts.store.ts';

/**
 * Checks up to `limit` accounts without a session that were not needed since `before`. Accounts of a plan owner or active subscriber count
 * as needed, all others are deleted. Returns the number checked.
 */
export async function forgetSandboxAccounts({ db, now }: Shard, before: number, limit: number): Promise<number> {
  const old = await listLongUnneeded(db, before, limit);
  const candidates = old.map(({ rowid, account }) => ({ rowid, merchantId: account.merchantId, wallet: walletOf(account) }));
  if (old.length > 0) await deleteOrRetain(db, candidates, { before, now });
  return old.length;
}

/** Owner of the plan or token account, else the subscriber. Null if no modelled program owns the account. */
function walletOf({ owner, data: text }: SandboxAccount): string | null {
  const data = base64.decode(text);
  if (isClassicHolding({ programAddress: owner as Address, data })) return getTokenDecoder().decode(data).owner;
  if (owner !== SUBSCRIPTIONS_PROGRAM) return null;
  const [authority, subscription] = [decodeAuthority(data), decodeSubscription(data)];
  if (authority.ok) return authority.value.user;
  if (subscription.ok) return subscription.value.subscriber;
  return readPlanAccount({ owner, data })?.owner ?? null;
}
