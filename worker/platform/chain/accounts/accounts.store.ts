import { and, eq, sql } from 'drizzle-orm';
import { base64 } from '#core/encoding.ts';
import type { Db } from '#platform/context.ts';
import { vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import { type SandboxAccount, sandboxAccounts } from '#platform/db/tables/sandbox.ts';
import type { ChainAccount } from '#solana/chain.ts';
import type { SandboxPlace } from '../simulated.store.ts';

export const findAccounts = (db: Db, { merchantId, sessionId }: SandboxPlace, addresses: readonly string[]): Promise<SandboxAccount[]> =>
  db
    .select()
    .from(sandboxAccounts)
    .where(
      and(
        eq(sandboxAccounts.merchantId, merchantId),
        eq(sandboxAccounts.sessionId, sessionId ?? ''),
        sql`${sandboxAccounts.address} IN (SELECT value FROM json_each(${JSON.stringify(addresses)}))`,
      ),
    );

/** What a transaction makes of an account. `before`: who changed it last; null where there was none. `account`: null where it is closed. */
export interface SimulatedChange {
  address: string;
  before: string | null;
  account: ChainAccount | null;
}

/** Statements, not effects: the second fails the batch where the account was changed since it was read. */
export function writeAccount(
  db: Db,
  { merchantId, sessionId }: SandboxPlace,
  { address, before, account }: SimulatedChange,
  changedBy: string,
): Write[] {
  const at = { merchantId, sessionId: sessionId ?? '', address };
  const isAsRead = and(
    eq(sandboxAccounts.merchantId, at.merchantId),
    eq(sandboxAccounts.sessionId, at.sessionId),
    eq(sandboxAccounts.address, address),
    eq(sandboxAccounts.changedBy, before ?? ''),
  );
  const row = account && { owner: account.owner, data: base64.encode(account.data), changedBy };
  if (row === null) return before === null ? [] : [db.delete(sandboxAccounts).where(isAsRead), vetoUnlessChanged({ db })];
  const write =
    before === null
      ? openAccount(db, { merchantId, sessionId }, { address, account: account! }, changedBy)
      : db.update(sandboxAccounts).set(row).where(isAsRead);
  return [write, vetoUnlessChanged({ db })];
}

/** A statement, not an effect: an account, where nothing stands at its address yet. */
export const openAccount = (
  db: Db,
  { merchantId, sessionId }: SandboxPlace,
  { address, account }: { address: string; account: ChainAccount },
  changedBy: string,
): Write =>
  db
    .insert(sandboxAccounts)
    .values({ merchantId, sessionId: sessionId ?? '', address, owner: account.owner, data: base64.encode(account.data), changedBy })
    .onConflictDoNothing();
