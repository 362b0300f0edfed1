import { beforeAll, describe, expect, it } from 'vitest';
import type { Env } from '#platform/context.ts';
import { type Answer, type Merchant, World } from '../../support/world.ts';

describe('rate limits with production settings', () => {
  const w = new World();
  const strict: Env = { ...w.env, RATE_MULTIPLIER: '1' };
  let ada: Merchant;
  let addresses = 0;

  const newAddress = () => `198.51.100.${++addresses}`;
  const from = (address: string) => ({ headers: { 'CF-Connecting-IP': address }, env: strict });

  beforeAll(async () => {
    ada = await w.merchant('free');
  });

  /** Calls until a 429 and checks its headers. Returns the number of passed calls and the limit. */
  async function exhaust(call: () => Promise<Answer<{ code: string; retryable: boolean }>>, windowSeconds: number, most = 70) {
    for (let passed = 0; passed <= most; passed++) {
      const answer = await call();
      if (answer.status !== 429) {
        expect(Number(answer.headers.get('X-RateLimit-Remaining'))).toBeLessThan(Number(answer.headers.get('X-RateLimit-Limit')));
        continue;
      }
      expect([answer.body.code, answer.body.retryable]).toEqual(['rate_limited', true]);
      expect(answer.headers.get('X-RateLimit-Remaining')).toBe('0');
      const now = Math.floor(Date.now() / 1000);
      const reset = Number(answer.headers.get('X-RateLimit-Reset'));
      expect(reset).toBeGreaterThanOrEqual(now);
      expect(reset).toBeLessThanOrEqual(now + windowSeconds + 1);
      expect(answer.headers.get('Retry-After')).toMatch(/^[1-9][0-9]*$/);
      expect(Number(answer.headers.get('Retry-After'))).toBeLessThanOrEqual(windowSeconds);
      return { passed, limit: Number(answer.headers.get('X-RateLimit-Limit')) };
    }
    throw new Error('never refused');
  }

  it('a key has its plan’s requests per minute and counts down to zero', async () => {
    const read = () => w.call('GET', '/v1/products', { key: ada.key, env: strict });
    const first = await read();
    expect(first.headers.get('X-RateLimit-Limit')).toBe('60');
    const left = Number(first.headers.get('X-RateLimit-Remaining'));
    expect(await exhaust(read, 60)).toEqual({ passed: left, limit: 60 });
    const token = await w.call('GET', '/v1/products', { key: ada.token, env: strict });
    expect(token.status).toBe(429);
  });

  it('the sandbox has its own bucket of at least 30 requests per minute', async () => {
    expect(await exhaust(() => w.call('GET', '/v1/products', { key: ada.sandboxKey, env: strict }), 60)).toEqual({ passed: 30, limit: 30 });
  });

  it('refused calls do not count', async () => {
    const person = await w.merchant('free');
    const read = (query = '') => w.call('GET', `/v1/products${query}`, { key: person.sandboxKey, env: strict });
    for (let i = 0; i < 40; i++) expect((await read('?mode=live')).status).toBe(403);
    expect((await read()).headers.get('X-RateLimit-Remaining')).toBe('29');
  });

  it('concurrent requests pass exactly up to the limit', async () => {
    const person = await w.merchant('free');
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => w.call('GET', '/v1/products', { key: person.sandboxKey, env: strict })),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(30);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });

  it('an address has five registrations an hour', async () => {
    const address = newAddress();
    const register = (caller: string) => w.call('POST', '/v1/auth/register', { body: {}, ...from(caller) });
    expect(await exhaust(() => register(address), 3600)).toEqual({ passed: 5, limit: 5 });
    expect((await register(newAddress())).status).toBe(422);
  });

  it('ten logins pass per address and email in any spelling', async () => {
    const address = newAddress();
    const spellings = ['nobody@example.com', 'Nobody@Example.com', ' NOBODY@example.com '];
    const logIn = (email: string, caller = address) => w.call('POST', '/v1/auth/login', { body: { email }, ...from(caller) });
    let turn = 0;
    expect(await exhaust(() => logIn(spellings[turn++ % 3]!), 900)).toEqual({ passed: 10, limit: 10 });
    expect((await logIn('somebody@example.com')).status).toBe(422);
    expect((await logIn('nobody@example.com', newAddress())).status).toBe(422);
  });

  it('IPv6 callers are counted per /64', async () => {
    const register = (caller: string) => w.call('POST', '/v1/auth/register', { body: {}, ...from(caller) });
    const own = ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::9:9', '2001:db8:1:2:0:1::', '2001:db8:1:2:3:4:5:6'];
    for (const address of own) expect((await register(address)).status).toBe(422);
    expect((await register('2001:db8:1:2::abcd')).status).toBe(429);
    expect((await register('2001:db8:1:3::1')).status).toBe(422);
    const zeros = ['2001:db8::1', '2001:db8::2:3', '2001:db8:0:0:1::', '2001:db8::1:0:0:1', '2001:db8::'];
    for (const address of zeros) expect((await register(address)).status).toBe(422);
    expect((await register('2001:db8::7')).status).toBe(429);
  });

  it.each([
    ['connect', 10, 'POST', (n: number) => `/v1/products/p/slug-${n}/connect`],
    ['identity', 10, 'POST', (n: number) => `/v1/products/p/slug-${n}/identity`],
    ['confirm', 30, 'POST', (n: number) => `/v1/pay/01900000-0000-7000-8000-00000000000${n}/solana-pay`],
    ['status', 60, 'GET', (n: number) => `/v1/payments/01900000-0000-7000-8000-00000000000${n}`],
  ] as const)('%s is limited to %d calls a minute per subject', async (_bucket, max, method, pathOf) => {
    const address = newAddress();
    const call = (n: number, caller = address) =>
      w.call(method, pathOf(n), { ...(method === 'POST' ? { body: {} } : {}), ...from(caller) });
    expect(await exhaust(() => call(1), 60)).toEqual({ passed: max, limit: max });
    expect((await call(2)).status).not.toBe(429);
    expect((await call(1, newAddress())).status).not.toBe(429);
  });

  it.each([
    ['checkout pages', '/v1/products/p/any'],
    ['the list of rails', '/v1/access/rails'],
    ['public receipts', '/v1/receipt/01900000-0000-7000-8000-000000000001/public'],
    ['verifications of receipts', '/v1/receipt/01900000-0000-7000-8000-000000000001/verify'],
  ])('an address has 120 reads a minute of %s', async (_what, path) => {
    const address = newAddress();
    const readPublic = (caller: string) => w.call('GET', path, from(caller));
    expect(await exhaust(() => readPublic(address), 60, 130)).toEqual({ passed: 120, limit: 120 });
    expect((await readPublic(newAddress())).status).not.toBe(429);
  });

  it('identity calls do not use up the connects', async () => {
    const address = newAddress();
    const call = (route: string) => w.call('POST', `/v1/products/p/any/${route}`, { body: {}, ...from(address) });
    expect(await exhaust(() => call('identity'), 60)).toEqual({ passed: 10, limit: 10 });
    expect((await call('connect')).status).toBe(404);
  });

  it('wrong connector secrets are counted per address before the comparison', async () => {
    const address = newAddress();
    const guess = (caller: string) => w.call('POST', '/v1/integrations/connectors/telegram/identity', { body: {}, ...from(caller) });
    expect(await exhaust(() => guess(address), 60, 310)).toEqual({ passed: 300, limit: 300 });
    expect((await guess(newAddress())).status).toBe(401);
  });

  it('a 429 carries CORS headers and exposes Retry-After', async () => {
    const address = newAddress();
    const connect = () =>
      w.call('POST', '/v1/products/p/any/connect', {
        body: {},
        env: strict,
        headers: { 'CF-Connecting-IP': address, Origin: 'https://shop.example' },
      });
    for (let i = 0; i < 10; i++) await connect();
    const { status, headers } = await connect();
    expect([status, headers.get('Access-Control-Allow-Origin')]).toEqual([429, '*']);
    expect(headers.get('Access-Control-Expose-Headers')).toContain('Retry-After');
  });
});
