import { createHmac } from 'node:crypto';
import type { Endpoint, History, Received } from './history.ts';
import type { Body } from './host.ts';
import type { Books } from './payments.ts';
import { type Reader, repeated } from './reader.ts';

/** Differences of clocks between the creation of an endpoint and of the first events that it gets. */
const MARGIN_MS = 5_000;

/** Judges that each event arrives at each endpoint at least once, signed and unchanged, with a version of its own. */
export async function judgeEvents(reader: Reader, history: History, { shop, livemode, key }: Books): Promise<void> {
  const events = await reader.list('/v1/webhooks/events', key);
  judgeVersions(reader, events);
  for (const event of events) reader.expect(event.livemode === livemode, () => `event ${event.id} is of the other mode`);
  const known = new Set(events.map(({ id }) => id as string));
  for (const endpoint of shop.endpoints.filter((one) => one.livemode === livemode)) {
    const got = history.received.filter(({ box }) => box === endpoint.box);
    judgeReceived(reader, endpoint, got, known);
    const deliveries = await reader.list(`/v1/webhooks/deliveries?endpoint_id=${endpoint.endpointId}`, key);
    for (const event of events.filter(({ created_at }) => Date.parse(created_at) > endpoint.since + MARGIN_MS)) {
      const own = deliveries.filter(({ event_id }) => event_id === event.id);
      const isWaiting = own.some(({ status }) => status === 'pending' || status === 'retrying');
      const hasArrived = got.some(({ body, answered }) => answered === 200 && JSON.parse(body).id === event.id);
      reader.expect(hasArrived || isWaiting, () => {
        return `event ${event.id} (${event.type}) never reached endpoint ${endpoint.endpointId}, which has ${JSON.stringify(own)}`;
      });
    }
  }
}

function judgeReceived(reader: Reader, endpoint: Endpoint, got: readonly Received[], known: ReadonlySet<string>): void {
  const texts = new Map<string, string>();
  for (const { body, headers } of got) {
    const { id, type, test } = JSON.parse(body);
    reader.expect(
      isSigned(body, headers['x-svc-signature'] ?? '', endpoint.secrets),
      () => `a delivery of event ${id} has no valid signature`,
    );
    reader.expect(texts.get(id) === undefined || texts.get(id) === body, () => `event ${id} reached ${endpoint.box} with two contents`);
    texts.set(id, body);
    reader.expect(test === true || known.has(id), () => `event ${id} (${type}) reached ${endpoint.box}, and its shop does not list it`);
  }
}

function isSigned(body: string, header: string, secrets: readonly string[]): boolean {
  const [, at] = /^t=(\d+),/.exec(header) ?? [];
  const given = header.split(',').filter((part) => part.startsWith('v1='));
  return secrets.some((secret) => given.includes(`v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`));
}

const VERSIONED = ['payment_id', 'entitlement_id', 'membership_id', 'session_id'] as const;

/** Judges that the events of one object have versions of their own. */
function judgeVersions(reader: Reader, events: readonly Body[]): void {
  const versions = events.flatMap(({ type, data: { object } }) => {
    const id = VERSIONED.map((name) => object[name]).find((value) => value !== undefined && type.startsWith(kindOf(object)));
    return id === undefined || object.version === undefined ? [] : [`${type.split('.')[0]} ${id} version ${object.version} (${type})`];
  });
  for (const version of repeated(versions)) reader.find(`two events of ${version}`);
  for (const id of repeated(events.map((event) => event.id))) reader.find(`event ${id} is listed twice`);
}

const kindOf = (object: Body): string =>
  object.entitlement_id !== undefined ? 'entitlement' : object.payment_id !== undefined ? 'payment' : '';
