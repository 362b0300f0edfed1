import { getTableColumns, isNull, type SQL, sql } from 'drizzle-orm';
import { hex } from '#core/encoding.ts';
import { actIdOf } from '#core/ids.ts';
import type { Ctx, Db, Shard } from '#platform/context.ts';
import { EVENT_TYPES, eraseNames, FOLLOWED_EVENT_TYPES, hasNames, isRare, type NewEvent } from '#rules/events.ts';
import { fieldAs, fieldOf, idField, jsonRows } from '../among.ts';
import { nextNumber } from '../partitions/numbers.ts';
import { ACT_EVENTS_MAX, type ActEvent, acts } from '../tables/events.ts';
import { decodeBody, encodeBody } from './body.ts';

export type NewAct = Omit<typeof acts.$inferInsert, 'seq' | 'types' | 'body' | 'isPersonal' | 'fannedOutAt' | 'nextTryAt'> & {
  events: ActEvent[];
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
  id: actIdOf(ctx.now, event.merchantId, event.subject.id, event.subject.version),
  merchantId: event.merchantId,
  livemode: event.livemode,
  paymentId: event.paymentId ?? null,
  membershipId: event.membershipId ?? null,
  rareType: rareTypeOf(event),
  events: [actEventOf(event)],
  requestId,
  createdAt: ctx.now,
  isFollowed: isFollowed(event),
});

const rareTypeOf = ({ type }: NewEvent) => (isRare(type) ? type : null);
const FOLLOWED: ReadonlySet<string> = new Set(FOLLOWED_EVENT_TYPES);
const isFollowed = ({ type, isFollowed = true }: NewEvent): boolean => isFollowed && FOLLOWED.has(type);
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
  act.isFollowed ||= isFollowed(event);
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

/** SQL condition: a handler of the service or an enabled endpoint waits for the act in `j`. */
const IS_AWAITED = sql`${fieldOf('isFollowed')} OR EXISTS (SELECT 1 FROM webhook_endpoints w
  WHERE w.merchant_id = ${idField('merchantId')} AND w.livemode = ${fieldOf('livemode')} AND w.status = 'enabled')`;

/**
 * Plans one INSERT of the acts, in order, from `source` or `j` alone. An act that nothing waits for is stored as fanned out. The statement
 * returns id and state of each stored act.
 */
export function insertActs(ctx: Shard, made: readonly NewAct[], source = sql`WHERE true`) {
  const computed: Record<string, SQL> = {
    seq: nextNumber(ctx, sql`(SELECT max(seq) FROM acts)`, sql`j.key`),
    body: sql`unhex(${fieldOf('body')})`,
    fannedOutAt: sql`CASE WHEN ${IS_AWAITED} THEN NULL ELSE ${ctx.wallNow} END`,
  };
  const values = Object.entries(getTableColumns(acts)).map(([name, column]) => computed[name] ?? fieldAs(column, name));
  return ctx.db
    .insert(acts)
    .select(sql`SELECT ${sql.join(values, sql`, `)} FROM ${jsonRows(made.map(rowOf))} ${source}`)
    .returning({ id: acts.id, isWaiting: sql<number>`${isNull(acts.fannedOutAt)}` });
}

export const waitingOf = (stored: readonly { id: string; isWaiting: number }[]): string[] =>
  stored.filter(({ isWaiting }) => isWaiting).map(({ id }) => id);

/** Row of an act, without the subjects by which it is found without an index of their own. */
function rowOf({ events, ...act }: NewAct): object {
  const { subjectType, subjectId } = events[0]!;
  return {
    ...act,
    ...contentsOf(events),
    paymentId: act.paymentId === subjectId ? null : act.paymentId,
    membershipId: act.membershipId === subjectId || subjectType === 'payment' ? null : act.membershipId,
  };
}

/** Columns of an act that contain its events. The body is in hexadecimal digits, because JSON has no bytes. */
const contentsOf = (events: readonly ActEvent[]) => ({
  types: events.map(({ type }) => EVENT_TYPES.indexOf(type)).join(),
  body: hex.encode(encodeBody(events)),
  isPersonal: events.some(hasNames),
});

/** Digits of the bodies in one statement. The database refuses a parameter over 2 MB. */
const ERASED_DIGITS_MAX = 500_000;

/** Plans the erasure of personal data in these acts, as they were read: in the first ones, at least one, that fit one statement. */
export function eraseActs(db: Db, named: readonly (typeof acts.$inferSelect)[]) {
  const rows: ({ seq: number } & ReturnType<typeof contentsOf>)[] = [];
  let digits = 0;
  for (const { seq, body } of named) {
    const events = decodeBody(body);
    events.forEach(eraseNames);
    const row = { seq, ...contentsOf(events) };
    digits += row.body.length;
    if (digits > ERASED_DIGITS_MAX && rows.length > 0) break;
    rows.push(row);
  }
  return storeContents(db, rows, sql`is_personal`);
}

const storeContents = (db: Db, rows: readonly object[], is: SQL) =>
  db
    .update(acts)
    .set({ body: sql`unhex(${fieldOf('body')})`, isPersonal: sql`${fieldOf('isPersonal')}` })
    .from(jsonRows(rows))
    .where(sql`acts.seq = ${fieldOf('seq')} AND ${is}`);

/** Plans other events of an act. */
export const storeEvents = (db: Db, { seq }: { seq: number }, changed: readonly ActEvent[]) =>
  storeContents(db, [{ seq, ...contentsOf(changed) }], sql`true`);
