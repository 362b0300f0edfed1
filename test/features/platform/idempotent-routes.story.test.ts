import { beforeAll, describe, expect, it } from 'vitest';
import { newCtx } from '#platform/context.ts';
import { takeLease } from '#platform/db/lease.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { REPEATED } from '../../support/runner/env.ts';
import { type Answer, type CallOptions, type Merchant, World } from '../../support/world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const w = new World();
let ada: Merchant;
let products: { live: string; sandbox: string };
beforeAll(async () => {
  ada = await w.merchant();
  const terms = { name: 'API', price: { asset: 'USDC', amount: '1' }, live_mode_confirmed: true, payout_wallet: ada.wallet.address };
  const make = async (key: string): Promise<string> => (await w.call('POST', '/v1/products', { key, body: terms })).body.product_id;
  products = { live: await make(ada.key), sandbox: await make(ada.sandboxKey) };
});

interface Case {
  method: string;
  path: string;
  status: number;
  body(mark: string, livemode?: boolean): Body;
  effects(mark: string): Promise<number>;
}
const count = async (sql: string, ...values: unknown[]): Promise<number> =>
  (await prepareOnEvents(w.env.DB, sql)
    .bind(...values)
    .first<{ n: number }>())!.n;

const CASES: Record<string, Case> = {
  apps: {
    method: 'POST',
    path: '/v1/access/apps',
    status: 201,
    body: (mark) => ({ name: mark, homepage_url: 'https://a.example.com' }),
    effects: (mark) => count('SELECT count(*) AS n FROM access_apps WHERE name = ?', mark),
  },
  products: {
    method: 'POST',
    path: '/v1/access/products',
    status: 201,
    body: (mark) => ({ name: mark, price: { asset: 'USDC', amount: '1' } }),
    effects: (mark) => count('SELECT count(*) AS n FROM products WHERE name = ?', mark),
  },
  'payment-sessions': {
    method: 'POST',
    path: '/v1/access/payment-sessions',
    status: 201,
    body: (mark, livemode = true) => ({ product_id: livemode ? products.live : products.sandbox, customer_ref: mark }),
    effects: (mark) => count('SELECT count(*) AS n FROM payment_sessions WHERE customer_ref = ?', mark),
  },
};
const newMark = () => `mark-${crypto.randomUUID()}`;
const call = (one: Case, body: Body, key: string, options: CallOptions = {}): Promise<Answer<Body>> =>
  w.call(one.method, one.path, { key: ada.key, body, ...options, headers: { 'Idempotency-Key': key } });
const isReplay = ({ headers }: Answer<Body>) => headers.get('Idempotent-Replayed') === 'true';
const pass24h = (key: string) => w.env.DB.prepare('UPDATE claims SET expires_at = expires_at - 86400000 WHERE key = ?').bind(key).run();
const twenty = <T>(make: (index: number) => Promise<T>): Promise<T[]> => Promise.all(Array.from({ length: 20 }, (_, index) => make(index)));

