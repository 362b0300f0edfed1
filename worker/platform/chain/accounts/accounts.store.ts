import { and, eq, lte, sql } from 'drizzle-orm';
import { base64 } from '#core/encoding.ts';
import type { Db } from '#platform/context.ts';
import { amongIds, idField, jsonRows } from '#platform/db/among.ts';
import { abortUnlessChanged, type Write } from '#platform/db/commit.ts';
import { type SandboxAccount, sandboxAccounts } from '#platform/db/tables/sandbox.ts';
import type { ChainAccount } from '#solana/chain.ts';
import type { SandboxKey } from '../simulated.store.ts';

export type SandboxMoment = SandboxKey & { now: number };

export const findAccounts = (db: Db, { merchantId, sessionId }: SandboxKey, addresses: readonly string[]): Promise<SandboxAccount[]> =>
  db
    .select()
    .from(sandboxAccounts)
    .where(
      and(
        eq(sandboxAccounts.merchantId, merchantId),
        eq(sandboxAccounts.sessionId, sessionId ?? ''),
        amongIds(sandboxAccounts.address, addresses),
      ),
    );

interface SimulatedChange {
  address: string;
  before: string | null;
  account: ChainAccount | null;
}

/** The second statement aborts the batch if the account changed since it was read. */
export function writeAccount(db: Db, moment: SandboxMoment, { address, before, account }: SimulatedChange, changedBy: string): Write[] {
  const { merchantId, sessionId, now } = moment;
  const at = { merchantId, sessionId: sessionId ?? '', address };
  const isAsRead = and(
    eq(sandboxAccounts.merchantId, at.merchantId),
    eq(sandboxAccounts.sessionId, at.sessionId),
    eq(sandboxAccounts.address, address),
    eq(sandboxAccounts.changedBy, before ?? ''),
  );
  const row = account && { owner: account.owner, data: base64.encode(account.data), changedBy, neededAt: now };
  if (row === null) return before === null ? [] : [db.delete(sandboxAccounts).where(isAsRead), abortUnlessChanged({ db })];
  const write =
    before === null
      ? openAccount(db, moment, { address, account: account! }, changedBy)
      : db.update(sandboxAccounts).set(row).where(isAsRead);
  return [write, abortUnlessChanged({ db })];
}

export const openAccount = (
  db: Db,
  { merchantId, sessionId, now }: SandboxMoment,
  { address, account }: { address: string; account: ChainAccount },
  changedBy: string,
): Write =>
  db
    .insert(sandboxAccounts)
    .values({
      merchantId,
      sessionId: sessionId ?? '',
      address,
      owner: account.owner,
      data: base64.encode(account.data),
      changedBy,
      neededAt: now,
    })
    .onConflictDoNothing();

export const listLongUnneeded = (db: Db, before: number, limit: number): Promise<{ rowid: number; account: SandboxAccount }[]> =>
  db
    .select({ rowid: sql<number>`sandbox_accounts.rowid`, account: sandboxAccounts })
    .from(sandboxAccounts)
    .where(and(sql`session_id = ''`, lte(sandboxAccounts.neededAt, before)))
    .orderBy(sandboxAccounts.neededAt)
    .limit(limit);

/** Deletes the accounts of wallets that neither own a plan nor subscribe, and marks the others as needed at `now`, in one batch. */
export async function deleteOrRetain(
  db: Db,
  candidates: { rowid: number; merchantId: string; wallet: string | null }[],
  { before, now }: { before: number; now: number },
): Promise<void> {
  const rows = jsonRows(candidates);
  const theirs = sql`merchant_id = ${idField('merchantId')} AND livemode = 0`;
  const isNeeded = sql`EXISTS (SELECT 1 FROM subscription_plans WHERE ${theirs} AND owner_wallet = j.value ->> 'wallet')
    OR EXISTS (SELECT 1 FROM subscription_authorizations WHERE ${theirs} AND subscriber_wallet = j.value ->> 'wallet' AND ended_at IS NULL)`;
  const isOld = lte(sandboxAccounts.neededAt, before);
  await db.batch([
    db.delete(sandboxAccounts).where(and(sql`rowid IN (SELECT j.value ->> 'rowid' FROM ${rows} WHERE NOT (${isNeeded}))`, isOld)),
    db
      .update(sandboxAccounts)
      .set({ neededAt: now })
      .where(and(sql`rowid IN (SELECT j.value ->> 'rowid' FROM ${rows})`, isOld)),
  ]);
}
