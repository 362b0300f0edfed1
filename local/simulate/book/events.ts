import { createHmac } from 'node:crypto';
import type { Endpoint, History, Received, Shop } from './history.ts';
import type { Body } from './host.ts';
import type { Books } from './payments.ts';
import { type Reader, repeated } from './reader.ts';

/** Differences of clocks between the creation of an endpoint and of the first events that it gets. */
const MARGIN_MS = 5_000;
/** Age from which an event must have deliveries. Younger ones arose while the judge read. */
const FAN_OUT_MS = 90_000;

/** Time that an attempt may take from reading its endpoint to signing. */
const SIGNING_MS = 90_000;
/** Secrets that sign at once, as documented: the present one and five before. */
const OVERLAPPING_MAX = 6;

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
    for (const event of events.filter((one) => isDue(reader, endpoint, one) && (livemode || isOfShop(shop, one)))) {
      const own = deliveries.filter(({ event_id }) => event_id === event.id);
      const isWaiting = own.some(({ status }) => status === 'pending' || status === 'retrying');
      const hasArrived = got.some(({ body, answered }) => answered === 200 && JSON.parse(body).id === event.id);
      reader.expect(hasArrived || isWaiting, () => {
        return `event ${event.id} (${event.type}) never reached endpoint ${endpoint.endpointId}, which has ${JSON.stringify(own)}`;
      });
    }
  }
}

/** False for events about the endpoint itself, which only its shop's other endpoints get, and for those that may yet be fanned out. */
function isDue({ host }: Reader, { since, endpointId }: Endpoint, { created_at, subject }: Body): boolean {
  const at = Date.parse(created_at);
  return subject.id !== endpointId && at > since + MARGIN_MS && at < host.now() - FAN_OUT_MS;
}

/** False for events of sandbox scenarios, which have products and a clock of their own. */
const isOfShop = ({ products }: Shop, { data }: Body): boolean => products.some(({ productId }) => productId === data.object.product_id);

function judgeReceived(reader: Reader, endpoint: Endpoint, got: readonly Received[], known: ReadonlySet<string>): void {
  const texts = new Map<string, string>();
  for (const { body, headers } of got) {
    const { id, type, test } = JSON.parse(body);
    reader.expect(isSigned(body, headers['x-svc-signature'] ?? '', endpoint), () => `a delivery of event ${id} has no valid signature`);
    reader.expect(texts.get(id) === undefined || texts.get(id) === body, () => `event ${id} reached ${endpoint.box} with two contents`);
    texts.set(id, body);
    reader.expect(test === true || known.has(id), () => `event ${id} (${type}) reached ${endpoint.box}, and its shop does not list it`);
  }
}

function isSigned(body: string, header: string, { secrets }: Endpoint): boolean {
  const [, at = 0] = /^t=(\d+),/.exec(header) ?? [];
  const given = header.split(',').filter((part) => part.startsWith('v1='));
  const signs = ({ secret }: { secret: string }) =>
    given.includes(`v1=${createHmac('sha256', secret).update(`${at}.${body}`).digest('hex')}`);
  const isLive = ({ since, until }: Endpoint['secrets'][number]) =>
    since < Number(at) * 1000 - SIGNING_MS && Number(at) * 1000 + MARGIN_MS < until;
  return secrets.some(signs) && secrets.slice(-OVERLAPPING_MAX).filter(isLive).every(signs);
}

/**
 * Judges that no event is listed twice, and that no two have the same version of a subject. Versions define the order. `created_at` does
 * not: it is the clock of the call that stored the event, which may have begun before an earlier version was stored.
 */
function judgeVersions(reader: Reader, events: readonly Body[]): void {
  const versions = events.map(({ subject: { type, id, version } }) => `${type} ${id} version ${version}`);
  for (const version of repeated(versions)) reader.find(`two events of ${version}`);
  for (const id of repeated(events.map((event) => event.id))) reader.find(`event ${id} is listed twice`);
}
