import type { Address } from '@solana/kit';
import { getTokenDecoder } from '@solana-program/token';
import { base64 } from '#core/encoding.ts';
import type { Shard } from '#platform/context.ts';
import type { SandboxAccount } from '#platform/db/tables/sandbox.ts';
import { readPlanAccount } from '#solana/programs/subscriptions/standing.ts';
import { decodeAuthority, decodeSubscription, SUBSCRIPTIONS_PROGRAM } from '#solana/programs/subscriptions/subscription.ts';
import { isClassicHolding } from '#solana/programs/token-account.ts';
import { forgetOrKeep, listLongUnneeded } from './accounts.store.ts';

/**
 * Looks at up to so many accounts of no session that were not needed since `before`: those of a wallet that owns a plan, or whose
 * subscription is not over, are needed now, and all others are forgotten. Answers how many it looked at.
 */
export async function forgetSandboxAccounts({ db, now }: Shard, before: number, limit: number): Promise<number> {
  const old = await listLongUnneeded(db, before, limit);
  const looked = old.map(({ rowid, account }) => ({ rowid, merchantId: account.merchantId, wallet: walletOf(account) }));
  if (old.length > 0) await forgetOrKeep(db, looked, { before, now });
  return old.length;
}

/** Whose it is: the owner of a plan or of a token account, else the subscriber. Null for what none of the programs would have made. */
function walletOf({ owner, data: text }: SandboxAccount): string | null {
  const data = base64.decode(text);
  if (isClassicHolding({ programAddress: owner as Address, data })) return getTokenDecoder().decode(data).owner;
  if (owner !== SUBSCRIPTIONS_PROGRAM) return null;
  const [authority, subscription] = [decodeAuthority(data), decodeSubscription(data)];
  if (authority.ok) return authority.value.user;
  if (subscription.ok) return subscription.value.subscriber;
  return readPlanAccount({ owner, data })?.owner ?? null;
}
