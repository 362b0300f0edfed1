/**
 * Names that one account of all databases may use: its email, wallet, identities, chosen slugs and processor customer. The directory says
 * which account's database to ask, and that database decides. With one database its own unique indexes suffice, and nothing is written.
 * @module
 */

import { and, eq, inArray, isNull, lte, sql } from 'drizzle-orm';
import { ApiError, raise } from '#core/errors.ts';
import { type AccountId, partitionOfSlug } from '#core/ids.ts';
import { Memory } from '#core/isolate/memory.ts';
import { HOUR, MINUTE, SECOND } from '#core/time.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { poll } from '#platform/deadline.ts';
import { fieldOf, idField, jsonRows } from '../among.ts';
import { abortIf, isAborted, isConstraint, type Write } from '../commit.ts';
import { directoryOf, findShardAt, globalOf, homeOf, type readNear } from '../directory.ts';
import { type Swept, sweepRounds } from '../sweeps.ts';
import { type NameKind, names } from '../tables/office/names.ts';

export interface Name {
  kind: NameKind;
  /** The first is stored. The others, under earlier peppers, are the same name. */
  keys: readonly [string, ...string[]];
}

type Row = typeof names.$inferSelect;

/** Reads from the account's database whether the account uses the name, under any of its keys. One per kind, given by the feature that stores it. */
export type IsUsed = (home: Shard, accountId: AccountId, keys: Name['keys']) => Promise<boolean>;

/** Thrown if another account uses the name. */
export class NameTaken extends Error {
  readonly kind: NameKind;

  constructor(kind: NameKind) {
    super(`another account uses this ${kind}`);
    this.kind = kind;
  }
}

/** Longer than a request and its last batch take. */
const RESERVED_MS = 2 * MINUTE;
/** Difference of the clocks of two databases, and the time in which a batch ends. */
const MARGIN_MS = 10 * SECOND;

/** Waits for another change that has the name reserved: most end at once, and a caller's nonce or sign-in state is used already. */
const BUSY = { waitsMs: [0, 50, 100, 200, 400, 800], patienceMs: 1600 };

/** With the directory bound its names are stored, also before a second database is bound. */
export const hasDirectory = (ctx: Ctx): boolean => ctx.directory !== null || hasSeveral(ctx);
const hasSeveral = (ctx: Ctx): boolean => ctx.databases.length > 1;

const isNamed = ({ kind, keys }: Name) => and(eq(names.kind, kind), inArray(names.key, [...keys]));

/** Finds what a name leads to, in the databases of the accounts that may use it. */
export async function findNamed<T>(ctx: Ctx, name: Name, find: (home: Shard) => Promise<T | null | undefined>): Promise<T | undefined> {
  const rows = hasSeveral(ctx) ? await directoryOf(ctx).db.select({ accountId: names.accountId }).from(names).where(isNamed(name)) : null;
  const homes = rows === null ? [globalOf(ctx)] : rows.map(({ accountId }) => homeOf(ctx, accountId));
  for (const home of homes) {
    const found = await find(home);
    if (found !== null && found !== undefined) return found;
  }
  return undefined;
}

/** Accounts of chosen slugs. A slug may go to another account after its product is gone, and is not found there for as long as this. */
const slugAccounts = new Memory<string, { accountId: AccountId; until: number }>(10_000);
const SLUG_MS = MINUTE;

const readSelf: typeof readNear = (shard, read) => read(shard);

/**
 * Database of the product with this slug. A generated slug contains it. An unknown slug leads to the first database, where it is not found.
 * `read`: how the directory is read, `readNear` if no write is planned on the result.
 */
export async function homeOfSlug(ctx: Ctx, slug: string, read: typeof readNear = readSelf): Promise<Shard> {
  const partition = partitionOfSlug(slug);
  if (partition !== null) return findShardAt(ctx, partition) ?? raise('not_found');
  if (!hasSeveral(ctx)) return globalOf(ctx);
  const known = slugAccounts.get(slug);
  if (known && known.until > ctx.wallNow) return homeOf(ctx, known.accountId);
  const row = await read(directoryOf(ctx), ({ db }) =>
    db
      .select({ accountId: names.accountId })
      .from(names)
      .where(isNamed({ kind: 'slug', keys: [slug] }))
      .get(),
  );
  if (!row) return globalOf(ctx);
  slugAccounts.set(slug, { ...row, until: ctx.wallNow + SLUG_MS });
  return homeOf(ctx, row.accountId);
}

/**
 * Reserves names, runs a change of the account's database with guards for its batch, and confirms the names. The guards abort a batch that runs
 * after the reservation ended, so an account uses a name only while it holds it. Throws NameTaken, and 503 if another change reserves one for
 * longer than a second.
 */
export async function withNames<T>(
  ctx: Shard,
  accountId: AccountId,
  wanted: readonly (Name & { isUsed: IsUsed })[],
  run: (guards: Write[]) => Promise<T>,
): Promise<T> {
  if (!hasDirectory(ctx) || wanted.length === 0) return run([]);
  const until = ctx.wallNow + ctx.elapsedMs() + RESERVED_MS;
  const reserved: Reservation[] = [];
  let isReserved = false;
  try {
    for (const name of wanted) {
      const isOurs = await poll(ctx, BUSY, () => reserve(ctx, { accountId, name, until }, (row) => noteRow(reserved, row)));
      if (isOurs === null) throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 });
    }
    isReserved = true;
    const result = await run([abortIf(ctx, sql`unixepoch('subsec') * 1000 > ${until - MARGIN_MS}`)]);
    ctx.defer(confirmNames(ctx, reserved));
    return result;
  } catch (error) {
    // After any other error of the change it may be stored, and the next reader of the name asks.
    const isRefused = !isReserved || (error instanceof ApiError && error.code !== 'temporarily_unavailable');
    if (isRefused || isConstraint(error) || isAborted(error)) ctx.defer(giveBack(ctx, reserved));
    throw error;
  }
}

