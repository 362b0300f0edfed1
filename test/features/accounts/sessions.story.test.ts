import { runInDurableObject } from 'cloudflare:test';
import { generateKeyPairSigner } from '@solana/kit';
import { describe, expect, it } from 'vitest';
import { ApiError } from '#core/errors.ts';
import { admissionIdOf } from '#core/ids.ts';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { addPasskey } from '../../support/people/factors.ts';
import { addMember } from '../../support/people/team.ts';
import { testEnv } from '../../support/runner/env.ts';
import { rowsOf, withRowCount } from '../../support/runner/rows-read.ts';
import { World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
const w = new World();

const logIn = (email: string, headers: Record<string, string> = {}) =>
  w.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD }, headers });
const listed = async (key: string) => (await w.call('GET', '/v1/account/sessions', { key })).body.items;
const endOne = (key: string, id: string) => w.call('DELETE', `/v1/account/sessions/${id}`, { key });
const ENDED = { status: 401, body: { code: 'invalid_authorization', meta: { reason: 'session_ended' } } };
const me = (key: string) => w.call('GET', '/v1/account/me', { key });
const refresh = (token: string) => w.call('POST', '/v1/auth/refresh', { body: { token } });

describe('GET /v1/account/sessions', () => {
  it('the list shows how, from where and when each session began, newest use first', async () => {
    const { email, token } = await w.merchant();
    const headers = { 'CF-Connecting-IP': '203.0.113.9', 'User-Agent': `Firefox ${'x'.repeat(300)}` };
    const { body } = await w.call('POST', '/v1/auth/login', {
      body: { email, password: PASSWORD },
      headers,
      cf: { country: 'DE' } as IncomingRequestCfProperties,
    });
    const items = await listed(body.token);
    expect(items).toHaveLength(2);
    expect(items[0]).toEqual({
      session_id: body.session_id,
      current: true,
      method: 'password',
      factor: null,
      ip: '203.0.113.9',
      country: 'DE',
      user_agent: headers['User-Agent'].slice(0, 200),
      account_id: body.user_id,
      created_at: items[0].last_seen_at,
      last_seen_at: expect.any(String),
      expires_at: new Date(Date.parse(items[0].created_at) + 30 * 86_400_000).toISOString(),
    });
    expect((await listed(token)).map((one: { current: boolean }) => one.current)).toEqual([false, true]);
  });

  it('each sign-in begins a session of its method', async () => {
    const signer = await generateKeyPairSigner();
    const [, again] = [await walletSignIn(w, signer), await walletSignIn(w, signer)];
    expect((await listed(again.body.token)).map(({ method }: { method: string }) => method)).toEqual(['siws', 'siws']);
    const email = `new-${crypto.randomUUID()}@example.com`;
    const { body } = await w.call('POST', '/v1/auth/register', { body: { email, password: PASSWORD, display_name: 'New' } });
    expect(await listed(body.token)).toMatchObject([{ session_id: body.session_id, method: 'password', current: true }]);
  });

  it('keys are refused', async () => {
    const { key } = await w.merchant();
    for (const [method, path] of [
      ['GET', '/v1/account/sessions'],
      ['DELETE', '/v1/account/sessions'],
      ['DELETE', `/v1/account/sessions/${crypto.randomUUID()}`],
    ] as const)
      expect(await w.call(method, path, { key })).toMatchObject({ status: 403, body: { meta: { reason: 'token_required' } } });
  });
});