describe.each(Object.entries(CASES))('Idempotency-Key on %s', (_name, one) => {
  it('a missing, short, long or non-ASCII key is 400 in this order, without an effect', async () => {
    const mark = newMark();
    for (const [key, code] of [
      ['', 'idempotency_key_required'],
      ['1234567', 'idempotency_key_required'],
      ['a b', 'idempotency_key_required'],
      ['x'.repeat(256), 'idempotency_key_too_long'],
      ['x y'.repeat(100), 'idempotency_key_too_long'],
      ['has a space', 'idempotency_key_invalid'],
      ['schlüssel', 'idempotency_key_invalid'],
    ] as const) {
      const { status, body } = await call(one, one.body(mark), key);
      expect([key, status, body.code, body.retryable]).toEqual([key, 400, code, false]);
    }
    const none = await w.call(one.method, one.path, { key: ada.key, body: one.body(mark) });
    expect([none.status, none.body.code]).toEqual([400, 'idempotency_key_required']);
    expect(await one.effects(mark)).toBe(0);
    expect((await call(one, one.body(mark), 'x'.repeat(255))).status).toBe(one.status);
  });

  it('a repeated request gets the first answer byte for byte in any field order', async () => {
    const [mark, key] = [newMark(), newMark()];
    const first = await call(one, one.body(mark), key);
    const again = await call(one, Object.fromEntries(Object.entries(one.body(mark)).reverse()), key);
    expect([first.status, isReplay(first), isReplay(again)]).toEqual([one.status, false, true]);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(first.body));
    expect(again.status).toBe(first.status);
    expect(await one.effects(mark)).toBe(1);
  });

  it('twenty concurrent requests have one effect and one answer', REPEATED, async () => {
    const [mark, key] = [newMark(), newMark()];
    const answers = await twenty(() => call(one, one.body(mark), key));
    // With one database the winner's record is always readable, so idempotency_race cannot occur.
    expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(one.status));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers.filter((answer) => !isReplay(answer))).toHaveLength(1);
    expect(await one.effects(mark)).toBe(1);
  });

  it('another body is a conflict, and another key, another mode and the next day have their own effect', async () => {
    const [mark, other, key] = [newMark(), newMark(), newMark()];
    const first = await call(one, one.body(mark), key);
    const conflict = await call(one, one.body(other), key);
    expect([conflict.status, conflict.body.code, conflict.body.retryable]).toEqual([409, 'idempotency_conflict', false]);
    expect(await one.effects(other)).toBe(0);
    expect(isReplay(await call(one, one.body(mark), newMark()))).toBe(false);
    expect(await one.effects(mark)).toBe(2);
    const sandbox = await call(one, one.body(other, false), key, { key: ada.sandboxKey });
    expect([sandbox.status, isReplay(sandbox)]).toEqual([one.status, false]);
    const byToken = await w.call(one.method, `${one.path}?mode=sandbox`, {
      key: ada.token,
      body: one.body(other, false),
      headers: { 'Idempotency-Key': key },
    });
    expect([isReplay(byToken), byToken.body]).toEqual([true, sandbox.body]);
    await pass24h(key);
    const tomorrow = await twenty(() => call(one, one.body(mark), key));
    const fresh = tomorrow.filter((answer) => answer.status === one.status && !isReplay(answer));
    expect(fresh).toHaveLength(1);
    expect(fresh[0]!.body).not.toEqual(first.body);
    expect(await one.effects(mark)).toBe(3);
  });

  it('a leased request is 409 idempotency_in_progress until its lease is released', async () => {
    const [mark, key] = [newMark(), newMark()];
    const scope = `${ada.userId}:live:${one.method} ${one.path}`;
    await call(one, one.body(mark), key);
    const row = w.env.DB.prepare('SELECT fingerprint FROM claims WHERE key = ? AND scope = ?').bind(key, scope);
    expect(await row.first()).not.toBeNull();
    const held = newMark();
    const ctx = newCtx(w.env, { requestId: 'req_lease', defer: () => {} });
    const taken = await takeLease(ctx, { scope, key: held, text: JSON.stringify(one.body(mark)) });
    if (!('lease' in taken)) throw new Error('expected a lease');
    const waiting = await call(one, one.body(mark), held);
    expect([waiting.status, waiting.body.code, waiting.headers.get('Retry-After')]).toEqual([409, 'idempotency_in_progress', '1']);
    await taken.lease.release();
    expect((await call(one, one.body(mark), held)).status).toBe(one.status);
  });

  it.each(['before', 'after'] as const)('a database outage right %s any trip leaves one effect', REPEATED, async (moment) => {
    const counted = withFaults(w.env);
    await call(one, one.body(newMark()), newMark(), { env: counted.env });
    const trips = counted.trips.length;
    expect(trips).toBeGreaterThanOrEqual(2);
    for (let cut = 1; cut <= trips; cut++) {
      for (const cutAfter of [cut, Number.POSITIVE_INFINITY]) {
        const [mark, key] = [newMark(), newMark()];
        const isCut = ({ number }: { number: number }) => (cutAfter === cut ? number === cut : number >= cut);
        const { env } = withFaults(w.env, { [moment]: isCut });
        const broken = await call(one, one.body(mark), key, { env });
        // A commit with a lost answer is found by reading again.
        const isLost = moment === 'after' && cutAfter === cut && counted.trips[cut - 1]!.kind === 'batch';
        expect(isLost ? [one.status] : [one.status, 503]).toContain(broken.status);
        if (broken.status === 503) expect([broken.body.code, broken.body.retryable]).toEqual(['temporarily_unavailable', true]);
        const retried = await call(one, one.body(mark), key);
        expect([cut, retried.status]).toEqual([cut, one.status]);
        if (broken.status === one.status) expect(retried.body).toEqual(broken.body);
        expect([cut, await one.effects(mark)]).toEqual([cut, 1]);
      }
    }
  });

  it('a refused request is not stored', async () => {
    const [mark, key] = [newMark(), newMark()];
    const wrong = await call(one, { ...one.body(mark), name: 7, customer_ref: ' ' }, key);
    expect([wrong.status, wrong.body.code]).toEqual([422, 'validation_error']);
    expect((await call(one, one.body(mark), key)).status).toBe(one.status);
  });
});

