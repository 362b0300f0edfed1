import { eq, sql } from 'drizzle-orm';
import { type AccountId, madeAt } from '#core/ids.ts';
import type { Ctx } from '#platform/context.ts';
import { fieldOf, idField, jsonRows } from '../among.ts';
import { directoryOf, homeOf } from '../directory.ts';
import { cursors } from '../tables/candidates.ts';
import { type NameKind, names } from '../tables/office/names.ts';
import { type IsUsed, isNameRow } from './names.ts';

/** Name as the database of its account stores it. */
export interface UsedName<K extends NameKind = NameKind> {
  kind: K;
  key: string;
  accountId: AccountId;
  /** Keys under earlier peppers, which the database of the account may still have. */
  formerKeys?: readonly string[];
}

/** Name that accounts of two databases use. The directory has the older account. */
export interface SharedName {
  kind: NameKind;
  owned_by: AccountId;
  also_used_by: AccountId;
}

interface Written<K extends NameKind> {
  written: number;
  shared: SharedName[];
  /** Names that were not written, because a change under way has reserved them for another account. */
  reserved: UsedName<K>[];
}

/** Writes names to the directory, as their databases store them. Idempotent. */
export async function writeNames<K extends NameKind>(
  ctx: Ctx,
  used: readonly UsedName<K>[],
  usedBy: Record<K, IsUsed>,
): Promise<Written<K>> {
  const done: Written<K> = { written: 0, shared: [], reserved: [] };
  if (used.length === 0) return done;
  const { db } = directoryOf(ctx);
  const [inserted, known] = await db.batch([
    db
      .insert(names)
      .select(sql`SELECT ${fieldOf('kind')}, ${fieldOf('key')}, ${idField('accountId')}, NULL FROM ${jsonRows(used)} WHERE true`)
      .onConflictDoNothing(),
    db
      .select()
      .from(names)
      .where(sql`(${names.kind}, ${names.key}) IN (SELECT ${fieldOf('kind')}, ${fieldOf('key')} FROM ${jsonRows(used)})`),
  ]);
  done.written += inserted.meta.changes;
  const owners = new Map(used.map((name) => [`${name.kind} ${name.key}`, name]));
  for (const row of known) {
    const owner = owners.get(`${row.kind} ${row.key}`)!;
    const { accountId, kind, formerKeys = [] } = owner;
    if (row.accountId === accountId && row.reservedUntil === null) continue;
    // The page may be stale: the account may have given the name up since.
    if (row.accountId !== accountId && !(await usedBy[kind](homeOf(ctx, accountId), accountId, [row.key, ...formerKeys]))) continue;
    const isShared = row.accountId !== accountId && (await usedBy[kind](homeOf(ctx, row.accountId), row.accountId, [row.key]));
    const isOlder = madeAt(accountId) < madeAt(row.accountId);
    const isReserved = row.accountId !== accountId && !isShared && row.reservedUntil !== null && row.reservedUntil > ctx.wallNow;
    if (isShared)
      done.shared.push({ kind, owned_by: isOlder ? accountId : row.accountId, also_used_by: isOlder ? row.accountId : accountId });
    if (isReserved) done.reserved.push(owner);
    if (isReserved || (isShared && !isOlder)) continue;
    const { meta } = await db.update(names).set({ accountId, reservedUntil: null }).where(isNameRow(row));
    done.written += meta.changes;
  }
  return done;
}

/** Deletes rows of names that their accounts have under other keys. */
export const deleteNames = (ctx: Ctx, former: readonly UsedName[]): Promise<unknown> =>
  directoryOf(ctx)
    .db.delete(names)
    .where(
      sql`(${names.kind}, ${names.key}, ${names.accountId}) IN
        (SELECT ${fieldOf('kind')}, ${fieldOf('key')}, ${idField('accountId')} FROM ${jsonRows(former)})`,
    );

/** Row of the directory that says that it has the names of all databases. */
const COMPLETE = 'names-complete';

export const areNamesComplete = async (ctx: Ctx): Promise<boolean> =>
  (await directoryOf(ctx).db.select({ name: cursors.name }).from(cursors).where(eq(cursors.name, COMPLETE)).get()) !== undefined;

export const noteNamesComplete = (ctx: Ctx): Promise<unknown> =>
  directoryOf(ctx)
    .db.insert(cursors)
    .values({ name: COMPLETE, passedAt: ctx.wallNow, version: 1 })
    .onConflictDoUpdate({ target: cursors.name, set: { passedAt: ctx.wallNow } });
