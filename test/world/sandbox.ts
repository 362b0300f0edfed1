import { runDurableObjectAlarm } from 'cloudflare:test';
import { entitlementIdOf } from '#core/ids.ts';
import type { EventType } from '#rules/events.ts';
import { EVENT_CATALOG } from '../../worker/published/event-catalog.ts';
import { interceptJobs } from './entitlement.ts';
import { testEnv } from './env.ts';
import { tellDatabase } from './metered.ts';
import type { Answer, Merchant, World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

const SESSION_MS = 30_000;

/** A call of the sandbox with the merchant's sandbox key, unless another is named. */
export const callTesting = (
  w: World,
  merchant: Merchant,
  method: string,
  path: string,
  body?: unknown,
  key = merchant.sandboxKey,
): Promise<Answer<Body>> => w.call(method, `/v1/testing/${path}`, { key, ...(body === undefined ? {} : { body }) });

/** The object of a session's customer, which tells what happened to it as soon as the world asks. */
export async function listenToCustomer(merchant: Merchant, sessionId: string) {
  const productId = await testEnv.DB.prepare('SELECT product_id AS id FROM sandbox_sessions WHERE id = ?')
    .bind(sessionId)
    .first<string>('id');
  return listenToEntitlement(
    merchant.userId,
    false,
    entitlementIdOf(merchant.userId, false, productId!, { customerRef: `${sessionId}:buyer` }),
  );
}

/** The same of any customer. */
export async function listenToEntitlement(merchantId: string, livemode: boolean, entitlementId: string) {
  const stub = testEnv.ENTITLEMENT.getByName(`${merchantId}:${livemode ? 'live' : 'sandbox'}:${entitlementId}`);
  const jobs = await interceptJobs(stub);
  return {
    tell: async () => {
      await runDurableObjectAlarm(stub);
      return jobs.messages.splice(0);
    },
  };
}

/** What the objects of a session's metered sessions have counted is in the database. */
async function tellMetered(w: World, sessionId: string): Promise<void> {
  const { results } = await testEnv.DB.prepare('SELECT id FROM metered_sessions WHERE customer_ref = ?')
    .bind(`${sessionId}:buyer`)
    .all<{ id: string }>();
  for (const { id } of results) await tellDatabase(w, id);
}

/** Brings what the queues hold, webhooks too, until a session has come to its end. `rounds`: no longer than so many. */
export async function untilEnded(w: World, merchant: Merchant, sessionId: string, rounds = Number.POSITIVE_INFINITY): Promise<Body> {
  const customer = await listenToCustomer(merchant, sessionId);
  const endsAt = Date.now() + SESSION_MS;
  for (let round = 0; ; round++) {
    const { body } = await callTesting(w, merchant, 'GET', `sessions/${sessionId}`);
    if (body.status !== 'running' || round >= rounds) return body;
    if (Date.now() > endsAt) throw new Error(`still running: ${JSON.stringify(body)}`);
    await w.deliver();
    await w.deliver(await customer.tell());
    await tellMetered(w, sessionId);
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
