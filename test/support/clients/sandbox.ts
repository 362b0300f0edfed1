import { entitlementIdOf } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Job } from '#platform/context.ts';
import type { EventType } from '#rules/events.ts';
import { EVENT_CATALOG } from '../../../worker/published/event-catalog.ts';
import { prepareOnEvents } from '../fixtures/acts.ts';
import { testEnv } from '../runner/env.ts';
import { pause } from '../runner/queues.ts';
import type { Answer, Merchant, World } from '../world.ts';
import { joinQueues } from './entitlement.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const PROJECTION_MS = 30_000;
const POLL_MS = 100;
/** Rounds without a new step after which a session hangs. Counted in rounds, because a busy machine plays them slower. */
const IDLE_ROUNDS_MAX = 300;
/** Upper bound of a wait. Reads without a result are counted, so the wait must be long enough for an alarm on a busy machine. */
const DELAY_MAX_MS = 250;

export const callTesting = (
  w: World,
  merchant: Merchant,
  method: string,
  path: string,
  body?: unknown,
  key = merchant.sandboxKey,
): Promise<Answer<Body>> => w.call(method, `/v1/testing/${path}`, { key, ...(body === undefined ? {} : { body }) });

/** Joins the object of a session's customer to the world's queue. */
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

/** Joins any customer's object to the world's queue. The alarm rings by itself, as in a deployment. */
export async function joinEntitlement(w: World, merchantId: string, livemode: boolean, entitlementId: string) {
  const stub = testEnv.ENTITLEMENT.getByName(`${merchantId}:${livemode ? 'live' : 'sandbox'}:${entitlementId}`);
  await joinQueues(w, stub);
  const isProjected = async (): Promise<boolean> => {
    const said = await stub.read({ now: Date.now() });
    const copy = await testEnv.DB.prepare('SELECT version FROM entitlements WHERE id = ?').bind(entitlementId).first<number>('version');
    return (said?.version ?? null) === copy;
  };
  return {
    stub,
    /** Delivers the queue until the database has the object's state. */
    waitForProjection: async () => {
      for (const endsAt = Date.now() + PROJECTION_MS; !(await isProjected()); await pause(POLL_MS)) {
        if (Date.now() > endsAt) throw new Error(`entitlement ${entitlementId} never reached the database`);
        await w.deliver();
      }
    },
  };
}

/**
 * Takes the messages that the queue delivers now. Delayed ones are taken only if all are delayed: then the shortest delay is waited for.
 */
async function takeReady(w: World): Promise<Job[]> {
  const held = w.queue.sent.splice(0);
  const delay = held.length === 0 ? POLL_MS / SECOND : Math.min(...held.map(({ delaySeconds }) => delaySeconds));
  // The delay decides the order. Its full length would only move the machine's clock, which no scenario reads.
  if (delay > 0) await pause(Math.min(delay * SECOND, DELAY_MAX_MS));
  w.queue.sent.push(...held.filter(({ delaySeconds }) => delaySeconds > delay));
  return held.filter(({ delaySeconds }) => delaySeconds <= delay).map(({ job }) => job);
}

async function joinMetered(w: World, sessionId: string): Promise<void> {
  const { results } = await testEnv.DB.prepare('SELECT id FROM metered_sessions WHERE customer_ref = ?')
    .bind(`${sessionId}:buyer`)
    .all<{ id: string }>();
  for (const { id } of results) await joinQueues(w, testEnv.METERED_SESSION.getByName(id));
}

/** Delivers the queues, webhooks included, until a session has ended or `rounds` is used up. */
export async function untilEnded(w: World, merchant: Merchant, sessionId: string, rounds = Number.POSITIVE_INFINITY): Promise<Body> {
  await joinCustomer(w, merchant, sessionId);
  let [steps, idleRounds] = [0, 0];
  for (let round = 0; ; round++) {
    const { body } = await callTesting(w, merchant, 'GET', `sessions/${sessionId}`);
    if (body.status !== 'running' || round >= rounds) return body;
    idleRounds = body.steps.length > steps ? 0 : idleRounds + 1;
    steps = body.steps.length;
    if (idleRounds > IDLE_ROUNDS_MAX) throw new Error(`hangs: ${JSON.stringify(body)}`);
    await joinMetered(w, sessionId);
    await w.deliver(await takeReady(w));
    await w.attempt();
  }
}

export async function runScenario(w: World, merchant: Merchant, scenario: string, asked: object = {}): Promise<Body> {
  const { status, body } = await callTesting(w, merchant, 'POST', 'sessions', { scenario, ...asked });
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return untilEnded(w, merchant, body.session_id);
}

export const typesOf = ({ steps }: Body): string[] => steps.flatMap(({ event_type }: Body) => event_type ?? []);

/** Sequence that two sessions of one seed share: all but ids and times. */
export const sequenceOf = ({ steps }: Body): unknown[] => steps.map(({ action, event_type, state }: Body) => [action, event_type, state]);

export const RENEWING_NAMES = [
  'subscription_authorized',
  'subscription_renewed',
  'subscription_past_due',
  'subscription_cancelled',
  'subscription_requires_reapproval',
];

interface RecordedEvent {
  type: EventType;
  livemode: number;
  data: string;
}

export const readEvents = async (w: World, sessionId: string): Promise<RecordedEvent[]> =>
  (
    await prepareOnEvents(w.env.DB, 'SELECT type, livemode, data FROM events WHERE request_id = ? ORDER BY seq')
      .bind(`sandbox_${sessionId}`)
      .all<RecordedEvent>()
  ).results;

/** Differences between a sandbox event and a live one, except for the mode. */
export function unlikeLive({ type, livemode, data }: RecordedEvent): string[] {
  const { object } = JSON.parse(data);
  const { error } = EVENT_CATALOG[type].object.safeParse(object);
  const isOfSandbox = livemode === 0 && (!('livemode' in object) || object.livemode === false);
  return [...(error ? [`${type}: ${error.message}`] : []), ...(isOfSandbox ? [] : [`${type} is live`])];
}
