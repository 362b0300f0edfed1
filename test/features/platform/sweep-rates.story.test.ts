// @module-tag volume
import { beforeAll, describe, expect, it } from 'vitest';
import { actIdOf } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { isLedBy, prepareOnEvents } from '../../support/fixtures/acts.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { Setup } from '../../support/people/bootstrap.ts';
import { consumer } from '../../support/people/consumer.ts';
import { SOAK, testEnv } from '../../support/runner/env.ts';
import { LIMITS } from '../../support/runner/limits.ts';
import { type Merchant, World } from '../../support/world.ts';

/** More than one invocation may handle. A soak uses 10,000. */
const SESSIONS = SOAK > 1 ? 10_000 : 6_500;
const MEMBERSHIPS = SOAK > 1 ? 10_000 : 5_500;
const SETUPS = 10_000;
const PAGE = 250;

describe('sweep throughput', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let merchant: Merchant;
  let product: { product_id: string; slug: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await w.product(merchant, { access_period_days: 30 });
  });
  const count = async (sql: string) => (await prepareOnEvents(w.env.DB, sql).bind(product.product_id).first<number>('n'))!;
  async function sweepAll(name: string, rowsMax?: number): Promise<{ rounds: number; trips: number; ms: number }> {
    const { env, trips } = withFaults(w.env);
    const startedAt = Date.now();
    const rounds = await w.sweepAlone(name, env, rowsMax);
    return { rounds, trips: trips.length, ms: Date.now() - startedAt };
  }

  it(`${SESSIONS} sessions expire in two trips per ${PAGE}, with one event each`, async () => {
    const { payment_id } = await w.connect(product);
    await w.sweep();
    // Events are announced if an endpoint waits for them.
    await consumer(w, merchant, 'ok');
    await multiply(w.env.DB, 'payments', 'id', payment_id, SESSIONS, {
      id: "printf('01900000-0000-7000-8000-%012d', i)",
      nonce: "'many-' || i",
      reference: "'many-' || i",
      expires_at: String(Date.now() - DAY / 2),
    });
    const { rounds, trips, ms } = await sweepAll('expired');
    expect(await count("SELECT count(*) AS n FROM payments WHERE product_id = ? AND status = 'FAILED' AND version = 2")).toBe(SESSIONS);
    expect(
      await count(
        "SELECT count(DISTINCT subject_id) AS n FROM events WHERE product_id = ? AND type = 'payment.failed' AND subject_version = 2",
      ),
    ).toBe(SESSIONS);
    expect(rounds).toBe(Math.ceil((SESSIONS + 1) / (24 * PAGE)));
    expect(trips).toBeLessThanOrEqual(2 * Math.ceil(SESSIONS / PAGE) + 5 * rounds);
    expect((await w.call('GET', `/v1/payments/${payment_id}`)).body.status).toBe('PENDING_SIGNATURE');
    const one = '01900000-0000-7000-8000-000000000007';
    expect(await w.eventTypes(one)).toEqual(['payment.failed']);
    const { body } = await w.call('GET', `/v1/payments/${one}`, { key: merchant.key });
    const event = await prepareOnEvents(w.env.DB, 'SELECT data FROM events WHERE payment_id = ?').bind(one).first<string>('data');
    const { now: _, poll_after_ms: _wait, unmatched: _money, ...shown } = body;
    expect(JSON.parse(event!)).toMatchObject({ object: shown, previous: { status: 'PENDING_SIGNATURE' } });
    expect(ms).toBeLessThan((60_000 * SESSIONS) / 5_000);
    const announced = w.queue.sent.flatMap(({ job }) => (job.kind === 'fanOut' ? [job.actIds.length] : []));
    expect(announced.reduce((sum, ids) => sum + ids, 0)).toBeGreaterThanOrEqual(SESSIONS);
    expect(Math.max(...announced)).toBeLessThanOrEqual(25);
  });

  it(`${MEMBERSHIPS} memberships lapse in two trips per ${PAGE}, with one event each`, async () => {
    const { confirmed } = await w.purchase(product, await w.chain.wallet());
    await multiply(w.env.DB, 'memberships', 'id', confirmed.membership_id, MEMBERSHIPS, {
      id: "printf('01900000-0000-7000-9000-%012d', i)",
      customer_key: "'ref:' || i",
      customer_ref: 'i',
      paid_through: String(Date.now() - 1),
    });
    const { rounds, trips, ms } = await sweepAll('memberships');
    expect(await count("SELECT count(*) AS n FROM memberships WHERE product_id = ? AND status = 'grace' AND version = 2")).toBe(
      MEMBERSHIPS,
    );
    expect(await count("SELECT count(*) AS n FROM events WHERE product_id = ? AND type = 'membership.grace_started'")).toBe(MEMBERSHIPS);
    expect(rounds).toBe(Math.ceil((MEMBERSHIPS + 1) / (20 * PAGE)));
    expect(trips).toBeLessThanOrEqual(2 * Math.ceil(MEMBERSHIPS / PAGE) + 8 * rounds);
    expect(ms).toBeLessThan((180_000 * MEMBERSHIPS) / 10_000);
  });

  it('a row that the database refuses and a row changed meanwhile do not delay others', async () => {
    const { payment_id } = await w.connect(product);
    const ids = ['a', 'b', 'c'].map((email) => `0190000${email}-0000-7000-8000-000000000001`);
    for (const id of ids)
      await multiply(w.env.DB, 'payments', 'id', payment_id, 1, {
        id: `'${id}'`,
        nonce: `'nonce-${id}'`,
        reference: `'reference-${id}'`,
        expires_at: String(Date.now() - DAY / 2),
      });
    // An event of the next version exists already, which cannot happen in production: the batch always fails.
    await w.env.DB.prepare(`UPDATE acts SET id = ? WHERE ${isLedBy(payment_id)}`)
      .bind(actIdOf(0, payment_id, ids[0]!, 2))
      .run();
    const batch = async (statements: D1PreparedStatement[]) => {
      await testEnv.DB.prepare("UPDATE payments SET customer_ref = 'changed', version = version + 1 WHERE id = ? AND version = 1")
        .bind(ids[1])
        .run();
      return w.env.DB.batch(statements);
    };
    await w.sweepAlone('expired', { ...w.env, DB: { prepare: (sql: string) => w.env.DB.prepare(sql), batch } as unknown as D1Database });
    const statuses = await Promise.all(ids.map(async (id) => (await w.call('GET', `/v1/payments/${id}`)).body.status));
    expect(statuses).toEqual(['PENDING_SIGNATURE', 'PENDING_SIGNATURE', 'FAILED']);
    await w.sweepAlone('expired');
    expect((await w.call('GET', `/v1/payments/${ids[1]}`)).body.status).toBe('FAILED');
    await w.env.DB.prepare('DELETE FROM payments WHERE id = ?').bind(ids[0]).run();
  });

  it(`${SETUPS} expired setups and their accounts are deleted in few statements per ${PAGE} within half the row limit`, async () => {
    const setup = await Setup.create(w);
    await setup.runOut((8 * DAY) / 1000);
    await w.sweepAlone('setups');
    expect((await setup.row()).status).toBe('expired');
    const copies = (prefix: string) => `'${prefix}-' || i`;
    const { account_id: accountId } = setup.created;
    await multiply(w.env.DB, 'accounts', 'id', accountId, SETUPS, { id: copies('account'), admission_id: copies('admission') });
    await multiply(w.env.DB, 'persons', 'id', accountId, SETUPS, { id: copies('account') });
    await multiply(w.env.DB, 'setup_intents', 'id', setup.id, SETUPS, { id: copies('setup'), account_id: copies('account') });
    const key = { id: copies('key'), key_hash: copies('hash'), merchant_id: copies('account') };
    await multiply(w.env.DB, 'api_keys', 'merchant_id', accountId, SETUPS, key);
    // An account with a membership stays and does not delay others.
    await w.env.DB.prepare("UPDATE memberships SET merchant_id = 'account-7' WHERE id = (SELECT max(id) FROM memberships)").run();
    const { rounds, trips, ms } = await sweepAll('endedSetups', LIMITS.rows / 2);
    const left = async (table: string, column: string) =>
      w.env.DB.prepare(`SELECT count(*) AS n FROM ${table} WHERE ${column} LIKE 'account-%'`).first<number>('n');
    expect([
      await left('accounts', 'id'),
      await left('persons', 'id'),
      await left('setup_intents', 'account_id'),
      await left('api_keys', 'merchant_id'),
    ]).toEqual([1, 1, 1, 1]);
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM setup_intents WHERE is_retained = 1').first<number>('n')).toBe(1);
    expect(rounds).toBe(Math.ceil((SETUPS + 1) / (3 * PAGE)));
    expect(trips).toBeLessThanOrEqual(4 * Math.ceil((SETUPS + 1) / PAGE) + 5 * rounds + 5);
    expect(ms).toBeLessThan(60_000);
  });
});
