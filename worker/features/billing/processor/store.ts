import { and, asc, eq, isNull, lte, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import type { IsUsed } from '#platform/db/names/names.ts';
import {
  type BillingCustomer,
  billingCustomers,
  type CardTrouble,
  type ProcessorEventRow,
  processorEvents,
} from '#platform/db/tables/office/billing.ts';
import { casUpdate, stepRows, updateUnversioned } from '#platform/db/versioned.ts';

export const findCustomer = (db: Db, accountId: AccountId): Promise<BillingCustomer | undefined> =>
  db.select().from(billingCustomers).where(eq(billingCustomers.accountId, accountId)).get();

export const findByCustomerId = (db: Db, customerId: string): Promise<BillingCustomer | undefined> =>
  db.select().from(billingCustomers).where(eq(billingCustomers.customerId, customerId)).get();

/** Customer of the processor as a name: an event of the processor says nothing else. */
export const customerName = (customerId: string) => ({ kind: 'customer', keys: [customerId], isUsed: isCustomerUsed }) as const;
export const isCustomerUsed: IsUsed = async ({ db }, accountId, [customerId]) =>
  (await findByCustomerId(db, customerId))?.accountId === accountId;

/**
 * Inserts the customer of an active account, once. For an account deleted meanwhile the row is marked, so that the sweep deletes the
 * customer at the processor.
 */
export const insertCustomer = (db: Db, row: BillingCustomer): Promise<unknown> =>
  db
    .insert(billingCustomers)
    .values({
      ...row,
      erasingSince: sql`(SELECT CASE status WHEN 'deleted' THEN ${row.createdAt} END FROM accounts WHERE id = ${boundId(row.accountId)})`,
    })
    .onConflictDoNothing();

/** Replaces the account's customer with one that has no subscription yet. Does nothing if a concurrent call has replaced it. */
export const renameCustomer = (db: Db, gone: string, row: BillingCustomer): Promise<unknown> =>
  stepRows(
    db,
    billingCustomers,
    { ...row, createdAt: undefined, erasingSince: undefined },
    and(eq(billingCustomers.accountId, row.accountId), eq(billingCustomers.customerId, gone)),
  );

export const updateCustomer = (ctx: Shard, before: BillingCustomer, after: BillingCustomer): Write[] =>
  casUpdate(ctx, billingCustomers, before, { ...after, erasingSince: undefined });

export const isTakenIn = async (db: Db, eventId: string): Promise<boolean> =>
  (await db.$count(processorEvents, eq(processorEvents.id, eventId))) > 0;

export const insertProcessorEvent = (db: Db, event: ProcessorEventRow): Write => db.insert(processorEvents).values(event);

export const listErasing = (db: Db, now: number, max: number): Promise<BillingCustomer[]> =>
  db
    .select()
    .from(billingCustomers)
    .where(and(sql`erasing_since IS NOT NULL`, lte(billingCustomers.erasingSince, now)))
    .orderBy(billingCustomers.erasingSince)
    .limit(max);

export const postponeErasing = (db: Db, customerId: string, now: number): Promise<unknown> =>
  updateUnversioned(db, billingCustomers, { erasingSince: now }, eq(billingCustomers.customerId, customerId));

export const deleteCustomer = (db: Db, customerId: string): Promise<unknown> =>
  db.delete(billingCustomers).where(eq(billingCustomers.customerId, customerId));

export const listDueReads = (db: Db, now: number, last: BillingCustomer | null, max: number): Promise<BillingCustomer[]> =>
  db
    .select()
    .from(billingCustomers)
    .where(
      and(
        lte(billingCustomers.nextReadAt, now),
        isNull(billingCustomers.erasingSince),
        last ? sql`(next_read_at, account_id) > (${last.nextReadAt}, ${boundId(last.accountId)})` : undefined,
      ),
    )
    .orderBy(asc(billingCustomers.nextReadAt), asc(billingCustomers.accountId))
    .limit(max);

export const postponeRead = (db: Db, accountId: AccountId, nextReadAt: number): Promise<unknown> =>
  updateUnversioned(db, billingCustomers, { nextReadAt }, eq(billingCustomers.accountId, accountId));

export const listCardTrouble = (db: Db): Promise<{ trouble: CardTrouble; customers: number; customerId: string }[]> =>
  db.all(sql`SELECT trouble, count(*) AS customers, min(customer_id) AS customerId FROM billing_customers
    WHERE trouble IS NOT NULL GROUP BY trouble`);

export const hasCustomersInWork = async (db: Db): Promise<boolean> =>
  (await db.get(sql`SELECT 1 FROM (SELECT 1 FROM billing_customers WHERE next_read_at IS NOT NULL LIMIT 1)
    UNION ALL SELECT 1 FROM (SELECT 1 FROM billing_customers WHERE erasing_since IS NOT NULL LIMIT 1) LIMIT 1`)) !== undefined;
