// @module-tag volume
import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Received, startReceiver } from '../../support/servers/receiver.ts';
import { DevProcess } from './dev-process.ts';

/** State directory of a complete service in separate processes, with real queues and a real clock. */
const stateDir = mkdtempSync(join(tmpdir(), 'svc-webhooks-test-'));
const EVENTS = 12;
const ATTEMPT_MS = 15_000;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let dev: DevProcess;
let baseUrl: string;
let key: string;

async function start(): Promise<void> {
  dev = new DevProcess(stateDir);
  baseUrl = (await dev.ready()).baseUrl;
  key = JSON.parse(readFileSync(join(stateDir, 'secrets.json'), 'utf8')).merchant.key;
}

/** Kills without a signal handler or a last write, as in a power failure. */
async function killEverything(): Promise<void> {
  for (const pid of dev.descendants()) process.kill(pid, 'SIGKILL');
  await dev.end('SIGKILL');
}

beforeAll(async () => {
  receiver = await startReceiver();
  await start();
}, 60_000);
afterAll(async () => {
  await dev.end();
  await receiver.close();
  rmSync(stateDir, { recursive: true, force: true });
});

async function call<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers = { 'x-svc-key': key, 'content-type': 'application/json' };
  const response = await fetch(`${baseUrl}${path}`, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const text = await response.text();
  expect(response.status, `${method} ${path}: ${text}`).toBeLessThan(300);
  return JSON.parse(text) as T;
}
it('the chain webhook accepts only requests signed with its secret', async () => {
  const { rpcWebhookSecret } = JSON.parse(readFileSync(join(stateDir, 'secrets.json'), 'utf8'));
  const body = '[]';
  const post = async (signature: string) => {
    const headers = { 'content-type': 'application/json', 'X-Rpc-Signature': signature };
    return (await fetch(`${baseUrl}/v1/products/webhook/rpc`, { method: 'POST', headers, body })).status;
  };
  expect(await post('0'.repeat(64))).toBe(401);
  expect(await post(createHmac('sha256', rpcWebhookSecret).update(body).digest('hex'))).toBe(200);
});

const open = async (habit: string, box: string): Promise<string> => {
  const input = { url: `${receiver.url}/${habit}/${box}`, event_types: ['payment.created'] };
  return (await call<{ endpoint_id: string }>('POST', '/v1/webhooks/endpoints', input)).endpoint_id;
};
const close = (endpointId: string) => call('DELETE', `/v1/webhooks/endpoints/${endpointId}`);
const received = async (box: string): Promise<Received[]> => (await fetch(`${receiver.url}/_box/${box}`)).json() as Promise<Received[]>;
const eventIds = async (box: string): Promise<Set<string>> =>
  new Set((await received(box)).map(({ headers }) => headers['x-svc-event-id']!));
async function happen(): Promise<void> {
  const { items } = await call<{ items: { slug: string }[] }>('GET', '/v1/products');
  await Promise.all(Array.from({ length: EVENTS }, () => call('POST', `/v1/products/p/${items[0]!.slug}/connect`, {})));
}
const PATIENCE_MS = 50_000;
async function until(isSo: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  while (!(await isSo())) {
    if (Date.now() > end) throw new Error(`not within ${PATIENCE_MS} ms:\n${dev.output.slice(-3000)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

it('an unresponsive endpoint does not delay others in the real queue', async () => {
  const endpoints = await Promise.all([open('hang', 'hang'), open('ok', 'ok')]);
  await happen();
  await until(async () => (await eventIds('ok')).size === EVENTS);
  // The other endpoint got every event before the first hanging attempt timed out.
  const [{ at: firstHung }, lastHeard] = [(await received('hang'))[0]!, Math.max(...(await received('ok')).map(({ at }) => at))];
  expect(lastHeard - firstHung).toBeLessThan(ATTEMPT_MS);
  await Promise.all(endpoints.map(close));
});

it('a service killed during delivery finds every event again and repeats only unrecorded attempts', {
  timeout: 2 * PATIENCE_MS,
}, async () => {
  await open('pause', 'box');
  await happen();
  await until(async () => (await received('box')).length > 0);
  await killEverything();
  const before = await received('box');

  // Ends the leases of the dead process, which would otherwise expire after a minute.
  const files = readdirSync(stateDir, { recursive: true, encoding: 'utf8' });
  const database = new DatabaseSync(join(stateDir, files.find((name) => /d1\/.*\/[0-9a-f]{64}\.sqlite$/.test(name))!));
  const { changes: unwritten } = database.prepare('UPDATE webhook_deliveries SET lease_until = 1 WHERE lease_until > 0').run();
  database.close();
  expect(Number(unwritten)).toBeGreaterThan(0);

  await start();
  const { items: events } = await call<{ items: { id: string }[] }>('GET', '/v1/webhooks/events?event_type=payment.created&per_page=100');
  const ids = events.slice(-EVENTS).map(({ id }) => id);
  await until(async () => (await eventIds('box')).size === EVENTS);
  interface Delivery {
    event_id: string;
    delivery_id: number;
    status: string;
    attempt: number;
  }
  let deliveries: Delivery[] = [];
  await until(async () => {
    const { items } = await call<{ items: Delivery[] }>('GET', '/v1/webhooks/deliveries?per_page=100&status=succeeded');
    deliveries = items.filter(({ event_id: id }) => ids.includes(id));
    return deliveries.length === EVENTS;
  });

  const got = await received('box');
  expect(new Set(got.map(({ headers }) => headers['x-svc-event-id']))).toEqual(new Set(ids));
  for (const { event_id: id, delivery_id: deliveryId, attempt } of deliveries) {
    const attempts = got.filter(({ headers }) => headers['x-svc-event-id'] === id);
    expect(new Set(attempts.map(({ headers }) => headers['x-svc-delivery-id']))).toEqual(new Set([String(deliveryId)]));
    const numbers = attempts.map(({ headers }) => Number(headers['x-svc-attempt']));
    expect([...new Set(numbers)].sort((a, b) => a - b)).toEqual(Array.from({ length: attempt }, (_, i) => i + 1));
    expect(new Set(attempts.map(({ body }) => body)).size).toBe(1);
  }
  const repeated = got.length - new Set(got.map(({ headers }) => `${headers['x-svc-delivery-id']}:${headers['x-svc-attempt']}`)).size;
  expect(repeated).toBeLessThanOrEqual(before.length);
});
