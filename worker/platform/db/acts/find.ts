import { eq, type SQL, sql } from 'drizzle-orm';
import { actKeyOf } from '#core/ids.ts';
import { type EventType, isRare } from '#rules/events.ts';
import { boundId, idField, jsonRows, setOf, setOfIds } from '../among.ts';
import { NUMBERS_PER_MS } from '../partitions/numbers.ts';
import { ACT_EVENTS_MAX, events } from '../tables/events.ts';

interface Lead {
  id: string;
  version: number;
}

/** Keys of the acts that these subjects led, up to their versions. */
const keysOf = (leads: readonly Lead[]): string[] =>
  leads.flatMap(({ id, version }) => Array.from({ length: version }, (_, before) => actKeyOf(id, before + 1)));

/** SELECT of the payments (`about`) with the numbers of all acts about them (`seq`). */
export const actsOfPayments = (payments: readonly Lead[]): SQL => {
  const rows = jsonRows(payments.map(({ id, version }) => ({ id, keys: keysOf([{ id, version }]) })));
  return sql`SELECT ${idField('id')} AS about, acts.seq FROM ${rows} JOIN acts ON acts.payment_id = ${idField('id')}
    UNION SELECT ${idField('id')}, acts.seq FROM ${rows}, json_each(j.value, '$.keys') k JOIN acts ON substr(acts.id, 15) = k.value`;
};

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
export const firstSeqAt = (time: number): number => time * NUMBERS_PER_MS * ACT_EVENTS_MAX - 1;

/** SQL condition on `events`: the event of this number. */
export const isAt = (seq: number): SQL => sql`(act_seq = ${Math.floor(seq / ACT_EVENTS_MAX)} AND seq = ${seq})`;

/** Order of events: acts in the order of their index, and within an act as they were stored. A further term would sort all rows first. */
export const IN_ORDER = sql`act_seq`;

/** SQL condition on `events`: of this type. Acts with a rare type are found by their index, others are searched up to the act `last`. */
export const isOfType = (type: EventType, last: SQL): SQL =>
  isRare(type)
    ? sql`(act_rare_type = ${type} AND ${eq(events.type, type)})`
    : sql`(+${eq(events.type, type)} AND act_seq <= coalesce(${last}, ${Number.MAX_SAFE_INTEGER}))`;

/**
 * SQL condition on `events`: of an act about this payment or membership. `leads`: the subjects that may have led one, with their versions,
 * which are also the payments of a membership.
 */
export const isInActsAbout = (about: 'payment_id' | 'membership_id', subjectId: string, leads: readonly Lead[]): SQL =>
  sql`act_seq IN (SELECT seq FROM acts WHERE ${sql.raw(about)} = ${boundId(subjectId)}
    UNION SELECT seq FROM acts WHERE ${hasKeyIn(sql`SELECT value FROM ${listOf(keysOf(leads))}`)})`;

/** Newest acts that a lead led, of `isInActsOf`. */
const NEWEST_LED = 20;

/** SQL condition on `events`: of an act about one of these payments or memberships, or of the newest that a lead led. */
export const isInActsOf = (
  merchantId: string,
  about: { payments: readonly string[]; memberships: readonly string[]; leads: readonly Lead[] },
): SQL => {
  const keys = about.leads.flatMap(({ id, version }) =>
    Array.from({ length: Math.min(version, NEWEST_LED) }, (_, later) => actKeyOf(id, version - later, merchantId)),
  );
  return sql`act_seq IN (SELECT seq FROM acts WHERE payment_id IN ${setOfIds(about.payments)}
    UNION SELECT seq FROM acts WHERE membership_id IN ${setOfIds(about.memberships)}
    UNION SELECT seq FROM acts WHERE ${hasKeyIn(sql`SELECT value FROM ${listOf(keys)}`)})`;
};

const hasKeyIn = (keys: SQL): SQL => sql`substr(acts.id, 15) IN (${keys})`;

const listOf = (ids: readonly string[] | SQL): SQL => (Array.isArray(ids) ? setOf(ids) : sql`(${ids})`);
