import { utcDayOf } from '#core/days.ts';
import { DAY, iso } from '#core/time.ts';
import type { Shard } from '#platform/context.ts';
import type { StoredEvent } from '#platform/db/tables/events.ts';
import { logRequest } from '#platform/log.ts';
import { type Counts, countsOf, type Movement, movementsOf } from '#rules/figures/figures.ts';
import { factsOfRow, MOVING_TYPES, movementsOfEvent } from '../movements.ts';
import { type DayOwner, drawDayOwners, firstOf, loadCheckedDay, noteChecked, type PageEnd, readPayments, readTold } from './store.ts';

/** Merchants of one night, anew at random. */
const MERCHANTS_MAX = 40;
const PAGE = 2000;
/** Payments that one night reads of them all: a bound on one invocation. Whose turn this cuts off is drawn earlier in another night. */
const PAYMENTS_MAX = 400_000;
/** Events that come while a merchant's payments are read, and those not folded yet. */
const LATER_MAX = 2000;

/** What payments bring; members and deliveries leave no rows that tell of a day. */
const isOfPayments = (name: string): boolean =>
  /^(?:sessions|confirmed|failed|expired|receipts|[a-z]+_(?:count|gross|fee|refunded))$/.test(name);

/**
 * Once a day (UTC): are the figures of the day before what its payments add up to? Of merchants chosen at random, each name that
 * differs is a line in the log; nothing is changed. Answers how many merchants were compared.
 */
export async function sweepFigureCheck(ctx: Shard): Promise<number> {
  const day = utcDayOf(ctx.wallNow) - DAY;
  const date = iso(day).slice(0, 10);
  const cursor = await loadCheckedDay(ctx.db);
  if (!cursor || cursor.phase !== null || cursor.checkedDay === date) return 0;
  let compared = 0;
  let left = PAYMENTS_MAX;
  for (const drawn of await drawDayOwners(ctx.db, day, MERCHANTS_MAX)) {
    if (left <= 0) break;
    const owner = { ...drawn, day };
    const paid = await readPaid(ctx, owner, left);
    left -= paid?.count ?? left;
    const sums = paid && (await readSums(ctx, owner, paid));
    if (!sums) continue;
    compared++;
    for (const name of differencesOf(sums))
      logRequest({ request_id: ctx.requestId, audit: 'figures', account_id: owner.merchantId, subject_id: date, code: name });
  }
  await noteChecked(ctx.db, date);
  return compared;
}

const ofDay = (day: number, movements: readonly Movement[]): Counts =>
  countsOf(...movements.filter(({ at }) => at >= day && at < day + DAY).map(({ counts }) => counts));

/** What payments add up to, each as its page showed it. */
interface Paid {
  counts: Counts;
  count: number;
  /** Where each page ends, and the last event that its payments have in them; of the last page all that is left. */
  pages: { end: PageEnd | null; seq: number }[];
}

/** Page after page, so that a merchant with many payments is no more in memory than any other; null for more than `max`. */
async function readPaid(ctx: Shard, owner: DayOwner, max: number): Promise<Paid | null> {
  const paid: Paid = { counts: {}, count: 0, pages: [] };
  for (let after: PageEnd | null = null; paid.count <= max; ) {
    const { rows, seq }: Awaited<ReturnType<typeof readPayments>> = await readPayments(ctx.db, owner, after, PAGE);
    const movements = rows.flatMap((payment) => movementsOf(factsOfRow(payment)));
    paid.counts = countsOf(paid.counts, ofDay(owner.day, movements));
    paid.count += rows.length;
    const isLast = rows.length < PAGE;
    const { createdAt, id } = rows.at(-1) ?? { createdAt: 0, id: '' };
    after = { createdAt, id };
    paid.pages.push({ end: isLast ? null : after, seq });
    if (isLast) return paid;
  }
  return null;
}

/** Both sums at one moment: what happened to payments after their page was read is added to it. Null where too much happened. */
async function readSums(ctx: Shard, owner: DayOwner, { counts, pages }: Paid): Promise<DaySums | null> {
  const read = await readTold(ctx.db, owner, MOVING_TYPES, pages[0]!.seq, LATER_MAX);
  if (!read) return null;
  const { quarters, later, foldedSeq } = read;
  const unfolded = later.filter(({ seq }) => seq > foldedSeq).flatMap(movementsOfEvent);
  const unread = later.filter((event) => isAfterPage(owner.day, pages, event)).flatMap(movementsOfEvent);
  return {
    told: countsOf(...Object.values(quarters), ofDay(owner.day, unfolded)),
    paid: countsOf(counts, ofDay(owner.day, unread)),
  };
}

/** Whether what an event tells of a payment was not yet to be seen when the page of that payment was read. */
function isAfterPage(day: number, pages: Paid['pages'], { seq, subjectType, subjectId, data }: StoredEvent): boolean {
  if (subjectType !== 'payment') return false;
  const createdAt = Date.parse((data.object as { created_at: string }).created_at);
  if (createdAt < firstOf(day) || createdAt >= day + DAY) return false;
  const isIn = ({ end }: Paid['pages'][number]) =>
    end === null || createdAt < end.createdAt || (createdAt === end.createdAt && subjectId <= end.id);
  return seq > pages.find(isIn)!.seq;
}

/** What the figures tell of a day, and what its payments add up to. */
interface DaySums {
  told: Counts;
  paid: Counts;
}

/** Names of payments' figures that differ. Pure. */
function differencesOf({ told, paid }: DaySums): string[] {
  const names = [...new Set([...Object.keys(told), ...Object.keys(paid)])].filter(isOfPayments);
  return names.filter((name) => (told[name] ?? 0n) !== (paid[name] ?? 0n)).sort();
}