describe('DELETE /v1/account/sessions (F19: a stolen session after logout)', () => {
  it('an ended session is refused at the next request, also by a refresh, and may be ended again', async () => {
    const { email, token } = await w.merchant();
    const other = (await logIn(email)).body;
    expect((await me(other.token)).status).toBe(200);
    const renewed = (await refresh(other.token)).body.token;
    for (const _ of ['first', 'again']) expect((await endOne(token, other.session_id)).status).toBe(204);
    for (const ended of [other.token, renewed]) {
      expect(await me(ended)).toMatchObject(ENDED);
      expect(await refresh(ended)).toMatchObject(ENDED);
      expect(await w.call('POST', '/v1/auth/logout', { key: ended })).toMatchObject(ENDED);
    }
    expect((await me(token)).status).toBe(200);
  });

  it('a session of another person is not found, and remains', async () => {
    const [ada, eve] = [await w.merchant(), await w.merchant()];
    const [{ session_id: id }] = await listed(ada.token);
    for (const strange of [id, crypto.randomUUID()])
      expect(await endOne(eve.token, strange)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await me(ada.token)).status).toBe(200);
  });

  it('all sessions end, but the current one unless it is included', async () => {
    const { email, token, key } = await w.merchant();
    const others = await Promise.all([logIn(email), logIn(email)]);
    const end = (query: string) => w.call('DELETE', `/v1/account/sessions${query}`, { key: token });
    expect(await end('')).toMatchObject({ status: 200, body: { ended: 2 } });
    for (const { body } of others) expect(await me(body.token)).toMatchObject(ENDED);
    expect((await end('?keep_current=maybe')).status).toBe(422);
    expect(await end('?keep_current=true')).toMatchObject({ status: 200, body: { ended: 0 } });
    expect(await end('?keep_current=false')).toMatchObject({ status: 200, body: { ended: 1 } });
    expect(await me(token)).toMatchObject(ENDED);
    expect((await me(key)).status).toBe(200);
  });

  it('the 51st sign-in ends the session unused longest, and fifty concurrent ones end no more', async () => {
    const { email, userId, token } = await w.merchant();
    const oldest = await tokenSignedIn(w, userId, 60);
    await Promise.all(Array.from({ length: 48 }, () => tokenSignedIn(w, userId, 30)));
    expect(await listed(token)).toHaveLength(50);
    expect((await me(oldest)).status).toBe(200);
    const { body } = await logIn(email);
    expect(await listed(body.token)).toHaveLength(50);
    for (const used of [oldest, token]) expect((await me(used)).status).toBe(200);
    const all = await Promise.all(Array.from({ length: 50 }, () => tokenSignedIn(w, userId, 0)));
    expect((await Promise.all(all.map(me))).map(({ status }) => status)).toEqual(Array(50).fill(200));
    expect(await listed(all[0]!)).toHaveLength(50);
    expect(await me(oldest)).toMatchObject(ENDED);
  });
});

describe('POST /v1/auth/logout', () => {
  it('a logout without a body has no effect on the server, `session` ends one session and `all` every one', async () => {
    const { email, token } = await w.merchant();
    const [one, two] = (await Promise.all([logIn(email), logIn(email)])).map(({ body }) => body.token);
    const logout = (key: string, body?: object) => w.call('POST', '/v1/auth/logout', { key, ...(body && { body }) });
    for (const body of [undefined, {}]) expect((await logout(one, body)).status).toBe(200);
    expect((await me(one)).status).toBe(200);
    expect(await logout(one, { end: 'everything' })).toMatchObject({ status: 422 });
    expect(await logout(one, { end: 'session' })).toMatchObject({ status: 200, body: { detail: expect.any(String) } });
    expect(await me(one)).toMatchObject(ENDED);
    expect((await me(two)).status).toBe(200);
    expect((await logout(two, { end: 'all' })).status).toBe(200);
    for (const ended of [two, token]) expect(await me(ended)).toMatchObject(ENDED);
    expect(await logout(one, { end: 'all' })).toMatchObject(ENDED);
    expect((await w.call('POST', '/v1/auth/logout', { body: { end: 'all' } })).status).toBe(401);
  });
});

