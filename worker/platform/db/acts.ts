import { getTableColumns, isNull, type SQL, sql } from 'drizzle-orm';
import { actIdOf, actKeyOf, eventIdOf } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { type EventType, FOLLOWED_EVENT_TYPES, isRare, type NewEvent } from '#rules/events.ts';
import { jsonRows } from './among.ts';
import { ACT_EVENTS_MAX, ACTS_PER_MS, type ActEvent, acts, events } from './tables/events.ts';

export type NewAct = Omit<typeof acts.$inferInsert, 'seq' | 'fannedOutAt' | 'nextTryAt'> & {
  /** True if the service itself acts on one of the events. */
  isFollowed: boolean;
};

/**
 * Groups the events of a change into acts, in order. UNIQUE(first subject, version) is the lock of an act, so an event joins another's act
 * only if its own subject is created by this change, has the version after one in the act, or is locked by its row. A sandbox session may
 * hold single events back, so it stores each as an act of its own.
 */
export function actsOf(ctx: Shard, changed: readonly NewEvent[]): NewAct[] {
  const made: NewAct[] = [];
  for (const event of changed) {
    const last = made.at(-1);
    if (last && !ctx.sandbox?.sessionId && mayJoin(last, event)) join(last, event);
    else made.push(actOf(ctx, event));
  }
  return made;
}

/** An act of this event alone. */
export const actOf = (ctx: Ctx, event: NewEvent, requestId: string = ctx.cause): NewAct => ({
  id: actIdOf(ctx.now, event.subject.id, event.subject.version),
  merchantId: event.merchantId,
  livemode: event.livemode,
  paymentId: event.paymentId ?? null,
  membershipId: event.membershipId ?? null,
  rareType: rareTypeOf(event),
  events: [actEventOf(event)],
  requestId,
  createdAt: ctx.now,
  isFollowed: FOLLOWED.has(event.type),
});

const rareTypeOf = ({ type }: NewEvent) => (isRare(type) ? type : null);
const FOLLOWED: ReadonlySet<string> = new Set(FOLLOWED_EVENT_TYPES);
const agree = (one: unknown, other: unknown): boolean => one === other || (one ?? null) === null || (other ?? null) === null;

function mayJoin(act: NewAct, event: NewEvent): boolean {
  const { subject } = event;
  const follows = act.events.some((one) => one.subjectId === subject.id && one.subjectVersion === subject.version - 1);
  return (
    act.events.length < ACT_EVENTS_MAX &&
    (subject.version === 1 || follows || event.isLockedByRow === true) &&
    act.merchantId === event.merchantId &&
    act.livemode === event.livemode &&
    agree(act.paymentId, event.paymentId) &&
    agree(act.membershipId, event.membershipId) &&
    agree(act.rareType, rareTypeOf(event))
  );
}

function join(act: NewAct, event: NewEvent): void {
  act.paymentId ??= event.paymentId ?? null;
  act.membershipId ??= event.membershipId ?? null;
  act.rareType ??= rareTypeOf(event);
  act.isFollowed ||= FOLLOWED.has(event.type);
  act.events.push(actEventOf(event));
}

export const actEventOf = ({ type, subject, object, previous, related, productId, paymentId, membershipId }: NewEvent): ActEvent => ({
  type,
  subjectType: subject.type,
  subjectId: subject.id,
  subjectVersion: subject.version,
  data: { object, ...(previous ? { previous } : {}), ...related },
  productId: productId ?? null,
  paymentId: paymentId ?? null,
  membershipId: membershipId ?? null,
});

const of = (key: string): SQL => sql.raw(`j.value ->> '${key}'`);

/** SQL condition: a handler of the service or an enabled endpoint waits for the act in `j`. */
const IS_AWAITED = sql`${of('isFollowed')} OR EXISTS (SELECT 1 FROM webhook_endpoints w
  WHERE w.merchant_id = ${of('merchantId')} AND w.livemode = ${of('livemode')} AND w.status = 'enabled')`;

/**
 * Plans one INSERT of the acts, in order, from `source` or `j` alone. An act that nothing waits for is stored as fanned out. The statement
 * returns id and state of each stored act.
 */
export function insertActs(ctx: Shard, made: readonly NewAct[], source = sql`WHERE true`) {
  const computed: Record<string, SQL> = {
    seq: sql`max((SELECT coalesce(max(seq), 0) FROM acts) + 1, ${ctx.wallNow * ACTS_PER_MS}) + j.key`,
    fannedOutAt: sql`CASE WHEN ${IS_AWAITED} THEN NULL ELSE ${ctx.wallNow} END`,
  };
  const values = Object.keys(getTableColumns(acts)).map((name) => computed[name] ?? of(name));
  return ctx.db
    .insert(acts)
    .select(sql`SELECT ${sql.join(values, sql`, `)} FROM ${jsonRows(made.map(indexed))} ${source}`)
    .returning({ id: acts.id, isWaiting: sql<number>`${isNull(acts.fannedOutAt)}` });
}

