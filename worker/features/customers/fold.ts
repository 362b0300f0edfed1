import { type AccountId, type CustomerId, customerIdOf, type PaymentId } from '#core/ids.ts';
import { MINUTE } from '#core/time.ts';
import { type NewBuyers, planSellers } from '#features/buyer-sign-in/sellers.ts';
import type { Db } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { newCustomerRow } from '#platform/db/search/new-customer.ts';
import type { CustomerRow } from '#platform/db/tables/entitlements.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { happenedAt } from '#rules/access/erased-customer.ts';
import { type Counts, countsOf } from '#rules/analytics/metrics.ts';
import type { Customer } from '#rules/balance.ts';
import type { EventType } from '#rules/events.ts';
import { CUSTOMER } from '#rules/states.ts';
import { listErasedIds, listFoldedCustomers, listNamedWallets, upsertFolded } from './fold.store.ts';

/** Further event types that the fold reads. */
export const CUSTOMER_EVENT_TYPES = ['entitlement.granted', 'metered_session.opened'] as const satisfies readonly EventType[];
/** Events that show the customer. Others only correct the sums of a payment. */
const SHOWING: ReadonlySet<EventType> = new Set<EventType>([
  'payment.confirmed',
  'membership.activated',
  'membership.renewed',
  ...CUSTOMER_EVENT_TYPES,
]);

/** A later sighting within this time is not written. */
const SEEN_EVERY_MS = MINUTE;
const LISTED_MAX = 10;

interface CountedEvent {
  event: StoredEvent;
  /** Counts of the analytics that the event adds. */
  counts: Counts;
}

interface Sighting {
  id: CustomerId;
  customer: Customer;
  merchantId: AccountId;
  livemode: boolean;
  firstAt: number;
  /** Time of the last event that showed the customer. 0: none. */
  shownAt: number;
  wallets: string[];
  emails: string[];
  /** True if money of the customer came in, not only a grant of the merchant. */
  hasPaid: boolean;
  counts: Counts;
}

interface NamedObject {
  customer_ref?: string;
  payer_wallet?: string;
  customer?: { customer_ref?: string; wallet_address?: string; email?: string };
}

const objectOf = ({ data }: StoredEvent): NamedObject => data.object as NamedObject;

/** Sums of money that a customer has. */
const sumsIn = (counts: Counts): Counts =>
  Object.fromEntries(Object.entries(counts).filter(([name]) => /_(?:count|gross|refunded)$/.test(name)));

/** Key of the event's customer. `named`: wallets that agents named as the customer of their payments. */
function customerIn(event: StoredEvent, named: ReadonlyMap<string, string>): Customer | null {
  const { customer_ref, payer_wallet, customer } = objectOf(event);
  const ref = customer_ref ?? customer?.customer_ref;
  if (ref !== undefined) return { customerRef: ref };
  const wallet = event.subjectType === 'payment' ? (named.get(event.subjectId) ?? payer_wallet) : customer?.wallet_address;
  return wallet === undefined ? null : { walletAddress: wallet };
}

const isGrant = ({ type }: StoredEvent): boolean => type === 'entitlement.granted';
const isPayment = ({ event }: CountedEvent): boolean => event.subjectType === 'payment';

/**
 * Plans the rows of customers in events, and the sums of payments, as further writes of the batch that steps the cursor: each event counts
 * once. An unpaid checkout shows no customer.
 */
export async function planFoldedCustomers(db: Db, events: readonly CountedEvent[]): Promise<Write[]> {
  const counted = events
    .map(({ event, counts }) => ({ event, counts: sumsIn(counts) }))
    .filter((one) => Object.keys(one.counts).length > 0 || (!isPayment(one) && SHOWING.has(one.event.type)));
  const unnamed = counted.filter((one) => isPayment(one) && objectOf(one.event).customer_ref === undefined);
  const named = await listNamedWallets(db, [...new Set(unnamed.map(({ event }) => event.subjectId as PaymentId))]);
  const [seen, known] = await loadSightings(db, counted, named);
  if (seen.length === 0) return [];
  const rows = seen.flatMap((sighting) => rowAfter(known.get(sighting.id) ?? null, sighting) ?? []);
  const buyers = seen.flatMap((sighting) => newBuyersIn(known.get(sighting.id) ?? null, sighting));
  return [...(rows.length === 0 ? [] : [upsertFolded(db, rows)]), ...planSellers(db, buyers)];
}

/**
 * Merges the events of each customer and loads the rows. A reference that was erased names the customer of before, and one that is used
 * since an erasure names the next customer from then on.
 */
