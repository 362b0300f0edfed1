import { runInDurableObject } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { listTables, readAlarm } from '../../support/clients/entitlement.ts';
import { callTesting, joinCustomer, runScenario, untilEnded } from '../../support/clients/sandbox.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('sandbox sessions', () => {
  const w = new World();
  let ada: Merchant;
  let eve: Merchant;
  beforeAll(async () => {
    [ada, eve] = await Promise.all([w.merchant(), w.merchant()]);
  });

  const begin = async (asked: object = {}) =>
    (await callTesting(w, ada, 'POST', 'sessions', { scenario: 'payment_failed', ...asked })).body.session_id as string;

  it('every route refuses a live key and a token without sandbox mode', async () => {
    const id = await begin();
    const routes: [string, string, unknown?][] = [
      ['GET', 'scenarios'],
      ['GET', 'sessions'],
      ['POST', 'sessions', { scenario: 'payment_failed' }],
      ['GET', `sessions/${id}`],
      ['POST', `sessions/${id}/advance`, { seconds: 60 }],
      ['POST', 'pay', { payment_id: id }],
      ['POST', 'identity', { identity_session_id: id, provider_user_id: '1' }],
    ];
    for (const [method, path, body] of routes)
      for (const key of [ada.key, ada.token]) {
        const { status, body: refused } = await callTesting(w, ada, method, path, body, key);
        expect([method, path, status, refused.code, refused.meta?.reason]).toEqual([
          method,
          path,
          403,
          'invalid_authorization',
          'sandbox_key_required',
        ]);
      }
    expect((await callTesting(w, ada, 'GET', 'sessions?mode=sandbox', undefined, ada.token)).status).toBe(200);
  });

  it('an unknown session and one of another merchant are refused', async () => {
    const product = await w.product({ ...eve, key: eve.sandboxKey });
    const answers = [
      await callTesting(w, ada, 'POST', 'sessions', { scenario: 'nothing' }),
      await callTesting(w, ada, 'POST', 'sessions', { scenario: 'payment_failed', advance_seconds: 400 * 86_400 + 1 }),
      await callTesting(w, ada, 'POST', 'sessions', { scenario: 'payment_failed', product_id: product.product_id }),
      await callTesting(w, ada, 'POST', 'sessions', { scenario: 'payment_failed', endpoint_id: product.product_id }),
      await callTesting(w, eve, 'GET', `sessions/${await begin()}`),
      await callTesting(w, ada, 'POST', 'sessions', { scenario: 'payment_failed', seed: 'x'.repeat(65) }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([422, 422, 404, 404, 404, 422]);
  });

  it('concurrent advances: one runs, the other gets 409 state_conflict', async () => {
    const session = await runScenario(w, ada, 'payment_failed');
    const path = `sessions/${session.session_id}/advance`;
    const answers = await Promise.all([1, 2].map(() => callTesting(w, ada, 'POST', path, { seconds: 86_400 })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(answers.find(({ status }) => status === 409)!.body.code).toBe('state_conflict');
    const after = await untilEnded(w, ada, session.session_id);
    expect(after).toMatchObject({ status: 'completed', clock: { advanced_seconds: session.clock.advanced_seconds + 86_400 } });
    expect(Date.parse(after.clock.now)).toBe(Date.parse(after.created_at) + after.clock.advanced_seconds * 1000);
    for (const seconds of [0, 400 * 86_400 + 1]) expect((await callTesting(w, ada, 'POST', path, { seconds })).status).toBe(422);
  });

  it('options select the failure of a scenario, and an option of another scenario gets 422', async () => {
    const states = async (options: object) =>
      (await runScenario(w, ada, 'payment_failed', { options })).steps.map(
        ({ action, event_type }: { action: string; event_type?: string }) => [action, event_type],
      );
    expect(await states({ failure: 'transaction_failed', delay_seconds: 60 })).toEqual([
      ['open_payment_session', undefined],
      ['connect', 'payment.created'],
      ['pay', undefined],
      ['confirm', 'payment.failed'],
    ]);
    expect(await states({ failure: 'session_expired' })).toEqual([
      ['open_payment_session', undefined],
      ['connect', 'payment.created'],
      ['advance', 'payment.failed'],
    ]);
    const refused = await callTesting(w, ada, 'POST', 'sessions', { scenario: 'payment_expired', options: { failure: 'session_expired' } });
    expect([refused.status, refused.body.detail[0].loc]).toEqual([422, ['body', 'options', 'failure']]);
  });

  it('advance_seconds of the start request moves the clock after the scenario', async () => {
    const session = await runScenario(w, ada, 'payment_failed', { advance_seconds: 40 * 86_400 });
    expect(session.clock.advanced_seconds).toBe(40 * 86_400);
  });

  it('advancing past the paid time ends membership and entitlement on the session clock, with their events', async () => {
    const session = await runScenario(w, ada, 'payment_confirmed', { advance_seconds: 40 * 86_400 });
    expect([session.status, session.clock.advanced_seconds]).toEqual(['completed', 40 * 86_400 + 120]);
    const ended = session.steps.filter(({ event_type }: { event_type?: string }) => /expired|grace/.test(event_type ?? ''));
    expect(ended.map(({ event_type }: { event_type: string }) => event_type)).toEqual([
      'membership.grace_started',
      'entitlement.expired',
      'membership.expired',
    ]);
    const daysIn = ({ at }: { at: string }) => Math.floor((Date.parse(at) - Date.parse(session.created_at)) / DAY);
    expect(ended.map(daysIn)).toEqual([30, 30, 33]);
    const query = `customer_ref=${session.session_id}:buyer`;
    const { body } = await w.call('GET', `/v1/access/entitlements?${query}`, { key: ada.sandboxKey });
    expect(body.items).toMatchObject([{ status: 'expired' }]);
  });

  it('a session without an advance ends nothing in wall time, and its purchases run by its clock', async () => {
    const { session_id: id, clock } = await runScenario(w, ada, 'payment_confirmed');
    const { stub } = await joinCustomer(w, ada, id);
    const { paidThrough, status } = (await stub.read({ now: Date.now() }))!;
    expect([status, paidThrough! < Date.parse(clock.now) + 30 * DAY]).toEqual(['active', true]);
    try {
      setTime(Date.now() + 31 * DAY);
      await runInDurableObject(stub, (instance) => instance.alarm!());
      const { body } = await w.call('GET', `/v1/access/entitlements?customer_ref=${id}:buyer`, { key: ada.sandboxKey });
      expect(body.items).toMatchObject([{ status: 'active' }]);
      const one = await w.call('GET', `/v1/access/entitlements/${body.items[0].entitlement_id}`, { key: ada.sandboxKey });
      expect(one.body.status).toBe('active');
    } finally {
      letTimeRun();
    }
  });

  it('a session completes past the period of used-up units, which sends no end', async () => {
    const product = await w.product({ ...ada, key: ada.sandboxKey }, { usage_units: 1, access_period_days: 10 });
    const asked = { product_id: product.product_id, advance_seconds: 20 * 86_400 };
    const session = await runScenario(w, ada, 'entitlement_exhausted', asked);
    expect([session.status, session.clock.advanced_seconds]).toEqual(['completed', 20 * 86_400]);
  });

  it('a session with due work that never finishes fails, and is erased like any other', async () => {
    const { session_id: id } = await runScenario(w, ada, 'payment_failed');
    await w.env.DB.prepare(
      `INSERT INTO entitlements (id, merchant_id, livemode, product_id, customer_ref, status, used_units, unlimited, paid_through, version, updated_at)
        SELECT 'nobody', merchant_id, 0, product_id, ?2, 'active', 0, 0, created_at, 1, 0 FROM sandbox_sessions WHERE id = ?1`,
    )
      .bind(id, `${id}:buyer`)
      .run();
    await callTesting(w, ada, 'POST', `sessions/${id}/advance`, { seconds: 60 });
    for (let i = 0; i < 100; i++) await w.deliver();
    expect((await callTesting(w, ada, 'GET', `sessions/${id}`)).body.status).toBe('failed');
    await w.env.DB.prepare('UPDATE sandbox_sessions SET ended_at = 0 WHERE id = ?').bind(id).run();
    await w.sweepAlone('analytics');
    await w.sweepAlone('endedSandboxes');
    expect((await callTesting(w, ada, 'GET', `sessions/${id}`)).status).toBe(404);
  });

  it('a session killed at any step continues and ends identically', async () => {
    const uninterrupted = await runScenario(w, ada, 'payment_late', { seed: 'one' });
    const id = await begin({ scenario: 'payment_late', seed: 'one' });
    for (let kills = 0; ; kills++) {
      w.queue.sent.splice(0);
      await w.env.DB.prepare('UPDATE sandbox_sessions SET moved_at = ? WHERE id = ?')
        .bind(Date.now() - 61_000, id)
        .run();
      await w.sweepAlone('sandboxes');
      const { status } = await untilEnded(w, ada, id, 1);
      expect(kills).toBeLessThan(30);
      if (status !== 'running') break;
    }
    const after = (await callTesting(w, ada, 'GET', `sessions/${id}`)).body;
    expect(after.status).toBe('completed');
    expect(after.steps.map(({ event_type }: { event_type: string }) => event_type)).toEqual(
      uninterrupted.steps.map(({ event_type }: { event_type: string }) => event_type),
    );
  });

  it('a session with steps that always fail ends as failed and cannot advance', async () => {
    const id = await begin();
    await w.env.DB.prepare("UPDATE sandbox_sessions SET product_id = 'none' WHERE id = ?").bind(id).run();
    for (let i = 0; i < 40; i++) await w.deliver();
    expect((await callTesting(w, ada, 'GET', `sessions/${id}`)).body.status).toBe('failed');
    expect((await callTesting(w, ada, 'POST', `sessions/${id}/advance`, { seconds: 60 })).status).toBe(409);
  });

  it('a session that kills its runner fails after a day, and one that only waited continues', async () => {
    const [id, other] = [await begin(), await begin()];
    w.queue.sent.splice(0);
    const backdateMove = (session: string, ms: number) =>
      w.env.DB.prepare('UPDATE sandbox_sessions SET moved_at = ? WHERE id = ?')
        .bind(Date.now() - ms, session)
        .run();
    await Promise.all([backdateMove(id, DAY + 60_000), backdateMove(other, DAY - 60_000)]);
    await w.sweepAlone('sandboxes');
    expect((await untilEnded(w, ada, other)).status).toBe('completed');
    expect((await callTesting(w, ada, 'GET', `sessions/${id}`)).body.status).toBe('failed');
  });

  it('the daily quota of sessions refuses with 429 until midnight, and refused starts do not count', async () => {
    const bob = await w.merchant('free');
    const ids = Array.from({ length: 49 }, () => crypto.randomUUID());
    for (const id of ids)
      await w.env.DB.prepare(
        `INSERT INTO sandbox_sessions SELECT ?, ?, 'payment_failed', 's', 'completed', '{}', NULL, NULL, 0, 0, 0, 0, '{}', '[]', 0, ?3, ?3, ?3, 1`,
      )
        .bind(id, bob.userId, Date.now())
        .run();
    const answers = [];
    for (let i = 0; i < 3; i++) answers.push(await callTesting(w, bob, 'POST', 'sessions', { scenario: 'payment_failed' }));
    expect(answers.map(({ status }) => status)).toEqual([201, 429, 429]);
    expect(answers[1]!.body).toMatchObject({ code: 'plan_limit_reached', meta: { limit: 50, used: 50, plan: 'free' } });
    expect(Number(answers[1]!.headers.get('Retry-After'))).toBeLessThanOrEqual(86_400);
    const products = await w.call('GET', '/v1/products', { key: bob.sandboxKey });
    expect(products.body.items).toEqual([]);
  });

  it('a session and everything it made are erased 30 days after its end, not a day earlier', async () => {
    const { session_id: id } = await runScenario(w, ada, 'membership_renewed');
    const left = async () => {
      const one = async (sql: string, named = `${id}:buyer`) => (await w.env.DB.prepare(sql).bind(named).first<number>('n'))!;
      const events = await prepareOnEvents(w.env.DB, 'SELECT count(*) AS n FROM events WHERE request_id = ?')
        .bind(`sandbox_${id}`)
        .first<number>('n');
      return [
        events,
        await one('SELECT count(*) AS n FROM payments WHERE customer_ref = ?'),
        await one('SELECT count(*) AS n FROM memberships WHERE customer_ref = ?'),
        await one('SELECT count(*) AS n FROM entitlements WHERE customer_ref = ?'),
        await one("SELECT count(*) AS n FROM receipt_metadata WHERE livemode = 0 AND ? <> ''"),
        await one('SELECT count(*) AS n FROM sandbox_transactions WHERE session_id = ?', id),
        await one('SELECT count(*) AS n FROM products WHERE sandbox_session_id = ?', id),
      ];
    };
    const receiptId = await w.env.DB.prepare('SELECT r.id FROM receipts r JOIN payments p ON p.id = r.payment_id WHERE p.customer_ref = ?')
      .bind(`${id}:buyer`)
      .first<string>('id');
    const written = { key: ada.sandboxKey, body: { invoice_number: 'TEST-1' } };
    expect((await w.call('PATCH', `/v1/receipt/${receiptId}/invoice-metadata`, written)).status).toBe(200);
    const made = await left();
    const { stub } = await joinCustomer(w, ada, id);
    expect(made.every((n) => n! > 0)).toBe(true);
    await w.sweepAlone('analytics');
    try {
      setTime(Date.now() + 29 * DAY);
      await w.sweepAlone('endedSandboxes');
      expect(await left()).toEqual(made);
      setTime(Date.now() + 2 * DAY);
      await w.sweepAlone('endedSandboxes');
    } finally {
      letTimeRun();
    }
    expect(await left()).toEqual([0, 0, 0, 0, 0, 0, 0]);
    expect([await listTables(stub), await readAlarm(stub)]).toEqual([[], null]);
    expect((await callTesting(w, ada, 'GET', `sessions/${id}`)).status).toBe(404);
  });
});
