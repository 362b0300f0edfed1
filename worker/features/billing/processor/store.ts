import { and, asc, eq, isNull, lte, sql } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
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

/**
 * Stores a customer of an account that is active, once: of two at once one is stored. An account that was deleted meanwhile gets a row
 * that says so, by which the processor is told to delete it.
 */
export const insertCustomer = (db: Db, row: BillingCustomer): Promise<unknown> =>
  db
    .insert(billingCustomers)
    .values({
      ...row,
      erasingSince: sql`(SELECT CASE status WHEN 'deleted' THEN ${row.createdAt} END FROM accounts WHERE id = ${row.accountId})`,
    })
    .onConflictDoNothing();

/** The account is another customer from now on, which has no subscription yet. Nothing where a rival has renamed it already. */
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

/** Fails the batch where the event was taken in before. */
export const insertProcessorEvent = (db: Db, event: ProcessorEventRow): Write => db.insert(processorEvents).values(event);

/** Customers of deleted accounts, the longest waiting first. */
export const listErasing = (db: Db, now: number, max: number): Promise<BillingCustomer[]> =>
  db
    .select()
    .from(billingCustomers)
    .where(and(sql`erasing_since IS NOT NULL`, lte(billingCustomers.erasingSince, now)))
    .orderBy(billingCustomers.erasingSince)
    .limit(max);

/** Puts one that the processor could not be told of behind all others that wait. */
export const postponeErasing = (db: Db, customerId: string, now: number): Promise<unknown> =>
  updateUnversioned(db, billingCustomers, { erasingSince: now }, eq(billingCustomers.customerId, customerId));

export const deleteCustomer = (db: Db, customerId: string): Promise<unknown> =>
  db.delete(billingCustomers).where(eq(billingCustomers.customerId, customerId));

/** Customers that the processor is to be read again for, the longest due first, after the last of the page before. */
export const listDueReads = (db: Db, now: number, last: BillingCustomer | null, max: number): Promise<BillingCustomer[]> =>
  db
    .select()
    .from(billingCustomers)
    .where(
      and(
        lte(billingCustomers.nextReadAt, now),
        isNull(billingCustomers.erasingSince),
        last ? sql`(next_read_at, account_id) > (${last.nextReadAt}, ${last.accountId})` : undefined,
      ),
    )
    .orderBy(asc(billingCustomers.nextReadAt), asc(billingCustomers.accountId))
    .limit(max);

export const postponeRead = (db: Db, accountId: AccountId, nextReadAt: number): Promise<unknown> =>
  updateUnversioned(db, billingCustomers, { nextReadAt }, eq(billingCustomers.accountId, accountId));

/** Trouble at the processor that needs a person: how many customers, and the name of one of them there. */
export const listCardTrouble = (db: Db): Promise<{ trouble: CardTrouble; customers: number; customerId: string }[]> =>
  db.all(sql`SELECT trouble, count(*) AS customers, min(customer_id) AS customerId FROM billing_customers
    WHERE trouble IS NOT NULL GROUP BY trouble`);

/** True where something of a customer is still to be read or deleted at the processor. */
export const hasCustomersInWork = async (db: Db): Promise<boolean> =>
  (await db.get(sql`SELECT 1 FROM (SELECT 1 FROM billing_customers WHERE next_read_at IS NOT NULL LIMIT 1)
    UNION ALL SELECT 1 FROM (SELECT 1 FROM billing_customers WHERE erasing_since IS NOT NULL LIMIT 1) LIMIT 1`)) !== undefined;
