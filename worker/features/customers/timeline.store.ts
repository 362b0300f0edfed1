import { and, desc, inArray, sql } from 'drizzle-orm';
import { TIMELINE } from '#core/limits.ts';
import { listDeliveriesOf } from '#features/webhooks/events.store.ts';
import type { Scope } from '#platform/context.ts';
import { isInActsOf } from '#platform/db/acts/find.ts';
import { openEvents } from '#platform/db/acts/read.ts';
import { boundId } from '#platform/db/among.ts';
import { rowsOf } from '#platform/db/page.ts';
import { keyTextOf, rowsOfCustomer } from '#platform/db/search/customer.ts';
import type { CustomerRow } from '#platform/db/tables/entitlements.ts';
import { events } from '#platform/db/tables/events.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { payments } from '#platform/db/tables/payments.ts';
import type { Customer } from '#rules/balance.ts';

/** Newest payments and memberships that a timeline reads. */
const READ_MAX = { payments: 40, memberships: 20 };

/** Loads the newest stored events of a customer, oldest first, with their deliveries. */
export async function loadCustomerTimeline(scope: Scope, row: CustomerRow, keys: readonly Customer[]) {
  const { db, merchantId, livemode } = scope;
  const [paid, members] = await db.batch([
    db
      .select({ id: payments.id, version: payments.version })
      .from(payments)
      .where(sql`${payments}.rowid IN (${rowsOfCustomer(payments, scope, keys)})`)
      .orderBy(desc(payments.createdAt))
      .limit(READ_MAX.payments),
    db
      .select({ id: memberships.id, version: memberships.version })
      .from(memberships)
      .where(and(rowsOf(memberships, scope), inArray(memberships.customerKey, keys.map(keyTextOf))))
      .limit(READ_MAX.memberships),
  ]);
  const [paymentIds, membershipIds] = [paid.map(({ id }) => id), members.map(({ id }) => id)];
  const about = { payments: paymentIds, memberships: membershipIds, leads: [...paid, ...members, { id: row.id, version: row.version }] };
  // The plus signs force the index of the acts: the merchant has many more events.
  const isMine = sql`+${events.merchantId} = ${boundId(merchantId)} AND +${events.livemode} = ${livemode}`;
  const rows = await db
    .select()
    .from(events)
    .where(and(isInActsOf(merchantId, about), isMine))
    .orderBy(desc(events.createdAt), desc(events.seq))
    .limit(TIMELINE.max);
  const happened = openEvents(rows.toReversed());
  return { events: happened, deliveries: await listDeliveriesOf(scope, happened) };
}
