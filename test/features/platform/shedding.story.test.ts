import { afterEach, describe, expect, it } from 'vitest';
import { SECOND } from '#core/time.ts';
import type { Env } from '#platform/context.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

describe('database with missing migrations', () => {
  const w = new World();
  afterEach(letTimeRun);

  it('every call except health is 503 misconfigured until a few seconds after the migrations are applied', async () => {
    // No call was made in this isolate yet, so each of the first calls checks the schema.
    await w.env.DB.prepare('ALTER TABLE api_keys RENAME COLUMN key_prefix TO former').run();
    const first = await Promise.all(Array.from({ length: 5 }, () => w.call('GET', '/v1/account/me')));
    expect(first.map(({ body: { code } }) => code)).toEqual(Array(5).fill('misconfigured'));
    for (const path of ['/v1/account/me', '/v1/openapi.json', '/v1/receipt/x/public'])
      expect(await w.call('GET', path)).toMatchObject({ status: 503, body: { code: 'misconfigured', retryable: false } });
    const body = { email: 'behind@example.com', password: 'correct horse', display_name: 'Behind' };
    expect((await w.call('POST', '/v1/auth/register', { body })).body.code).toBe('misconfigured');
    expect((await w.call('GET', '/health')).status).toBe(200);
    await w.env.DB.prepare('ALTER TABLE api_keys RENAME COLUMN former TO key_prefix').run();
    setTime(Date.now() + 5 * SECOND);
    expect((await w.call('GET', '/v1/account/me')).status).toBe(401);
    expect((await w.call('POST', '/v1/auth/register', { body })).status).toBe(201);
  });
});

describe('overloaded object', () => {
  const w = new World();
  const overloaded = () => {
    let asked = 0;
    const refuse = async () => {
      asked++;
      throw Object.assign(new Error('Durable Object is overloaded. Too many requests queued.'), { overloaded: true, retryable: false });
    };
    const objects = { getByName: () => new Proxy({}, { get: () => refuse }) };
    return { asked: () => asked, only: (binding: 'ADMISSION' | 'ENTITLEMENT') => ({ ...w.env, [binding]: objects }) as unknown as Env };
  };

  it('an overloaded object is called once and the caller gets 503 with a random Retry-After', async () => {
    const merchant = await w.merchant();
    const product = await w.product(merchant);
    const body = { product_id: product.product_id, customer: { customer_ref: 'ada' }, units: 1 };
    const waits = new Set<number>();
    for (let i = 0; i < 12; i++) {
      const { asked, only } = overloaded();
      // A chunked body takes the route, which calls the overloaded object itself.
      const headers = { 'Idempotency-Key': `overload-${i}`, 'Transfer-Encoding': 'chunked' };
      const options = { key: merchant.key, body, headers };
      const answer = await w.call('POST', '/v1/access/entitlements/consume', { ...options, env: only('ENTITLEMENT') });
      expect([answer.status, answer.body.code, answer.body.retryable]).toEqual([503, 'temporarily_unavailable', true]);
      expect(asked()).toBe(1);
      waits.add(Number(answer.headers.get('Retry-After')));
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(9);
    expect(waits.size).toBeGreaterThan(1);
  });

  it('an overloaded admission object is 503 temporarily_unavailable with Retry-After', async () => {
    const merchant = await w.merchant();
    const { asked, only } = overloaded();
    const answer = await w.call('GET', '/v1/account/me', { key: merchant.key, env: only('ADMISSION') });
    expect([answer.status, answer.body.code, asked()]).toEqual([503, 'temporarily_unavailable', 1]);
    expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThanOrEqual(2);
  });
});