/** Row of a name as one request reserved it. Each request of an account sets a later end, so the row shows whether it is still the request's. */
interface Reservation extends Row {
  /** False: the account had the row before, and an earlier change of it may be stored. */
  isNew: boolean;
}

interface Wanted {
  accountId: AccountId;
  name: Name & { isUsed: IsUsed };
  until: number;
}

/** A second try of this request finds its own row, which is still new. */
function noteRow(reserved: Reservation[], row: Reservation): void {
  const before = reserved.findIndex(({ kind, key }) => kind === row.kind && key === row.key);
  if (before < 0) reserved.push(row);
  else reserved[before] = { ...row, isNew: reserved[before]!.isNew };
}

/**
 * Reports the row to `note` before it asks rivals, because the caller gives it back if one uses the name. Returns null while another change
 * has it reserved. Throws NameTaken.
 */
async function reserve(ctx: Ctx, { accountId, name, until }: Wanted, note: (row: Reservation) => void): Promise<true | null> {
  const { db } = directoryOf(ctx);
  const { kind, keys } = name;
  const [known, [mine]] = await db.batch([
    db.select().from(names).where(isNamed(name)),
    db
      .insert(names)
      .values({ kind, key: keys[0], accountId, reservedUntil: until })
      .onConflictDoUpdate({
        target: [names.kind, names.key],
        set: { reservedUntil: sql`max(coalesce(reserved_until, 0) + 1, ${until})` },
        setWhere: eq(names.accountId, accountId),
      })
      .returning(),
  ]);
  if (mine) note({ ...mine, isNew: !known.some(({ key }) => key === keys[0]) });
  const rivals = known.filter((row) => row.accountId !== accountId);
  const inUse = await Promise.all(rivals.map((rival) => isReservedBy(ctx, rival, name)));
  if (inUse.includes(true)) return null;
  if (mine) return true;
  // Only from the rival that was asked: another request may have taken the name meanwhile.
  const [rival] = rivals.filter(({ key }) => key === keys[0]);
  const [taken] = await db
    .update(names)
    .set({ accountId, reservedUntil: until })
    .where(rival ? isNameRow(rival) : sql`false`)
    .returning();
  if (!taken) return null;
  note({ ...taken, isNew: true });
  return true;
}

export const isNameRow = ({ kind, key, accountId, reservedUntil }: Row) =>
  and(
    eq(names.kind, kind),
    eq(names.key, key),
    eq(names.accountId, accountId),
    reservedUntil === null ? isNull(names.reservedUntil) : eq(names.reservedUntil, reservedUntil),
  );

/** True while a batch of the rival may still store the name. Throws NameTaken if the rival's database shows that its account uses it. */
async function isReservedBy(ctx: Ctx, rival: Row, { kind, keys, isUsed }: Name & { isUsed: IsUsed }): Promise<boolean> {
  // Under all keys at once, because a change of the pepper may replace the key of the row meanwhile.
  if (await isUsed(homeOf(ctx, rival.accountId), rival.accountId, keys)) throw new NameTaken(kind);
  return rival.reservedUntil !== null && rival.reservedUntil > ctx.wallNow;
}

const areReserved = (reserved: readonly Reservation[]) =>
  sql`(${names.kind}, ${names.key}, ${names.accountId}, ${names.reservedUntil}) IN
    (SELECT ${fieldOf('kind')}, ${fieldOf('key')}, ${idField('accountId')}, ${fieldOf('reservedUntil')} FROM ${jsonRows(reserved)})`;

/** Leaves a row that a later request reserved: that request or the sweep confirms it. Restores a row that is gone. */
const confirmNames = (ctx: Ctx, reserved: readonly Reservation[]): Promise<unknown> =>
  directoryOf(ctx)
    .db.insert(names)
    .select(sql`SELECT ${fieldOf('kind')}, ${fieldOf('key')}, ${idField('accountId')}, NULL FROM ${jsonRows(reserved)} WHERE true`)
    .onConflictDoUpdate({ target: [names.kind, names.key], set: { reservedUntil: null }, setWhere: areReserved(reserved) });

/** Deletes only rows that this request wrote first. The sweep asks about all others. */
async function giveBack(ctx: Ctx, reserved: readonly Reservation[]): Promise<void> {
  const own = reserved.filter(({ isNew }) => isNew);
  if (own.length > 0) await directoryOf(ctx).db.delete(names).where(areReserved(own));
}

const ROUNDS = { max: 200, roundsMax: 20 };

/** Asks about reservations that ended an hour ago: confirms the names that are used, and deletes the others. */
export const sweepNames =
  (usedBy: Record<NameKind, IsUsed>) =>
  (ctx: Shard): Promise<Swept> =>
    sweepRounds(ctx, ROUNDS, async (max) => {
      const { db } = directoryOf(ctx);
      const ended = await db
        .select()
        .from(names)
        .where(lte(names.reservedUntil, ctx.wallNow - HOUR))
        .limit(ctx.budget.rows(2, max));
      for (const row of ended) {
        const isUsed = await usedBy[row.kind](homeOf(ctx, row.accountId), row.accountId, [row.key]);
        await (isUsed ? db.update(names).set({ reservedUntil: null }).where(isNameRow(row)) : db.delete(names).where(isNameRow(row)));
      }
      return ended.length;
    });
