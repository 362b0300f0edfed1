import { type AccountId, actOfEvent, type EndpointId, newEventId } from '#core/ids.ts';
import type { Job } from '#platform/context.ts';
import type { EventType } from '#rules/events.ts';
import { EVENT_CATALOG } from '../../../worker/published/event-catalog.ts';
import { expectPublishedEvent } from '../clients/call.ts';
import { insertActs } from '../fixtures/acts.ts';
import { testEnv } from '../runner/env.ts';
import { WEBHOOK_SWEEPS } from '../runner/sweeps.ts';
import type { Received } from '../servers/receiver.ts';
import type { HeldAttempt, Merchant, World } from '../world.ts';

export type Habit = 'ok' | 'flip' | 'fail' | 'gone' | 'redirect' | 'later' | 'big' | 'reset' | 'hang' | 'slow' | 'pause' | 'broken';

export interface Consumer {
  id: string;
  secret: string;
  box: string;
  key: string;
}

export async function consumer(
  w: World,
  merchant: Merchant,
  habit: Habit,
  input: Record<string, unknown> = {},
  key: string = merchant.key,
): Promise<Consumer> {
  const box = crypto.randomUUID();
  const url = `${testEnv.TEST_RECEIVER_URL}/${habit}/${box}`;
  const { status, body } = await w.call('POST', '/v1/webhooks/endpoints', { key, body: { url, ...input } });
  if (status !== 201) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return { id: body.endpoint_id, secret: body.secret, box, key };
}

/** Requests that the consumer's server received. The first of each type is checked against its published schema. */
export async function received({ box }: Consumer): Promise<Received[]> {
  const response = await fetch(`${testEnv.TEST_RECEIVER_URL}/_box/${box}`);
  const got = await response.json<Received[]>();
  const firsts = new Map(got.toReversed().map(({ headers, body }) => [headers['x-svc-event-type'], body]));
  for (const body of firsts.values()) expectPublishedEvent(body);
  return got;
}

export const flip = async ({ box }: Consumer, status: number): Promise<void> =>
  void (await (await fetch(`${testEnv.TEST_RECEIVER_URL}/_flip/${box}/${status}`)).text());

export interface DeliveryRow {
  id: number;
  merchant_id: AccountId;
  livemode: number;
  endpoint_id: EndpointId;
  event_id: string;
  status: string;
  attempt: number;
  max_attempts: number;
  next_attempt_at: number | null;
  lease_until: number;
  response_status: number | null;
  response_ms: number | null;
  response_excerpt: string | null;
  error: string | null;
  replay_of: number | null;
  created_at: number;
  completed_at: number | null;
}

export async function deliveries({ id }: Consumer): Promise<DeliveryRow[]> {
  const rows = testEnv.DB.prepare('SELECT * FROM webhook_deliveries WHERE endpoint_id = ? ORDER BY id').bind(id);
  return (await rows.all<DeliveryRow>()).results;
}

export interface EndpointRow {
  status: string;
  disabled_reason: string | null;
  failure_streak: number;
  failing_since: number | null;
  last_failure_at: number | null;
  last_success_at: number | null;
}

export const endpoint = async ({ id }: Consumer): Promise<EndpointRow> =>
  (await testEnv.DB.prepare('SELECT * FROM webhook_endpoints WHERE id = ?').bind(id).first<EndpointRow>())!;

/** Moves an endpoint and its deliveries into the past by `ms`. */
export async function pass({ id }: Consumer, ms: number): Promise<void> {
  await testEnv.DB.batch([
    testEnv.DB.prepare(
      `UPDATE webhook_deliveries SET next_attempt_at = next_attempt_at - ?1, lease_until = max(lease_until - ?1, 0), created_at = created_at - ?1
       WHERE endpoint_id = ?2`,
    ).bind(ms, id),
    testEnv.DB.prepare(
      `UPDATE webhook_endpoints SET created_at = created_at - ?1, last_failure_at = last_failure_at - ?1, failing_since = failing_since - ?1
       WHERE id = ?2`,
    ).bind(ms, id),
  ]);
}

/** Takes the endpoint's attempts from the queues. Attempts of others are discarded and left to the sweep. */
export async function waiting(w: World, mine: Consumer): Promise<HeldAttempt[]> {
  const ids = new Set((await deliveries(mine)).map(({ id }) => id));
  return w.attempts.splice(0).filter(({ deliveryId }) => ids.has(deliveryId));
}

/** Message of a delivery that comes from no queue. */
export const attemptOf = (row: DeliveryRow, isSlow = false): HeldAttempt => ({
  deliveryId: row.id,
  merchantId: row.merchant_id,
  livemode: row.livemode === 1,
  endpointId: row.endpoint_id,
  isSlow,
  delaySeconds: 0,
});

/** Longest time that the sweep leaves due attempts to the queues. */
export const PATIENCE_MS = 10_000;

/** Sweeps and attempts everything due of this endpoint once. Returns the attempts that were in the queues. */
export async function attemptDue(w: World, mine: Consumer): Promise<HeldAttempt[]> {
  w.attempts.length = 0;
  await pass(mine, PATIENCE_MS);
  await w.sweepEach(WEBHOOK_SWEEPS);
  const due = await waiting(w, mine);
  await w.attempt(due);
  return due;
}

/** Stores events as a verb would and queues their jobs. The events are about themselves, for tests that need many. */
export async function emit(
  w: World,
  { userId }: Merchant,
  count = 1,
  { type = 'payout.changed', livemode = true }: { type?: EventType; livemode?: boolean } = {},
): Promise<Job[]> {
  const now = Date.now();
  const ids = Array.from({ length: count }, () => actOfEvent(newEventId(now, userId)));
  const insert = testEnv.DB.prepare(
    insertActs(`SELECT ? AS id, ? AS merchant_id, ? AS livemode, 'product' AS subject_type, ? AS subject_id, 1 AS subject_version, ? AS type,
      ? AS data, NULL AS product_id, NULL AS payment_id, 'req_test' AS request_id, ? AS created_at, NULL AS fanned_out_at`),
  );
  const data = JSON.stringify({ object: EVENT_CATALOG[type].object.parse(EVENT_CATALOG[type].example) });
  await testEnv.DB.batch(ids.map((id) => insert.bind(id, userId, livemode ? 1 : 0, crypto.randomUUID(), type, data, now)));
  const jobs: Job[] = ids.map((id) => ({ kind: 'fanOut', actIds: [id] }));
  w.queue.sent.push(...jobs.map((job) => ({ job, delaySeconds: 0 })));
  return jobs;
}