export const waitingOf = (stored: readonly { id: string; isWaiting: number }[]): string[] =>
  stored.filter(({ isWaiting }) => isWaiting).map(({ id }) => id);

/** Leaves out the subjects by which the act is found without an index of their own. */
const indexed = (act: NewAct): NewAct => {
  const { subjectType, subjectId } = act.events[0]!;
  return {
    ...act,
    paymentId: act.paymentId === subjectId ? null : act.paymentId!,
    membershipId: act.membershipId === subjectId || subjectType === 'payment' ? null : act.membershipId!,
  };
};

interface Lead {
  id: string;
  version: number;
}

/** Keys of the acts that these subjects led, up to their versions. */
const keysOf = (leads: readonly Lead[]): string[] =>
  leads.flatMap(({ id, version }) => Array.from({ length: version }, (_, before) => actKeyOf(id, before + 1)));

/** SELECT of the payments (`about`) with the numbers of all acts about them (`seq`). */
export const actsOfPayments = (payments: readonly Lead[]): SQL => {
  const rows = jsonList(payments.map(({ id, version }) => ({ id, keys: keysOf([{ id, version }]) })));
  return sql`SELECT l.value ->> 'id' AS about, acts.seq FROM ${rows} l JOIN acts ON acts.payment_id = l.value ->> 'id'
    UNION SELECT l.value ->> 'id', acts.seq FROM ${rows} l, json_each(l.value, '$.keys') k JOIN acts ON substr(acts.id, 15) = k.value`;
};

const jsonList = (rows: readonly object[]): SQL => sql`json_each(${JSON.stringify(rows)})`;

/** SQL condition on `acts`: one of these, by their unique index. */
export const isAct = (actIds: readonly string[] | SQL): SQL => hasKeyIn(sql`SELECT substr(value, 15) FROM ${listOf(actIds)}`);

/** SQL condition on `events`: events of these acts. */
export const isOfActs = (actIds: readonly string[]): SQL => sql`act_key IN (SELECT substr(value, 15) FROM ${listOf(actIds)})`;

/** SQL condition on `events`: one of these, by the unique index of their acts. */
export const isEvent = (eventIds: readonly string[] | SQL): SQL =>
  sql`(act_key IN (SELECT substr(value, 15, 15) FROM ${listOf(eventIds)}) AND ${events.id} IN (SELECT value FROM ${listOf(eventIds)}))`;

/** SQL condition on `events`: later than the event of this number. */
export const isAfter = (seq: number | SQL): SQL =>
  sql`(act_seq >= ${typeof seq === 'number' ? Math.floor(seq / ACT_EVENTS_MAX) : sql`${seq} / ${ACT_EVENTS_MAX}`} AND seq > ${seq})`;

/** Number that no event stored at this time or later has. */
export const firstSeqAt = (time: number): number => time * ACTS_PER_MS * ACT_EVENTS_MAX - 1;

/** SQL condition on `events`: the event of this number. */
export const isAt = (seq: number): SQL => sql`(act_seq = ${Math.floor(seq / ACT_EVENTS_MAX)} AND seq = ${seq})`;

/** Order of events: acts in the order of their index, and within an act as they were stored. A further term would sort all rows first. */
export const IN_ORDER = sql`act_seq`;

/** SQL condition on `events`: of this type. Acts with a rare type are found by their index, others are searched up to the act `last`. */
export const isOfType = (type: EventType, last: SQL): SQL =>
  isRare(type)
    ? sql`(act_rare_type = ${type} AND ${events.type} = ${type})`
    : sql`(+${events.type} = ${type} AND act_seq <= coalesce(${last}, ${Number.MAX_SAFE_INTEGER}))`;

/**
 * SQL condition on `events`: of an act about this payment or membership. `leads`: the subjects that may have led one, with the versions that
 * they have reached. A membership's payments are among them.
 */
export const isInActsAbout = (about: 'payment_id' | 'membership_id', subjectId: string, leads: readonly Lead[]): SQL =>
  sql`act_seq IN (SELECT seq FROM acts WHERE ${sql.raw(about)} = ${subjectId}
    UNION SELECT seq FROM acts WHERE ${hasKeyIn(sql`SELECT value FROM ${listOf(keysOf(leads))}`)})`;

const hasKeyIn = (keys: SQL): SQL => sql`substr(acts.id, 15) IN (${keys})`;

const listOf = (ids: readonly string[] | SQL): SQL => (Array.isArray(ids) ? sql`json_each(${JSON.stringify(ids)})` : sql`(${ids})`);

/** Ids of the events of an act. */
export const eventIdsOf = ({ id, events }: Pick<NewAct, 'id' | 'events'>): string[] => events.map((_, position) => eventIdOf(id, position));
