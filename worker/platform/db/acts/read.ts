import { hex } from '#core/encoding.ts';
import { eventIdOf } from '#core/ids.ts';
import { ACT_EVENTS_MAX, type ActEvent, type acts, type EventRow, type StoredEvent } from '../tables/events.ts';
import { decodeBody } from './body.ts';

type Envelope = Pick<StoredEvent, 'seq' | 'id' | 'merchantId' | 'livemode' | 'requestId' | 'createdAt' | 'fannedOutAt'>;

/** The order of the fields is that of archive lines. */
const storedEvent = (
  { seq, id, merchantId, livemode, requestId, createdAt, fannedOutAt }: Envelope,
  { subjectType, subjectId, subjectVersion, type, data, productId, paymentId, membershipId }: ActEvent,
): StoredEvent => ({
  ...{ seq, id, merchantId, livemode, subjectType, subjectId, subjectVersion, type, data },
  ...{ productId, paymentId, membershipId, requestId, createdAt, fannedOutAt },
});

/** Reads all events of an act. */
export const eventsOf = (act: typeof acts.$inferSelect): StoredEvent[] =>
  decodeBody(act.body).map((event, position) =>
    storedEvent({ ...act, seq: act.seq * ACT_EVENTS_MAX + position, id: eventIdOf(act.id, position) }, event),
  );

/** Reads events from rows of the view. Rows of one act are neighbours, so that its body is opened once. */
export function openEvents(rows: readonly EventRow[]): StoredEvent[] {
  let opened = { body: '', events: [] as ActEvent[] };
  return rows.map((row) => {
    if (row.body !== opened.body) opened = { body: row.body, events: decodeBody(hex.decode(row.body)) };
    return storedEvent(row, opened.events[row.seq % ACT_EVENTS_MAX]!);
  });
}

/** Reads what an act contains of one event, from its row of the view. */
export const actEventAt = ({ body, seq }: Pick<EventRow, 'body' | 'seq'>): ActEvent => decodeBody(hex.decode(body))[seq % ACT_EVENTS_MAX]!;
