import { beforeAll, describe, expect, it } from 'vitest';
import { base64url } from '#core/encoding.ts';
import type { AccountId, EndpointId } from '#core/ids.ts';
import { liveSecrets } from '#features/webhooks/endpoints/endpoint.ts';
import { getEndpoint } from '#features/webhooks/store.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { scopeIn } from '../../../worker/platform/context.ts';
import { App } from '../../support/people/authenticator-app.ts';
import { type Merchant, World } from '../../support/world.ts';

const seed = () => base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
const PASSWORD = 'correct horse battery';
const OPERATOR_SECRET = 'the secret of an operator in a test';

/** Deployment with a key ring that rotates from `old` to `fresh`. */
describe('key rotation of sealed values', () => {
  const [old, fresh] = [seed(), seed()];
  const w = new World({ OPERATOR_SECRET });
  const env = (SEAL_KEYS: string, PEPPER = `${SEAL_KEYS} as pepper of at least thirty-two bytes`): Env => ({
    ...w.env,
    SEAL_KEYS,
    FACTOR_KEYS: SEAL_KEYS,
    PEPPER,
  });
  const rings = {
    old: env(old),
    inFront: env(`${fresh},${old}`, `${env(fresh).PEPPER},${env(old).PEPPER}`),
    fresh: env(fresh),
  };
  const figures = async (under: Env) => {
    const { body } = await w.call('GET', '/v1/operator/metrics', { headers: { 'X-Svc-Operator-Secret': OPERATOR_SECRET }, env: under });
    const found = String(body).matchAll(/^svc_sealed_(old|gone)\{what="(\w+)"\} (\d+)$/gm);
    return Object.fromEntries([...found].map(([, key, what, value]) => [`${what} ${key}`, Number(value)]));
  };
  const none = {
    'webhook_secrets old': 0,
    'webhook_secrets gone': 0,
    'kept_answers old': 0,
    'kept_answers gone': 0,
    'totp_secrets old': 0,
    'totp_secrets gone': 0,
    'password_hashes old': 0,
    'password_hashes gone': 0,
  };
  let merchant: Merchant;
  let email: string;
  let endpoints: { id: string; secret: string }[];
  const request = { headers: { 'Idempotency-Key': crypto.randomUUID() }, body: { name: 'kept' } };
  let answer: string;
  let app: App;
  beforeAll(async () => {
    // API keys are verified with the pepper, so the merchant uses only the token.
    email = `sealed-${crypto.randomUUID()}@example.com`;
    const registered = await w.call('POST', '/v1/auth/register', {
      body: { email, password: PASSWORD, display_name: 'Ada' },
      env: rings.old,
    });
    merchant = { token: registered.body.token, userId: registered.body.user_id } as Merchant;
    await w.env.DB.prepare("UPDATE accounts SET plan = 'scale' WHERE id = ?").bind(merchant.userId).run();
    const made = await Promise.all(
      [1, 2].map((n) =>
        w.call('POST', '/v1/webhooks/endpoints', { key: merchant.token, body: { url: `https://shop-${n}.example.com/` }, env: rings.old }),
      ),
    );
    endpoints = made.map(({ status, body }) => {
      expect(status).toBe(201);
      return { id: body.endpoint_id, secret: body.secret };
    });
    answer = JSON.stringify((await w.call('POST', '/v1/keys', { key: merchant.token, ...request, env: rings.old })).body);
    const begun = await w.call('POST', '/v1/account/totp', { key: merchant.token, env: rings.old });
    app = new App(begun.body.secret);
  });
  const readSecrets = async (id: string, under: Env): Promise<string[]> => {
    const ctx = newCtx(under, { requestId: 'req_seals', defer: () => {} });
    return liveSecrets(
      ctx,
      await getEndpoint(scopeIn(ctx, { merchantId: merchant.userId as AccountId, livemode: true }), id as EndpointId),
    );
  };

  it('values sealed by an older key are counted and resealed by the sweep, so that the key can be removed', async () => {
    expect(await figures(rings.old)).toEqual(none);
    expect(await figures(rings.inFront)).toEqual({
      ...none,
      'webhook_secrets old': 2,
      'kept_answers old': 1,
      'totp_secrets old': 1,
      'password_hashes old': 1,
    });
    expect(await figures(rings.fresh)).toEqual({
      ...none,
      'webhook_secrets gone': 2,
      'kept_answers gone': 1,
      'totp_secrets gone': 1,
      'password_hashes gone': 1,
    });
    await w.sweepAlone('seals', rings.inFront);
    await w.sweepAlone('peppers', rings.inFront);
    for (const under of [rings.inFront, rings.fresh]) expect(await figures(under)).toEqual(none);
    for (const { id, secret } of endpoints) expect(await readSecrets(id, rings.fresh)).toEqual([secret]);
    const again = await w.call('POST', '/v1/keys', { key: merchant.token, ...request, env: env(fresh, rings.inFront.PEPPER as string) });
    expect([again.headers.get('Idempotent-Replayed'), JSON.stringify(again.body)]).toEqual(['true', answer]);
    expect((await w.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD }, env: rings.fresh })).status).toBe(200);
    const confirm = { key: merchant.token, body: { code: app.code() }, env: rings.fresh };
    expect((await w.call('POST', '/v1/account/totp/confirm', confirm)).status).toBe(200);
  });

  it('a second sweep leaves resealed values unchanged', async () => {
    const read = async () => (await w.env.DB.prepare('SELECT secret_sealed FROM webhook_endpoints ORDER BY id').all()).results;
    const before = await read();
    await w.sweepAlone('seals', rings.inFront);
    expect(await read()).toEqual(before);
  });

  it('a damaged value does not block the values after it', async () => {
    const made = await Promise.all(
      [1, 2, 3].map((n) =>
        w.call('POST', '/v1/webhooks/endpoints', {
          key: merchant.token,
          body: { url: `https://later-${n}.example.com/` },
          env: rings.old,
        }),
      ),
    );
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
    const damaged = made[0]!.body.endpoint_id;
    await w.env.DB.prepare("UPDATE webhook_endpoints SET secret_sealed = substr(secret_sealed, 1, 30) || 'AAAA' WHERE id = ?")
      .bind(damaged)
      .run();
    await w.sweepAlone('seals', rings.inFront);
    expect((await figures(rings.inFront))['webhook_secrets old']).toBe(1);
    await w.env.DB.prepare('DELETE FROM webhook_endpoints WHERE id = ?').bind(damaged).run();
  });
});
