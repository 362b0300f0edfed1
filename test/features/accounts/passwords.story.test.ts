import { beforeAll, describe, expect, it } from 'vitest';
import { hashPassword, verifyPassword } from '#core/crypto.ts';
import { base64 } from '#core/encoding.ts';
import { findByPassword, sealHash } from '#features/accounts/auth/passwords.ts';
import { type Ctx, type Env, newCtx } from '#platform/context.ts';
import { World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
/** RFC 7914 section 12, truncated to the 32 stored bytes. The password is `password`. */
const VECTOR = 'fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b373162'.match(/../g)!.map((byte) => Number.parseInt(byte, 16));
const CHEAP = `$scrypt$ln=10,r=8,p=16$${btoa('NaCl')}$${base64.encode(Uint8Array.from(VECTOR))}`;

describe('stored password', () => {
  let w: World;
  beforeAll(() => {
    w = new World();
  });
  const newEmail = () => `password-${crypto.randomUUID()}@example.com`;
  const register = async (env: Env = w.env) => {
    const email = newEmail();
    const answer = await w.call('POST', '/v1/auth/register', { body: { email, password: PASSWORD, display_name: 'Ada' }, env });
    expect(answer.status).toBe(201);
    return email;
  };
  const login = (email: string, { password = PASSWORD, env = w.env }: { password?: string; env?: Env } = {}) =>
    w.call('POST', '/v1/auth/login', { body: { email, password }, env });
  const stored = async (email: string) =>
    (await w.env.DB.prepare('SELECT password_hash FROM persons WHERE email = ?').bind(email).first<string>('password_hash'))!;
  const store = (email: string, hash: string) =>
    w.env.DB.prepare('UPDATE persons SET password_hash = ? WHERE email = ?').bind(hash, email).run();
  const peppered = (PEPPER: string): Env => ({ ...w.env, PEPPER });

  it('a stored hash cannot be tested without the pepper', async () => {
    const email = await register();
    const text = await stored(email);
    expect(text).not.toContain('scrypt');
    for (const guess of [text, `$scrypt$ln=14,r=8,p=5$${text.split('.').slice(1).join('$')}`])
      expect(await verifyPassword(PASSWORD, guess).catch(() => false)).toBe(false);
    expect((await login(email)).status).toBe(200);
    expect((await login(email, { env: peppered('another pepper for tests: thirty-two bytes') })).status).toBe(401);
  });

  it('a hash with other cost parameters is renewed by the next successful sign-in', async () => {
    const email = await register();
    const cheap = await sealHash(w.env.PEPPER as string, CHEAP);
    await store(email, cheap);
    expect((await login(email, { password: 'passwort' })).status).toBe(401);
    expect(await stored(email)).toBe(cheap);
    expect((await login(email, { password: 'password' })).status).toBe(200);
    expect(await stored(email)).not.toBe(cheap);
    expect((await login(email, { password: 'password' })).status).toBe(200);
    expect((await login(email, { password: 'passwort' })).status).toBe(401);
  });

  it('a sign-in reseals the hash under the first pepper, so that the old one can be removed', async () => {
    const [old, fresh] = ['the old pepper of this test: thirty-two bytes', 'the new pepper of this test: thirty-two bytes'];
    const email = await register(peppered(old));
    const before = await stored(email);
    expect((await login(email, { env: peppered(`${old},${fresh}`) })).status).toBe(200);
    expect(await stored(email)).toBe(before);
    expect((await login(email, { env: peppered(`${fresh},${old}`) })).status).toBe(200);
    expect(await stored(email)).not.toBe(before);
    await w.sweepAlone('peppers', peppered(`${fresh},${old}`));
    expect((await login(email, { env: peppered(fresh) })).status).toBe(200);
  });

  it('a password change during the renewal of its hash wins', async () => {
    const { email, token } = await w.merchant();
    const body = { current_password: PASSWORD, new_password: 'a better horse' };
    const [changed] = await Promise.all([w.call('PATCH', '/v1/account/me/security', { key: token, body }), login(email)]);
    expect(changed.status).toBe(200);
    expect([(await login(email)).status, (await login(email, { password: 'a better horse' })).status]).toEqual([401, 200]);
  });
});

describe('concurrent password checks', () => {
  const w = new World();
  const atOnce = 24;

  it('checks beyond the limit get 503 with spread Retry-After values, and those within are answered', async () => {
    const { email } = await w.merchant();
    const answers = await Promise.all(
      Array.from({ length: atOnce }, (_, i) =>
        w.call('POST', '/v1/auth/login', { body: { email: i % 2 ? email : `nobody-${i}@example.com`, password: PASSWORD } }),
      ),
    );
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBeGreaterThan(0);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 401, 503]));
    for (const { body, headers } of refused) {
      expect(body).toMatchObject({ code: 'temporarily_unavailable', retryable: true });
      expect(Number(headers.get('Retry-After'))).toBeGreaterThanOrEqual(2);
      expect(Number(headers.get('Retry-After'))).toBeLessThan(10);
    }
    expect(new Set(refused.map(({ headers }) => headers.get('Retry-After'))).size).toBeGreaterThan(1);
    expect((await w.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD } })).status).toBe(200);
  });

  it('aborted requests release their slots once the time limit of a request has passed', async () => {
    const ctxAt = (now: number): Ctx => newCtx(w.env, { requestId: 'req_cut_off', now, defer: () => {} });
    const now = Date.now();
    const find = () => new Promise<undefined>(() => {});
    for (let i = 0; i < atOnce; i++) void findByPassword(ctxAt(now), PASSWORD, find).catch(() => {});
    await expect(findByPassword(ctxAt(now), PASSWORD, async () => undefined)).rejects.toMatchObject({ code: 'temporarily_unavailable' });
    expect(await findByPassword(ctxAt(now + 20_001), PASSWORD, async () => undefined)).toBeNull();
  });

  it('a check takes as long for an unknown account as for a known one', async () => {
    const { email } = await w.merchant();
    const account = await w.env.DB.prepare('SELECT * FROM persons WHERE email = ?').bind(email).first();
    const known = { ...account, passwordHash: await hashPassword('another password') } as never;
    const now = Date.now() + 60_000;
    const cost = async (found: undefined | never): Promise<number> => {
      await scheduler.wait(1);
      const startedAt = Date.now();
      const ctx = newCtx(w.env, { requestId: 'req_cost', now, defer: () => {} });
      for (let i = 0; i < 2; i++) expect(await findByPassword(ctx, PASSWORD, async () => found)).toBeNull();
      await scheduler.wait(1);
      return Date.now() - startedAt;
    };
    // The minimum of several runs, because load on the machine only adds time.
    const least = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY };
    for (let round = 0; round < 4; round++) {
      least.known = Math.min(least.known, await cost(known));
      least.unknown = Math.min(least.unknown, await cost(undefined));
    }
    expect(least.unknown).toBeGreaterThan(least.known / 3);
    expect(least.known).toBeGreaterThan(least.unknown / 3);
  });
});