describe('a sign-in that fails halfway', () => {
  /** Environment in which the objects of accounts do not answer, or not this call. */
  const silent = (call?: string) => ({
    ...w.env,
    ADMISSION: {
      getByName: (name: string) => {
        const object = w.env.ADMISSION.getByName(name);
        const refuse = () => Promise.reject(new ApiError('temporarily_unavailable', { retryAfterSeconds: 1 }));
        const get = (_: object, key: string) => (key === (call ?? key) ? refuse : Reflect.get(object, key).bind(object));
        return name.startsWith('account:') ? new Proxy({}, { get }) : object;
      },
    } as unknown as typeof w.env.ADMISSION,
  });

  it('a sign-in gives no token and leaves nothing if the session is not stored', async () => {
    const { email, token } = await w.merchant();
    const answer = await w.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD }, env: silent() });
    expect(answer.status).toBe(503);
    expect(answer.body.token).toBeUndefined();
    expect(await listed(token)).toHaveLength(1);
  });

  it('the ticket of a second step works again if the session was not stored', async () => {
    const { email, token } = await w.merchant();
    const { codes } = await addPasskey(w, token);
    const { ticket } = (await logIn(email)).body.meta;
    const redeem = (recovery_code: string, env = w.env) => w.call('POST', '/v1/auth/factor', { body: { ticket, recovery_code }, env });
    expect((await redeem(codes![0]!, silent('beginSession'))).status).toBe(503);
    expect((await redeem(codes![1]!)).status).toBe(200);
    expect((await redeem(codes![2]!)).status).toBe(401);
  });

  it('a repeated registration begins a session that was not stored, and does not begin an ended one again', async () => {
    const body = { email: `half-${crypto.randomUUID()}@example.com`, password: PASSWORD, display_name: 'Half' };
    const headers = { 'Idempotency-Key': crypto.randomUUID() };
    expect((await w.call('POST', '/v1/auth/register', { body, headers, env: silent() })).status).toBe(503);
    const { status, body: made } = await w.call('POST', '/v1/auth/register', { body, headers });
    expect(status).toBe(201);
    expect((await me(made.token)).status).toBe(200);
    expect((await w.call('POST', '/v1/auth/logout', { key: made.token, body: { end: 'session' } })).status).toBe(200);
    const repeated = await w.call('POST', '/v1/auth/register', { body, headers });
    expect(repeated.body.token).toBe(made.token);
    expect(await me(made.token)).toMatchObject(ENDED);
  });
});

describe('DELETE /v1/account/account', () => {
  it('the addresses of a deleted person’s sessions are erased with the account', async () => {
    const eve = await w.merchant();
    const object = testEnv.ADMISSION.getByName(`account:${admissionIdOf(eve.userId)}`);
    const countSessions = () =>
      runInDurableObject(object, (_, { storage }) => storage.sql.exec('SELECT count(*) AS n FROM sessions').one().n);
    expect(await countSessions()).toBe(1);
    expect((await w.call('DELETE', '/v1/account/account', { key: eve.token })).status).toBe(200);
    for (let run = 0; run < 3; run++) await w.sweepAlone('erasures');
    expect(await countSessions()).toBe(0);
  });
});

describe('rows read to admit a call', () => {
  it('a narrowed key reads no row more than a plain one, and a token of an owner or a member at most one', async () => {
    const owner = await w.merchant();
    const product = await w.product(owner);
    const member = await addMember(w, owner, 'viewer');
    const narrow = { name: 'narrow', scopes: ['products:read'], allowed_ips: ['203.0.113.0/24'] };
    const narrowed = (await w.call('POST', '/v1/keys', { key: owner.token, body: narrow })).body.raw_key;
    const readWith = async (key: string): Promise<number> => {
      const { env, readings } = withRowCount(w.env);
      const options = { key, headers: { 'CF-Connecting-IP': '203.0.113.9' } };
      // The first call of an object asks the database for the account.
      await w.call('GET', `/v1/products/${product.product_id}`, options);
      expect((await w.call('GET', `/v1/products/${product.product_id}`, { ...options, env })).status).toBe(200);
      return rowsOf(readings);
    };
    const [byKey, byNarrowed, byOwner, byMember] = [
      await readWith(owner.key),
      await readWith(narrowed),
      await readWith(owner.token),
      await readWith(member.token),
    ];
    expect(byKey).toBeGreaterThan(0);
    expect(byNarrowed).toBe(byKey);
    expect(Math.max(byOwner, byMember)).toBeLessThanOrEqual(byKey + 1);
  });
});