async function loadSightings(
  db: Db,
  counted: readonly CountedEvent[],
  named: ReadonlyMap<string, string>,
): Promise<[Sighting[], Map<CustomerId, CustomerRow>]> {
  const found = counted.flatMap(({ event, counts }): Found[] => {
    const customer = customerIn(event, named);
    return customer === null ? [] : [{ event, counts, customer, id: customerIdOf(event.merchantId, event.livemode, customer) }];
  });
  const known = await listFoldedCustomers(db, [...new Set(found.map(({ id }) => id))]);
  const merged = merge(found.map((one) => ({ ...one, id: customerAt(known.get(one.id), happenedAt(one.event)) ?? one.id })));
  const erased = await listErasedIds(db, merged);
  const seen = merged.map((sighting) => ({ ...sighting, id: erased.get(sighting.id) ?? sighting.id }));
  const others = seen.map(({ id }) => id).filter((id) => !known.has(id));
  const isMoved = erased.size > 0 || others.some((id) => !found.some((one) => one.id === id));
  return [seen, isMoved ? new Map([...known, ...(await listFoldedCustomers(db, others))]) : known];
}

interface Found extends CountedEvent {
  customer: Customer;
  id: CustomerId;
}

/** Next customer of an erased one, if an event of this time is about that one. */
const customerAt = (row: CustomerRow | undefined, at: number): CustomerId | null => (row?.nextId && at > row.erasedAt! ? row.nextId : null);

/**
 * Wallets and addresses that the customer did not have before, or has from grants alone and pays with now. Test sales lead no buyer to a seller.
 */
function newBuyersIn(known: CustomerRow | null, { livemode, merchantId, wallets, emails, hasPaid }: Sighting): NewBuyers[] {
  if (!livemode) return [];
  const before = hasPaid && known && Object.keys(known.totals).length === 0 ? null : known;
  return [
    {
      merchantId: merchantId as AccountId,
      hasPaid,
      wallets: wallets.filter((found) => !before?.wallets.includes(found)),
      emails: emails.filter((found) => !before?.emails.includes(found)),
    },
  ];
}

function merge(found: readonly Found[]): Sighting[] {
  const seen = new Map<CustomerId, Sighting>();
  for (const { event, counts, customer, id } of found) {
    const { merchantId, livemode, createdAt, type } = event;
    const before = seen.get(id);
    const { payer_wallet: payer, customer: { email } = {} } = objectOf(event);
    const key = 'walletAddress' in customer ? [customer.walletAddress] : [];
    seen.set(id, {
      ...{ id, customer, merchantId: merchantId as AccountId, livemode },
      firstAt: Math.min(before?.firstAt ?? createdAt, createdAt),
      shownAt: Math.max(before?.shownAt ?? 0, SHOWING.has(type) ? createdAt : 0),
      wallets: newest([...(payer === undefined ? [] : [payer]), ...key], before?.wallets),
      emails: newest(email ? [email] : [], before?.emails),
      hasPaid: (before?.hasPaid ?? false) || !isGrant(event),
      counts: countsOf(before?.counts, counts),
    });
  }
  return [...seen.values()];
}

const newest = (found: readonly string[], before: readonly string[] = []): string[] =>
  [...new Set([...found, ...before])].slice(0, LISTED_MAX);

const hasAll = (known: readonly string[], found: readonly string[]): boolean => found.every((value) => known.includes(value));

const storable = (counts: Counts): Record<string, string> =>
  Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, value.toString()]));

export const parseTotals = (totals: CustomerRow['totals']): Counts =>
  Object.fromEntries(Object.entries(totals).map(([name, value]) => [name, BigInt(value)]));

/** Row after a sighting. Null if it would not differ, but for the time of the last one within a minute. */
function rowAfter(known: CustomerRow | null, { id, customer, merchantId, livemode, ...seen }: Sighting): CustomerRow | null {
  if (!known)
    return {
      ...newCustomerRow({ merchantId, livemode, now: seen.firstAt }, id, customer),
      ...{ wallets: seen.wallets, emails: seen.emails, totals: storable(seen.counts) },
      lastSeenAt: Math.max(seen.shownAt, seen.firstAt),
    };
  const isSame = Object.keys(seen.counts).length === 0 && hasAll(known.wallets, seen.wallets) && hasAll(known.emails, seen.emails);
  if (isSame && seen.shownAt < known.lastSeenAt + SEEN_EVERY_MS) return null;
  const isLater = known.walletAddress !== null && seen.shownAt > (known.erasedAt ?? 0);
  const hasReturned = known.status === 'erased' && isLater;
  return {
    ...known,
    status: hasReturned ? CUSTOMER.next(known.status, 'return') : known.status,
    wallets: newest(seen.wallets, known.wallets),
    emails: known.status === 'active' || isLater ? newest(seen.emails, known.emails) : [],
    totals: storable(countsOf(parseTotals(known.totals), seen.counts)),
    lastSeenAt: Math.max(known.lastSeenAt, seen.shownAt),
  };
}
