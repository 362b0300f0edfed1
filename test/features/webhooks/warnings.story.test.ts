import { beforeEach, describe, expect, it } from 'vitest';
import { withFaults } from '../../support/faults/faults.ts';
import { type Consumer, consumer, emit, flip, pass, received, waiting } from '../../support/people/consumer.ts';
import { type Merchant, World } from '../../support/world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

describe('warnings of a failing endpoint', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let owner: Merchant;
  let failing: Consumer;
  let other: Consumer;
  beforeEach(async () => {
    owner = await w.merchant();
    failing = await consumer(w, owner, 'flip');
    await flip(failing, 500);
    other = await consumer(w, owner, 'ok', { event_types: ['webhook.*'] });
  });

  const fails = async (hours: number, env = w.env) => {
    await pass(failing, hours * HOUR);
    w.queue.sent.length = 0;
    w.attempts.length = 0;
    await emit(w, owner);
    await w.deliver();
    await w.attempt(await waiting(w, failing), env);
    await w.deliver();
    await w.attempt();
  };
  const warningsTo = async (who: Consumer) =>
    (await received(who)).map(({ body }) => JSON.parse(body)).filter(({ type }) => type === 'webhook.endpoint_failing');
  const shown = async () => (await w.call('GET', '/v1/webhooks/endpoints', { key: owner.key })).body.items.find(isFailing);
  const isFailing = (item: { endpoint_id: string }) => item.endpoint_id === failing.id;

  it('the merchant’s other endpoints get one warning at 24 and one at 72 hours, and the failing one none', async () => {
    const counts: number[][] = [];
    for (const hours of [0, 20, 5, 20, 30, 5]) {
      await fails(hours);
      counts.push([hours, (await warningsTo(other)).length, (await warningsTo(failing)).length]);
    }
    expect(counts).toEqual([
      [0, 0, 0],
      [20, 0, 0],
      [5, 1, 0],
      [20, 1, 0],
      [30, 2, 0],
      [5, 2, 0],
    ]);
    const [first] = await warningsTo(other);
    expect(first).toMatchObject({
      subject: { type: 'webhook_endpoint', id: failing.id },
      data: { object: { endpoint_id: failing.id, status: 'enabled', failing_since: expect.any(String), disables_at: expect.any(String) } },
    });
    await flip(failing, 200);
    const window = { since: new Date(Date.now() - HOUR).toISOString() };
    await w.call('POST', `/v1/webhooks/endpoints/${failing.id}/recover`, { key: owner.key, body: window });
    await w.attempt();
    expect(await warningsTo(failing)).toEqual([]);
  });

  it('the endpoint shows the start of its failures and its disable time until it succeeds', async () => {
    expect(await shown()).not.toHaveProperty('failing_since');
    await fails(0);
    const { failing_since: since, disables_at: until } = await shown();
    expect(Date.parse(until) - Date.parse(since)).toBe(5 * DAY);
    await fails(130);
    const disabled = await shown();
    expect([disabled.status, 'failing_since' in disabled, 'disables_at' in disabled]).toEqual(['disabled', true, false]);
    await w.call('PATCH', `/v1/webhooks/endpoints/${failing.id}`, { key: owner.key, body: { status: 'enabled' } });
    expect(Object.keys(await shown()).filter((field) => /failing_since|disables_at/.test(field))).toEqual([]);
  });

  it('two due warnings are one event, and a failure after a success warns again', async () => {
    await fails(0);
    await fails(80);
    expect(await warningsTo(other)).toHaveLength(1);
    await flip(failing, 200);
    await fails(1);
    await flip(failing, 500);
    for (const hours of [1, 25]) await fails(hours);
    expect(await warningsTo(other)).toHaveLength(2);
  });

  it('the next failure sends the warning if the worker died before storing it', async () => {
    await fails(0);
    // The worker dies after claim and record.
    let batches = 0;
    await fails(25, withFaults(w.env, { before: ({ kind }) => kind === 'batch' && ++batches >= 3 }).env);
    expect(await warningsTo(other)).toEqual([]);
    await fails(1);
    expect(await warningsTo(other)).toHaveLength(1);
  });

  it('ten concurrent failures send one warning', async () => {
    await fails(0);
    await pass(failing, 25 * HOUR);
    w.queue.sent.length = 0;
    await emit(w, owner, 10);
    await w.deliver();
    const due = await waiting(w, failing);
    expect(due).toHaveLength(10);
    await Promise.all(due.map((one) => w.attempt([one])));
    await w.deliver();
    await w.attempt();
    expect(await warningsTo(other)).toHaveLength(1);
  });
});