describe('Idempotency-Key across routes', () => {
  it('a key used on another path is another request', async () => {
    const [mark, key] = [newMark(), newMark()];
    for (const one of Object.values(CASES)) {
      const answer = await call(one, one.body(mark), key);
      expect([answer.status, isReplay(answer)]).toEqual([one.status, false]);
    }
  });

  it('a request refused by state is not stored, and its key works once the cause is fixed', async () => {
    const { body: product } = await w.call('POST', '/v1/products', { key: ada.key, body: CASES.products!.body(newMark()) });
    const [body, key] = [{ product_id: product.product_id }, newMark()];
    const refused = await call(CASES['payment-sessions']!, body, key);
    expect([refused.status, refused.body.code]).toEqual([409, 'setup_not_ready']);
    const cure = { live_mode_confirmed: true, payout_wallet: ada.wallet.address };
    await w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.key, body: cure });
    const opened = await call(CASES['payment-sessions']!, body, key);
    expect([opened.status, isReplay(opened)]).toEqual([201, false]);
  });

  it('twenty keys with one external id or one plan get the reason of their refusal', async () => {
    const named = { ...CASES.products!.body(newMark()), external_product_id: newMark() };
    const answers = await twenty(() => call(CASES.products!, named, newMark()));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    const codes = answers.filter(({ status }) => status !== 201).map(({ body }) => [body.code, body.meta.reason]);
    expect(codes).toEqual(Array(19).fill(['state_conflict', 'not_unique']));
    const poor = await w.merchant('free');
    const paid = { payout_wallet: poor.wallet.address };
    const many = await twenty(() => call(CASES.products!, { ...CASES.products!.body(newMark()), ...paid }, newMark(), { key: poor.key }));
    expect(many.filter(({ status }) => status === 201)).toHaveLength(3);
    for (const { status, body } of many.filter((answer) => answer.status !== 201))
      expect([status, body.code, body.meta]).toEqual([429, 'plan_limit_reached', { limit: 3, used: 3, plan: 'free' }]);
  });

  it('twenty concurrent rail settings under one key make one change and one event, and rivals can retry', async () => {
    const grace = await w.merchant();
    const put = (railId: string, body: object, key: string) =>
      w.call('PUT', `/v1/access/rail-settings/${railId}`, { key: grace.key, body, headers: { 'Idempotency-Key': key } });
    const key = newMark();
    const same = await twenty(() => put('solana_usdc', { payout_wallet: grace.wallet.address }, key));
    const done = same.filter(({ status }) => status === 200);
    expect(new Set(done.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    for (const { body } of same.filter(({ status }) => status !== 200)) expect(body.code).toBe('idempotency_race');
    const events = () => count("SELECT count(*) AS n FROM events WHERE merchant_id = ? AND type = 'payout.changed'", grace.userId);
    expect(await events()).toBe(1);
    expect(isReplay(await put('x402_solana_usdc', { payout_wallet: grace.wallet.address }, key))).toBe(false);
    expect((await put('solana_usdc', { enabled: false }, key)).body.code).toBe('idempotency_conflict');
    const rivals = await twenty((index) => put('solana_usdc', { enabled: index % 2 === 0 }, `${key}-${index}`));
    const lost = rivals.flatMap(({ status, body, headers }, index) => (status === 200 ? [] : [{ index, status, body, headers }]));
    expect(lost.length).toBeGreaterThan(0);
    for (const { index, status, body, headers } of lost) {
      expect([status, body.code, body.retryable, headers.get('Retry-After')]).toEqual([409, 'idempotency_race', true, '1']);
      expect((await put('solana_usdc', { enabled: index % 2 === 0 }, `${key}-${index}`)).status).toBe(200);
    }
    const version = 'SELECT version AS n FROM rail_settings WHERE merchant_id = ? AND rail_id = ?';
    expect(await count(version, grace.userId, 'solana_usdc')).toBe(21);
    await pass24h(key);
    expect(isReplay(await put('solana_usdc', { payout_wallet: grace.wallet.address }, key))).toBe(false);
    expect(await events()).toBe(2);
  });

  it.each(['before', 'after'] as const)(
    'a rail setting is applied once if the database fails right %s any trip',
    REPEATED,
    async (moment) => {
      const put = (by: Merchant, key: string, env = w.env) => {
        const body = { payout_wallet: ada.wallet.address };
        return w.call('PUT', '/v1/access/rail-settings/solana_usdc', { key: by.key, body, headers: { 'Idempotency-Key': key }, env });
      };
      const counted = withFaults(w.env);
      await put(await w.merchant(), newMark(), counted.env);
      for (let cut = 1; cut <= counted.trips.length; cut++) {
        const [by, key] = [await w.merchant(), newMark()];
        const broken = await put(by, key, withFaults(w.env, { [moment]: ({ number }: { number: number }) => number === cut }).env);
        expect([200, 503]).toContain(broken.status);
        expect((await put(by, key)).status).toBe(200);
        const events = await count("SELECT count(*) AS n FROM events WHERE merchant_id = ? AND type = 'payout.changed'", by.userId);
        const version = await count('SELECT version AS n FROM rail_settings WHERE merchant_id = ?', by.userId);
        expect([cut, events, version]).toEqual([cut, 1, 1]);
      }
    },
  );
});
