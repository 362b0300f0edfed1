import { entitlementIdOf } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Job } from '#platform/context.ts';
import type { EventType } from '#rules/events.ts';
import { EVENT_CATALOG } from '../../../worker/published/event-catalog.ts';
import { testEnv } from '../runner/env.ts';
import { pause } from '../runner/queues.ts';
import type { Answer, Merchant, World } from '../world.ts';
import { joinQueues } from './entitlement.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

const SESSION_MS = 30_000;
const POLL_MS = 100;
/** A look in vain is counted, so they must not come so fast that an alarm on a busy machine comes after the last. */
const DELAY_MAX_MS = 250;

/** A call of the sandbox with the merchant's sandbox key, unless another is named. */
export const callTesting = (
  w: World,
  merchant: Merchant,
  method: string,
  path: string,
  body?: unknown,
  key = merchant.sandboxKey,
): Promise<Answer<Body>> => w.call(method, `/v1/testing/${path}`, { key, ...(body === undefined ? {} : { body }) });

/** The object of a session's customer; what it sends comes to the world's queue. */
export async function joinCustomer(w: World, merchant: Merchant, sessionId: string) {
  const productId = await testEnv.DB.prepare('SELECT product_id AS id FROM sandbox_sessions WHERE id = ?')
    .bind(sessionId)
    .first<string>('id');
  return joinEntitlement(
    w,
    merchant.userId,
    false,
    entitlementIdOf(merchant.userId, false, productId!, { customerRef: `${sessionId}:buyer` }),
  );
}

/** The same of any customer. Its alarm rings by itself, as in a deployment. */
export async function joinEntitlement(w: World, merchantId: string, livemode: boolean, entitlementId: string) {
  const stub = testEnv.ENTITLEMENT.getByName(`${merchantId}:${livemode ? 'live' : 'sandbox'}:${entitlementId}`);
  await joinQueues(w, stub);
  const isTold = async (): Promise<boolean> => {
    const said = await stub.read({ now: Date.now() });
    const copy = await testEnv.DB.prepare('SELECT version FROM entitlements WHERE id = ?').bind(entitlementId).first<number>('version');
    return (said?.version ?? null) === copy;
  };
  return {
    stub,
    /** Brings what the queue holds until the database has what the object says. */
    untilTold: async () => {
      for (const endsAt = Date.now() + SESSION_MS; !(await isTold()); await pause(POLL_MS)) {
        if (Date.now() > endsAt) throw new Error(`entitlement ${entitlementId} never reached the database`);
        await w.deliver();
      }
    },
  };
}

/** Messages that the queue delivers at this moment. One with a delay waits for it, unless all there are have one: then the shortest is waited for. */
async function takeReady(w: World): Promise<Job[]> {
  const held = w.queue.sent.splice(0);
  const delay = held.length === 0 ? POLL_MS / SECOND : Math.min(...held.map(({ delaySeconds }) => delaySeconds));
  // A delay says what comes first. Waiting it out would only move the clock of the machine, which no scenario reads.
  if (delay > 0) await pause(Math.min(delay * SECOND, DELAY_MAX_MS));
  w.queue.sent.push(...held.filter(({ delaySeconds }) => delaySeconds > delay));
  return held.filter(({ delaySeconds }) => delaySeconds <= delay).map(({ job }) => job);
}

/** Brings what the objects of a session's metered sessions send to the world's queue. */
async function joinMetered(w: World, sessionId: string): Promise<void> {
  const { results } = await testEnv.DB.prepare('SELECT id FROM metered_sessions WHERE customer_ref = ?')
    .bind(`${sessionId}:buyer`)
    .all<{ id: string }>();
  for (const { id } of results) await joinQueues(w, testEnv.METERED_SESSION.getByName(id));
}

/** Brings what the queues hold, webhooks too, until a session has come to its end. `rounds`: no longer than so many. */
export async function untilEnded(w: World, merchant: Merchant, sessionId: string, rounds = Number.POSITIVE_INFINITY): Promise<Body> {
  await joinCustomer(w, merchant, sessionId);
  const endsAt = Date.now() + SESSION_MS;
  for (let round = 0; ; round++) {
    const { body } = await callTesting(w, merchant, 'GET', `sessions/${sessionId}`);
    if (body.status !== 'running' || round >= rounds) return body;
    if (Date.now() > endsAt) throw new Error(`still running: ${JSON.stringify(body)}`);
    await joinMetered(w, sessionId);
    await w.deliver(await takeReady(w));
    await w.attempt();
  }
}

/** A session of a scenario, from its beginning to its end. */
export async function runScenario(w: World, merchant: Merchant, scenario: string, asked: object = {}): Promise<Body> {
  const { status, body } = await callTesting(w, merchant, 'POST', 'sessions', { scenario, ...asked });
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return untilEnded(w, merchant, body.session_id);
}

export const typesOf = ({ steps }: Body): string[] => steps.flatMap(({ event_type }: Body) => event_type ?? []);

/** What two sessions of one seed have in common: all but ids and times. */
export const sequenceOf = ({ steps }: Body): unknown[] => steps.map(({ action, event_type, state }: Body) => [action, event_type, state]);

/** Scenarios of what renews itself. */
export const RENEWING_NAMES = [
  'subscription_authorized',
  'subscription_renewed',
  'subscription_past_due',
  'subscription_cancelled',
  'subscription_requires_reapproval',
];

interface Told {
  type: EventType;
  livemode: number;
  data: string;
}

/** What a session recorded, in its order. */
export const eventsOf = async (w: World, sessionId: string): Promise<Told[]> =>
  (
    await w.env.DB.prepare('SELECT type, livemode, data FROM events WHERE request_id = ? ORDER BY seq')
      .bind(`sandbox_${sessionId}`)
      .all<Told>()
  ).results;

/** In what an event of a sandbox differs from a live one, but for its mode. */
export function unlikeLive({ type, livemode, data }: Told): string[] {
  const { object } = JSON.parse(data);
  const { error } = EVENT_CATALOG[type].object.safeParse(object);
  const isOfSandbox = livemode === 0 && (!('livemode' in object) || object.livemode === false);
  return [...(error ? [`${type}: ${error.message}`] : []), ...(isOfSandbox ? [] : [`${type} is live`])];
}
