import { beforeAll, describe, expect, it } from 'vitest';
import { DAY, HOUR, iso } from '#core/time.ts';
import { sweepMemberships } from '#features/memberships/expire-membership.ts';
import { newCtx } from '#platform/context.ts';
import { seededRandom } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { SEED, SOAK } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

type Wallet = Awaited<ReturnType<World['chain']['wallet']>>;

interface Bought {
  product: { product_id: string; slug: string };
  buyer: Wallet;
  id: string;
  paymentId: string;
}

describe('membership expiry', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  const buy = async (terms: Record<string, unknown> = {}): Promise<Bought> => {
    const [product, buyer] = [await w.product(ada, { access_period_days: 30, ...terms }), await w.chain.wallet()];
    const { payment, confirmed } = await w.purchase(product, buyer);
    return { product, buyer, id: confirmed.membership_id, paymentId: payment.payment_id };
  };
  const read = async ({ paymentId }: Bought) =>
    (await w.call('GET', `/v1/memberships/lookup?payment_id=${paymentId}`, { key: ada.key })).body;
  const age = ({ id }: Bought, ms: number) =>
    w.env.DB.prepare('UPDATE memberships SET paid_through = paid_through - ?1, grace_until = grace_until - ?1 WHERE id = ?2')
      .bind(ms, id)
      .run();
  const readEvents = async ({ id }: Bought) => {
    const sql = "SELECT type, data, subject_version FROM events WHERE subject_type = 'membership' AND subject_id = ? ORDER BY seq";
    const { results } = await prepareOnEvents(w.env.DB, sql).bind(id).all<{ type: string; data: string; subject_version: number }>();
    return results.map(({ type, data, subject_version }) => ({
      type: type.replace('membership.', ''),
      version: subject_version,
      ...(JSON.parse(data) as { object: Record<string, unknown>; previous?: Record<string, unknown> }),
    }));
  };
  const readTypes = async (bought: Bought) => (await readEvents(bought)).map(({ type }) => type);

  it('a membership with time left is unchanged', async () => {
    const bought = await buy();
    await age(bought, 30 * DAY - 60_000);
    const before = await read(bought);
    await w.sweepAlone('memberships');
    expect(await read(bought)).toEqual(before);
    expect(await readTypes(bought)).toEqual(['activated']);
  });

  it('an ended membership is in grace, then expired, with one event each that has the previous state', async () => {
    const bought = await buy();
    await age(bought, 30 * DAY + HOUR);
    const { paid_through, expires_at } = await read(bought);
    expect(expires_at).toBe(iso(Date.parse(paid_through) + 72 * HOUR));
    await w.sweepAlone('memberships');
    const inGrace = await read(bought);
    expect(inGrace).toMatchObject({ status: 'grace', paid_through, grace_until: expires_at, expires_at, version: 2 });
    await age(bought, 70 * HOUR);
    await w.sweepAlone('memberships');
    expect((await read(bought)).status).toBe('grace');
    await age(bought, HOUR);
    await w.sweepAlone('memberships');
    const expired = await read(bought);
    expect(expired).toMatchObject({ status: 'expired', paid_through: iso(Date.parse(paid_through) - 71 * HOUR), version: 3 });
    expect('grace_until' in expired).toBe(false);
    await w.sweepAlone('memberships');
    expect(await read(bought)).toEqual(expired);
    const [, grace, end, ...more] = await readEvents(bought);
    expect(more).toEqual([]);
    expect(grace).toEqual({ type: 'grace_started', version: 2, object: inGrace, previous: { status: 'active', paid_through } });
    expect(end).toMatchObject({ type: 'expired', version: 3, object: expired, previous: { status: 'grace' } });
  });

  it('the grace stays as granted, whatever becomes of the product', async () => {
    const bought = await buy({ grace_hours: 5 });
    const url = `/v1/products/${bought.product.product_id}`;
    await w.call('PATCH', url, { key: ada.key, body: { grace_hours: 0 } });
    await age(bought, 30 * DAY + HOUR);
    await w.sweepAlone('memberships');
    const { paid_through, grace_until } = await read(bought);
    expect(Date.parse(grace_until) - Date.parse(paid_through)).toBe(5 * HOUR);
    await w.call('POST', `${url}/archive`, { key: ada.key });
    await w.sweepAlone('memberships');
    expect(await read(bought)).toMatchObject({ status: 'grace', grace_until });
    await age(bought, 5 * HOUR);
    await w.sweepAlone('memberships');
    expect((await read(bought)).status).toBe('expired');
  });

  it('a refund ends the grace of its purchase, although an earlier purchase remains', async () => {
    const owner = await w.chain.wallet();
    const bought = await buy({ payout_wallet: owner.address });
    const { payment } = await w.purchase(bought.product, bought.buyer);
    await w.env.DB.prepare('UPDATE payments SET confirmed_at = confirmed_at - ? WHERE membership_id = ?')
      .bind(61 * DAY, bought.id)
      .run();
    await age(bought, 61 * DAY);
    await w.sweepAlone('memberships');
    expect((await read(bought)).status).toBe('grace');
    const path = `/v1/payments/${payment.payment_id}`;
    const prepared = await w.call('POST', `${path}/refund-transaction`, { key: ada.key, body: { revoke_access: true } });
    const wire = await w.chain.sign(owner, prepared.body.transaction);
    const signature = await w.chain.call<string>('sendTransaction', wire, { encoding: 'base64' });
    await w.call('POST', `${path}/refund-confirm`, { key: ada.key, body: { tx_signature: signature } });
    const { paid_through, grace_until } = await read(bought);
    expect(Date.parse(grace_until)).toBe(Date.parse(paid_through) + 72 * HOUR);
    expect(Date.parse(grace_until)).toBeLessThan(Date.now() - 27 * DAY);
    await w.sweepAlone('memberships');
    expect((await read(bought)).status).toBe('expired');
  });

  it('a membership without grace, or with its grace already over, expires at once', async () => {
    const [none, late] = [await buy({ grace_hours: 0 }), await buy()];
    await age(none, 30 * DAY);
    await age(late, 34 * DAY);
    await w.sweepAlone('memberships');
    for (const bought of [none, late]) {
      const membership = await read(bought);
      expect([membership.status, 'grace_until' in membership]).toEqual(['expired', false]);
      expect(await readTypes(bought)).toEqual(['activated', 'expired']);
    }
  });

  it.each([
    ['during its grace', HOUR, 'grace'],
    ['after it expired', 4 * DAY, 'expired'],
  ])('a membership renewed %s is active from now on', async (_when, over, status) => {
    const bought = await buy();
    await age(bought, 30 * DAY + over);
    await w.sweepAlone('memberships');
    expect((await read(bought)).status).toBe(status);
    const asked = Date.now();
    const { confirmed, payment } = await w.purchase(bought.product, bought.buyer);
    expect(confirmed.membership_id).toBe(bought.id);
    const renewed = await read(bought);
    expect(renewed).toMatchObject({ membership_id: bought.id, status: 'active', last_payment_id: payment.payment_id, version: 3 });
    expect('grace_until' in renewed).toBe(false);
    expect(Date.parse(renewed.paid_through) - Date.parse(renewed.updated_at)).toBe(30 * DAY);
    expect(Date.parse(renewed.updated_at)).toBeGreaterThanOrEqual(asked);
    await w.sweepAlone('memberships');
    expect(await read(bought)).toEqual(renewed);
    const events = await readEvents(bought);
    expect(events.map(({ type }) => type)).toEqual(['activated', status === 'grace' ? 'grace_started' : 'expired', 'renewed']);
    expect(events[2]).toMatchObject({ object: renewed, previous: { status } });
    await age(bought, 30 * DAY + HOUR);
    await w.sweepAlone('memberships');
    expect((await read(bought)).status).toBe('grace');
  });

  it('access without an end never expires', async () => {
    const forever = [await buy({ access_period_days: null }), await buy({ access_period_days: null, grace_hours: 0 })];
    const extended = await buy();
    await w.call('PATCH', `/v1/products/${extended.product.product_id}`, { key: ada.key, body: { access_period_days: null } });
    await w.purchase(extended.product, extended.buyer);
    for (const bought of [...forever, extended]) {
      await w.env.DB.prepare('UPDATE memberships SET created_at = 1, updated_at = 1 WHERE id = ?').bind(bought.id).run();
      await age(bought, 9999 * DAY);
    }
    await w.sweepAlone('memberships');
    for (const bought of [...forever, extended]) {
      expect(await read(bought)).toMatchObject({ status: 'active', paid_through: null });
      expect(await readTypes(bought)).not.toContain('expired');
    }
  });

  it('sequential and concurrent sweeps expire a membership once, with one event', async () => {
    const bought: Bought[] = [];
    for (let i = 0; i < 6; i++) bought.push(await buy(i % 2 ? { grace_hours: 0 } : {}));
    for (const each of bought) await age(each, 30 * DAY + HOUR);
    const manySweeps = async () => {
      await Promise.all(Array.from({ length: 5 }, () => w.sweepAlone('memberships')));
      await w.sweepAlone('memberships');
    };
    await manySweeps();
    for (const [i, each] of bought.entries()) expect(await readTypes(each)).toEqual(['activated', i % 2 ? 'expired' : 'grace_started']);
    for (const each of bought) await age(each, 72 * HOUR);
    await manySweeps();
    for (const [i, each] of bought.entries())
      expect(await readTypes(each)).toEqual(i % 2 ? ['activated', 'expired'] : ['activated', 'grace_started', 'expired']);
  });

  it('memberships beyond the limit of one sweep expire in the next', async () => {
    const bought = await buy();
    await w.env.DB.prepare(
      `INSERT INTO memberships (id, merchant_id, livemode, product_id, customer_key, wallet_address, is_claimed, status, paid_through,
         last_payment_id, created_at, updated_at, version)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 210)
       SELECT printf('01900000-0000-7000-8000-%012d', i), merchant_id, livemode, product_id, 'ref:' || i, wallet_address, is_claimed, status,
         ${Date.now() - 40 * DAY} + i, last_payment_id, created_at, updated_at, 1 FROM memberships, n WHERE memberships.id = ?`,
    )
      .bind(bought.id)
      .run();
    const left = () =>
      w.env.DB.prepare("SELECT count(*) AS n FROM memberships WHERE product_id = ? AND status = 'active'")
        .bind(bought.product.product_id)
        .first<number>('n');
    await w.sweepAlone('memberships');
    expect(await left()).toBeLessThan(211);
    await w.sweepAlone('memberships');
    expect(await left()).toBe(1);
    expect((await read(bought)).status).toBe('active');
  });

  /** Environment in which `rival` runs just before each batch is stored. */
  const interrupted = (rival: () => Promise<unknown>) => {
    const batch = async (statements: D1PreparedStatement[]) => {
      await rival();
      return w.env.DB.batch(statements);
    };
    return { ...w.env, DB: { prepare: (sql: string) => w.env.DB.prepare(sql), batch } as unknown as D1Database };
  };
  const sweepIn = (env: typeof w.env) => sweepMemberships(newCtx(env, { requestId: 'req_sweep', defer: () => {} }));

  it.each([
    ['its grace begins', 72, 0, ['activated']],
    ['it expires', 0, 0, ['activated']],
    ['its grace ends', 72, 72, ['activated', 'grace_started']],
  ])('a renewal between read and write of the sweep wins when %s, in both orders', async (_what, grace_hours, more, before) => {
    for (const first of ['renewal', 'sweep']) {
      const bought = await buy({ grace_hours });
      await age(bought, 30 * DAY + HOUR);
      if (more > 0) {
        await w.sweepAlone('memberships');
        await age(bought, more * HOUR);
      }
      const payment = await w.connect(bought.product);
      const signature = await w.chain.pay(bought.buyer, payment);
      const renew = (env = w.env) => w.confirm(payment.payment_id, signature, { env });
      if (first === 'renewal') await sweepIn(interrupted(() => renew()));
      else expect((await renew(interrupted(() => sweepIn(w.env)))).body.payment.status).toBe('CONFIRMED');
      const membership = await read(bought);
      expect(membership).toMatchObject({ status: 'active', last_payment_id: payment.payment_id });
      expect(Date.parse(membership.paid_through) - Date.parse(membership.updated_at)).toBe(30 * DAY);
      expect('grace_until' in membership).toBe(false);
      const lapsed = more > 0 || grace_hours === 0 ? 'expired' : 'grace_started';
      expect(await readTypes(bought)).toEqual([...before, ...(first === 'sweep' ? [lapsed] : []), 'renewed']);
    }
  });

  it(`a renewal concurrent with the sweep wins (seed ${SEED})`, async () => {
    const random = seededRandom(SEED);
    const wait = () => new Promise((resolve) => setTimeout(resolve, random() * 25));
    const sweepAlone = async () => {
      await wait();
      await sweepIn(w.env);
    };
    const racers = [await buy(), await buy({ grace_hours: 0 })];
    const seen = new Set<string>();
    for (let round = 0; round < 50 * SOAK; round++) {
      const bought = racers[round % 2]!;
      await age(bought, 30 * DAY + HOUR);
      if (round % 3 === 0) await sweepAlone();
      const before = (await readEvents(bought)).length;
      const payment = await w.connect(bought.product);
      const signature = await w.chain.pay(bought.buyer, payment);
      const renew = async () => {
        if (round % 5 === 0) await wait();
        return w.confirm(payment.payment_id, signature);
      };
      const [answer] = await Promise.all([renew(), sweepAlone(), sweepAlone()]);
      expect([round, answer.status, answer.body.payment?.status]).toEqual([round, 200, 'CONFIRMED']);
      await sweepAlone();
      const membership = await read(bought);
      expect([round, membership.status, membership.last_payment_id]).toEqual([round, 'active', payment.payment_id]);
      expect('grace_until' in membership).toBe(false);
      expect(Date.parse(membership.paid_through)).toBeGreaterThan(Date.now() + 29 * DAY);
      const events = (await readEvents(bought)).slice(before);
      const types = events.map(({ type }) => type).join();
      expect(['renewed', 'grace_started,renewed', 'expired,renewed']).toContain(types);
      expect(events.at(-1)!.version).toBe(membership.version);
      seen.add(types);
    }
    // Guards against runs in which the sweep always came too late.
    expect(seen.size, [...seen].join(' | ')).toBeGreaterThan(1);
  });
});
