import { and, asc, eq, inArray, lte, or, type SQL, sql } from 'drizzle-orm';
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core';
import { type CustomerId, customerIdOf } from '#core/ids.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { boundId, setOf } from '#platform/db/among.ts';
import { abortIf, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { keyTextOf, paidFor } from '#platform/db/search/customer.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import { handoffs } from '#platform/db/tables/checkout.ts';
import { type CustomerRow, customers, type ErasedKey, type ErasureProgress, HAS_FOUND_REF } from '#platform/db/tables/entitlements.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { casUpdate, stepRows, updateUnversioned } from '#platform/db/versioned.ts';
import { abortIfHeld } from './access.store.ts';
import { abortIfPaid } from './rows.store.ts';

/** Lists the customers with a step of an erasure to make. */
export const listDueErasures = ({ db, wallNow }: Shard, max: number): Promise<CustomerRow[]> =>
  db
    .select()
    .from(customers)
    .where(sql`erase_at IS NOT NULL AND ${lte(customers.eraseAt, wallNow)}`)
    .orderBy(asc(customers.eraseAt))
    .limit(max);

/** Condition of the erasure that was read. A wallet may return, and be erased again. */
const isOfErasure = ({ id, erasure }: CustomerRow) =>
  and(eq(customers.id, id), sql`${customers.erasure} ->> '$.requestedAt' = ${erasure?.requestedAt}`);

export const saveProgress = async ({ ctx, row, progress }: Erasing, eraseAt: number): Promise<void> =>
  void (await updateUnversioned(ctx.db, customers, { erasure: progress, eraseAt }, isOfErasure(row)));

/** Lets an erasure of which a step failed wait, so that it delays no other. */
export const postponeErasure = async ({ db }: Shard, row: CustomerRow, eraseAt: number): Promise<void> =>
  void (await updateUnversioned(db, customers, { eraseAt }, isOfErasure(row)));

/** Finds out whether an earlier customer of a reference of these is under erasure: its rows have the reference, too. */
export async function isPreviousErasing(scope: Scope, rows: readonly CustomerRow[]): Promise<boolean> {
  const refs = rows.flatMap(({ customerRef }) => customerRef ?? []);
  if (refs.length === 0) return false;
  const isTheirs = sql`erase_at IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(erasure, '$.keys') k WHERE k.value ->> '$.key.customerRef' IN ${setOf(refs)})`;
  const found = await scope.db
    .select({ one: sql`1` })
    .from(customers)
    .where(sql`+${customers.merchantId} = ${boundId(scope.merchantId)} AND +livemode = ${scope.livemode ? 1 : 0} AND ${isTheirs}`)
    .limit(1);
  return found.length > 0;
}

/** Finds out whether another customer of the merchant has the reference since an erasure. */
export const isErasedRefTaken = async (scope: Scope, customerRef: string): Promise<boolean> =>
  (
    await scope.db
      .select({ one: sql`1` })
      .from(customers)
      .where(sql`${rowsOf(customers, scope, [[customers.customerRef, customerRef]])} AND ${HAS_FOUND_REF}`)
      .limit(1)
  ).length > 0;

/** Finds out whether an erased wallet has paid since. The fold makes it active within a minute. */
export async function hasPaidSinceErasure(scope: Scope, { status, walletAddress, erasedAt }: CustomerRow): Promise<boolean> {
  if (status !== 'erased' || walletAddress === null) return false;
  const isTheirs = or(...paidFor(payments, [walletAddress]));
  const found = await scope.db
    .select({ one: sql`1` })
    .from(payments)
    .where(and(rowsOf(payments, scope), isTheirs, sql`+confirmed_at > ${erasedAt}`))
    .limit(1);
  return found.length > 0;
}

/** Lists the email addresses of the rows of a customer, in order, after `after`. */
export async function listEmails({ ctx, keys, until }: Erasing, after: string, max: number): Promise<string[]> {
  const refs = keys.flatMap(({ key, erased }) => [key, erased].flatMap((one) => ('customerRef' in one ? [one.customerRef] : [])));
  const wallets = keys.flatMap(({ key }) => ('walletAddress' in key ? [key.walletAddress] : []));
  const texts = keys.flatMap(({ key, erased }) => [keyTextOf(key), keyTextOf(erased)]);
  type Table = SQLiteTable & Record<'merchantId' | 'livemode' | 'createdAt' | 'email', SQLiteColumn>;
  const find = (table: Table, isTheirs: SQL) =>
    ctx.db
      .selectDistinct({ email: sql<string>`${table.email}` })
      .from(table)
      .where(sql`${rowsOf(table, ctx)} AND ${isTheirs} AND +${table.email} > ${after} AND +${lte(table.createdAt, until)}`)
      // Not in the order of the index of addresses.
      .orderBy(sql`+${table.email}`)
      .limit(max);
  const found = await ctx.db.batch([
    find(memberships, inArray(memberships.customerKey, texts)),
    find(payments, inArray(payments.customerRef, refs)),
    find(payments, sql`${inArray(payments.payerWallet, wallets)} AND customer_ref IS NULL`),
    find(subscriptionAuthorizations, inArray(subscriptionAuthorizations.customerRef, refs)),
    find(handoffs, sql`payment_id IS NULL AND ${inArray(handoffs.customerRef, refs)}`),
  ]);
  const emails = found.flat().map(({ email }) => email);
  return [...new Set(emails)].sort(compareBytes).slice(0, max);
}

/** Compares as the database does, for texts without characters beyond the basic plane. */
const compareBytes = (one: string, other: string): number => (one < other ? -1 : Number(one > other));

const NAMELESS = { email: null, name: null, company: null, metadata: {}, emails: [] as string[] };

/**
 * Plans the begin of an erasure: each reference names its next customer from now on, and a wallet that was merged is a customer of its own
 * again. The rows lose the details of the customer at once.
 */
export function planBegin(ctx: Scope, rows: readonly CustomerRow[], progress: ErasureProgress): Write[] {
  const keyOf = ({ id }: CustomerRow): ErasedKey => progress.keys.find((key) => key.id === id)!;
  return rows.flatMap((row, index) => {
    const one = keyOf(row);
    const customerRef = 'customerRef' in one.erased ? one.erased.customerRef : null;
    const isAlias = index > 0;
    return [
      ...casUpdate(ctx, customers, row, {
        ...{ ...NAMELESS, customerRef, erasedAt: ctx.now, updatedAt: ctx.now, ...nextOf(ctx, one) },
        ...(isAlias
          ? { status: 'erased' as const, ...(customerRef === null && { mergedInto: null }) }
          : { status: 'erasing' as const, erasure: progress, eraseAt: ctx.wallNow }),
      }),
      ...planNext(ctx, one),
    ];
  });
}

const idsOf = (ctx: Scope, { id, key }: ErasedKey): { derived: CustomerId; nextId: CustomerId } => ({
  derived: customerIdOf(ctx.merchantId, ctx.livemode, key),
  nextId: customerIdOf(ctx.merchantId, ctx.livemode, { ...key, after: id }),
});

/** Next customer of a reference, in the row of the first one. */
function nextOf(ctx: Scope, one: ErasedKey): { nextId?: CustomerId } {
  const { derived, nextId } = idsOf(ctx, one);
  return 'customerRef' in one.key && derived === one.id ? { nextId } : {};
}

/** Plans the same if the erased customer is a later one: the row of the first one names it. */
function planNext(ctx: Scope, one: ErasedKey): Write[] {
  const { derived, nextId } = idsOf(ctx, one);
  if (!('customerRef' in one.key) || derived === one.id) return [];
  return [
    stepRows(ctx.db, customers, { nextId, erasedAt: ctx.now }, and(eq(customers.id, derived), eq(customers.nextId, one.id))),
    abortIf(ctx, sql`changes() <> 1`),
  ];
}

/** Deletes the progress of an erasure, with the names in it. Returns null: nothing is left to do. */
export async function completeErasure({ ctx, row }: Erasing): Promise<null> {
  await updateUnversioned(ctx.db, customers, { erasure: null, eraseAt: null }, isOfErasure(row));
  return null;
}

/** Customer without personal data. A wallet that bought since the request is active again. */
export const erasedRow = ({ ctx }: Erasing, row: CustomerRow): CustomerRow => ({
  ...row,
  status: row.walletAddress !== null && row.lastSeenAt > row.erasedAt! ? 'active' : 'erased',
  ...{ erasure: null, eraseAt: null, updatedAt: ctx.now, version: row.version + 1 },
});

/** Plans the end of an erasure, which goes on in the archive. Aborts if something of before is left, or the customer changed. */
export const planErased = (erasing: Erasing): Write[] => {
  const { ctx, row, progress } = erasing;
  const status = sql`iif(wallet_address IS NOT NULL AND last_seen_at > erased_at, 'active', 'erased')`;
  const inArchive: ErasureProgress = { ...progress, step: 0, after: null, hasEnded: true };
  const left = ctx.env.ARCHIVE ? { erasure: inArchive, eraseAt: ctx.wallNow } : { erasure: null, eraseAt: null };
  const ended = { status, ...left, updatedAt: ctx.now };
  return [...casUpdate(ctx, customers, row, ended), ...abortIfHeld(erasing), ...abortIfPaid(erasing)];
};
