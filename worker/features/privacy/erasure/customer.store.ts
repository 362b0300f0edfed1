import { and, asc, eq, inArray, lte, type SQL, sql } from 'drizzle-orm';
import { type CustomerId, customerIdOf } from '#core/ids.ts';
import type { Scope, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { keyTextOf } from '#platform/db/search/customer.ts';
import type { ErasedKey, Erasing } from '#platform/db/search/erasing.ts';
import { handoffs } from '#platform/db/tables/checkout.ts';
import { type CustomerRow, customers, type ErasureProgress } from '#platform/db/tables/entitlements.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { subscriptionAuthorizations } from '#platform/db/tables/subscriptions/authorizations.ts';
import { casUpdate, stepRows, updateUnversioned } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';
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

export const saveProgress = async ({ ctx, row, progress }: Erasing, eraseAt: number): Promise<void> =>
  void (await updateUnversioned(
    ctx.db,
    customers,
    { erasure: progress, eraseAt },
    and(eq(customers.id, row.id), eq(customers.status, 'erasing')),
  ));

const EMAILS_MAX = 50;

/** Lists the email addresses of a customer that no row of the customer has. */
export async function listEmails(scope: Scope, keys: readonly Customer[]): Promise<string[]> {
  const refs = keys.flatMap((key) => ('customerRef' in key ? [key.customerRef] : []));
  const wallets = keys.flatMap((key) => ('walletAddress' in key ? [key.walletAddress] : []));
  const { db } = scope;
  const found = await db.batch([
    db
      .selectDistinct({ email: memberships.email })
      .from(memberships)
      .where(and(rowsOf(memberships, scope), inArray(memberships.customerKey, keys.map(keyTextOf)), sql`email IS NOT NULL`))
      .limit(EMAILS_MAX),
    ...[inArray(payments.customerRef, refs), sql`${inArray(payments.payerWallet, wallets)} AND customer_ref IS NULL`].map((isTheirs) =>
      db
        .selectDistinct({ email: payments.email })
        .from(payments)
        .where(and(rowsOf(payments, scope), isTheirs, sql`+email IS NOT NULL`))
        .limit(EMAILS_MAX),
    ),
    db
      .selectDistinct({ email: subscriptionAuthorizations.email })
      .from(subscriptionAuthorizations)
      .where(and(rowsOf(subscriptionAuthorizations, scope), inArray(subscriptionAuthorizations.customerRef, refs), sql`+email IS NOT NULL`))
      .limit(EMAILS_MAX),
    db
      .selectDistinct({ email: handoffs.email })
      .from(handoffs)
      .where(and(rowsOf(handoffs, scope), sql`payment_id IS NULL`, inArray(handoffs.customerRef, refs), sql`email IS NOT NULL`))
      .limit(EMAILS_MAX),
  ]);
  return found.flat().map(({ email }) => email!);
}

export const planBegin = (ctx: Scope, row: CustomerRow, progress: ErasureProgress): Write[] =>
  casUpdate(ctx, customers, row, { status: 'erasing', erasure: progress, eraseAt: ctx.wallNow, updatedAt: ctx.now });

const abortIfLeft = (erasing: Erasing): Write[] => [...abortIfHeld(erasing), ...abortIfPaid(erasing)];

/** Id of the customer that a reference names after an erasure. */
const nextIdOf = ({ merchantId, livemode }: Scope, { id, key }: ErasedKey): CustomerId =>
  customerIdOf(merchantId, livemode, { ...key, after: id });

/** Plans that each reference names its next customer from now on. */
function planNext({ ctx, keys }: Erasing): Write[] {
  return keys.flatMap((one) => {
    if (!('customerRef' in one.key)) return [];
    const derived = customerIdOf(ctx.merchantId, ctx.livemode, one.key);
    const isNamed: SQL | undefined = derived === one.id ? undefined : eq(customers.nextId, one.id);
    return [stepRows(ctx.db, customers, { nextId: nextIdOf(ctx, one), erasedAt: ctx.now }, and(eq(customers.id, derived), isNamed))];
  });
}

const isOf = ({ row, keys }: Erasing): SQL =>
  and(
    inArray(
      customers.id,
      keys.map(({ id }) => id),
    ),
    sql`${customers.id} <> ${sql.param(row.id, customers.id)}`,
  )!;

/** Plans the seal: what comes later belongs to the next customer. Aborts if something of before is left. */
export const planSeal = (erasing: Erasing, progress: ErasureProgress, eraseAt: number): Write[] => {
  const { ctx, row } = erasing;
  return [
    ...casUpdate(ctx, customers, row, { erasedAt: ctx.now, erasure: progress, eraseAt, emails: [] }),
    stepRows(ctx.db, customers, { erasedAt: ctx.now, emails: [] }, isOf(erasing)),
    ...planNext(erasing),
    ...abortIfLeft(erasing),
  ];
};

const ERASED = {
  ...{ status: 'erased' as const, email: null, name: null, company: null, metadata: {} },
  ...{ emails: [] as string[], erasure: null, eraseAt: null },
};

/** Customer without personal data. */
export function erasedRow({ keys, ctx }: Erasing, row: CustomerRow): CustomerRow {
  const { erased } = keys.find(({ id }) => id === row.id)!;
  const customerRef = 'customerRef' in erased ? erased.customerRef : null;
  return { ...row, ...ERASED, customerRef, updatedAt: ctx.now, version: row.version + 1 };
}

/** Plans the end of an erasure. Aborts if something of before is left, or the customer changed. */
export const planErased = (erasing: Erasing, merged: readonly CustomerRow[]): Write[] => {
  const { ctx, row } = erasing;
  return [row, ...merged]
    .flatMap((one) => {
      const { customerRef, updatedAt } = erasedRow(erasing, one);
      return casUpdate(ctx, customers, one, { ...ERASED, customerRef, updatedAt });
    })
    .concat(abortIfLeft(erasing));
};
