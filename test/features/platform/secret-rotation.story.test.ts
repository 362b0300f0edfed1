import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { crc32, hmacSha256, keyRing, pepperedHash } from '#core/crypto.ts';
import { base58, base62, base64url, hex, randomBase62, utf8 } from '#core/encoding.ts';
import { admissionIdOf } from '#core/ids.ts';
import { emailToken } from '#features/accounts/auth/email-proof.ts';
import { findAccount } from '#features/accounts/store.ts';
import { type Env, newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import { walletSignIn } from '../../support/chain/wallet.ts';
import { type Drill, turn, under } from '../../support/faults/secret-rotation.ts';
import { newAgent, sellToAgents, stall } from '../../support/people/agent.ts';
import { Setup } from '../../support/people/bootstrap.ts';
import { type Answer, type CallOptions, type Merchant, World } from '../../support/world.ts';

const PASSWORD = 'correct horse battery';
const seed = () => base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
const firstOf = (env: Env, name: string) => String(env[name]).split(',')[0]!;
const granted = <T>(answer: Answer<T>, status = 200): T => {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
};
const OPERATOR_SECRET = 'the secret of an operator in a test';
const newEmail = () => `turn-${crypto.randomUUID()}@example.com`;
const once = () => ({ 'Idempotency-Key': crypto.randomUUID() });

describe('secret rotation under load', () => {
  let w: World;
  let merchant: Merchant;
  // biome-ignore lint/suspicious/noExplicitAny: call() has already checked the answer against the document.
  let product: any;
  beforeAll(async () => {
    w = new World({ OPERATOR_SECRET });
    merchant = await w.merchant();
    product = await sellToAgents(w, merchant);
  });
  const run = <T>(drill: Drill<T>) => turn(w.env, drill);

  it('JWT_KEYS: sessions stay valid and are renewed before the old key is removed', async () => {
    const signer = await generateKeyPairSigner();
    await run<string>({
      secret: 'JWT_KEYS',
      make: async (env) => granted(await walletSignIn(under(w, env), signer)).token,
      use: async (env, token) => {
        granted(await w.call('GET', '/v1/account/me', { key: token, env }));
        granted(await w.call('POST', '/v1/auth/refresh', { body: { token }, env }));
      },
    });
  });

  it('OPERATOR_SECRET: both secrets are accepted', () =>
    run<string>({
      secret: 'OPERATOR_SECRET',
      make: async (env) => firstOf(env, 'OPERATOR_SECRET'),
      use: async (env, secret) => {
        const asked = { body: { account: merchant.userId, action: 'resume' }, headers: { 'X-Svc-Operator-Secret': secret }, env };
        granted(await w.call('POST', '/v1/operator/accounts', asked));
      },
    }));

  it('RPC_WEBHOOK_SECRET: signatures of both secrets are accepted', () =>
    run<string>({
      secret: 'RPC_WEBHOOK_SECRET',
      make: async (env) => firstOf(env, 'RPC_WEBHOOK_SECRET'),
      use: async (env, secret) => {
        const raw = JSON.stringify([{ signature: base58.encode(crypto.getRandomValues(new Uint8Array(64))) }]);
        const headers = { 'X-Rpc-Signature': hex.encode(hmacSha256(utf8(secret), utf8(raw))) };
        granted(await w.call('POST', '/v1/products/webhook/rpc', { raw, headers, env }));
      },
    }));

  it('TELEGRAM_CONNECTOR_SECRETS: both secrets are accepted', () =>
    run<string>({
      secret: 'TELEGRAM_CONNECTOR_SECRETS',
      make: async (env) => firstOf(env, 'TELEGRAM_CONNECTOR_SECRETS'),
      use: async (env, secret) => {
        const body = { identity_session_id: crypto.randomUUID(), provider_user_id: '1' };
        const headers = { 'X-Svc-Connector-Secret': secret };
        // 422 means that the secret was accepted and the session is unknown. A wrong secret is 401.
        granted(await w.call('POST', '/v1/integrations/connectors/telegram/identity', { body, headers, env }), 422);
      },
    }));

  it('HANDOFF_SECRETS: links of both secrets open the checkout', () =>
    run<string>({
      secret: 'HANDOFF_SECRETS',
      make: async (env) =>
        granted(
          await w.call('POST', `/v1/products/${product.product_id}/handoffs`, { key: merchant.key, body: { customer_ref: 'ada' }, env }),
          201,
        ).handoff_token,
      use: async (env, token) => {
        granted(await w.call('GET', `/v1/products/p/${product.slug}/handoff/${token}`, { env }));
      },
    }));

  it('RECEIPT_KEYS: receipts of both keys verify', () =>
    run<string>({
      secret: 'RECEIPT_KEYS',
      isRetained: true,
      times: 3,
      make: async (env) => {
        const bill = granted(await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: {}, env }));
        const paid = await w.confirm(bill.payment_id, await w.chain.pay(await w.chain.wallet(), bill), { env });
        return granted(paid).receipt_id;
      },
      use: async (env, receiptId) =>
        expect(granted(await w.call('GET', `/v1/receipt/${receiptId}/verify`, { env }))).toMatchObject({ valid: true }),
    }));

  it('EMAIL_LINK_KEYS: email links of both keys work and do not depend on PEPPER', async () => {
    const ctxOf = (env: Env) => newCtx(env, { requestId: 'req_turn', defer: () => {} });
    const { db } = homeOf(ctxOf(w.env), merchant.userId);
    const account = (await findAccount(db, merchant.userId))!;
    await run<string>({
      secret: 'EMAIL_LINK_KEYS',
      make: async (env) => emailToken(ctxOf(env), 'verify', account, Date.now()),
      use: async (env, token) => {
        const preview = (over: Env) => w.call('POST', '/v1/account/email/preview', { body: { token }, env: over });
        granted(await preview({ ...env, PEPPER: seed() }));
        granted(await preview({ ...env, EMAIL_LINK_KEYS: seed() }), 401);
      },
    });
  });

  it('SEAL_KEYS: answers sealed by both keys are replayed byte for byte', () =>
    run<{ headers: Record<string, string>; body: object; answer: string }>({
      secret: 'SEAL_KEYS',
      times: 4,
      make: async (env) => {
        const [headers, body] = [once(), { name: 'turned', sandbox_mode: true }];
        const answer = granted(await w.call('POST', '/v1/keys', { key: merchant.token, headers, body, env }), 201);
        return { headers, body, answer: JSON.stringify(answer) };
      },
      use: async (env, { headers, body, answer }) => {
        const again = granted(await w.call('POST', '/v1/keys', { key: merchant.token, headers, body, env }), 201);
        expect(JSON.stringify(again)).toBe(answer);
      },
    }));

  it.each(['CHALLENGE_KEYS', 'FEE_PAYER_KEYS'])('%s: challenges of both keys are paid and settled', (secret) =>
    run<{ shop: ReturnType<typeof stall>; header: string }>({
      secret,
      times: 3,
      isSingleUse: true,
      begin: async (ring) => {
        const payers = secret === 'FEE_PAYER_KEYS' ? keyRing(ring).map(({ publicKey }) => base58.encode(publicKey)) : [];
        for (const payer of payers) await w.chain.call('local_fundSol', payer, '1000000000');
      },
      make: async (env) => {
        const shop = stall(w, merchant, product, await newAgent(w));
        const { headers } = await shop.consume({}, { env });
        return { shop, header: headers.get('PAYMENT-REQUIRED')! };
      },
      use: async (env, { shop, header }) => void granted(await shop.settle(await shop.agent.pay(header), {}, { env })),
    }),
  );

  it('PEPPER: accounts, wallets, setups and keys hashed with one pepper are found under both', () => run(personsDrill(w)));
});

interface Person {
  email: string;
  signer: KeyPairSigner;
  walletUser: string;
  setup: Setup;
  key: string;
  request: CallOptions;
}

const personsDrill = (w: World): Drill<Person> => ({
  secret: 'PEPPER',
  times: 2,
  make: async (env) => {
    const email = newEmail();
    const { token } = granted(
      await w.call('POST', '/v1/auth/register', { body: { email, password: PASSWORD, display_name: 'Ada' }, env }),
      201,
    );
    const request = { key: token, headers: once(), body: { name: 'server' } };
    const { raw_key: key } = granted(await w.call('POST', '/v1/keys', { ...request, env }), 201);
    const signer = await generateKeyPairSigner();
    const { user_id: walletUser } = granted(await walletSignIn(under(w, env), signer));
    return { email, signer, walletUser, setup: await Setup.create(under(w, env)), key, request };
  },
  use: async (env, { email, signer, walletUser, setup, key, request }) => {
    const found = { body: { account: email, action: 'resume' }, headers: { 'X-Svc-Operator-Secret': OPERATOR_SECRET }, env };
    granted(await w.call('POST', '/v1/operator/accounts', found));
    expect(granted(await walletSignIn(under(w, env), signer)).user_id).toBe(walletUser);
    granted(await w.call('GET', '/v1/account/me', { key, env }));
    granted(await setup.call('status', {}, { env }));
    expect(granted(await w.call('POST', '/v1/keys', { ...request, env }), 201).raw_key).toBe(key);
  },
});

describe('rotation with two peppers', () => {
  const [old, fresh] = [seed(), seed()];
  let w: World;
  let rings: Record<'old' | 'behind' | 'inFront' | 'fresh', Env>;
  beforeAll(() => {
    w = new World();
    const envOf = (PEPPER: string) => ({ ...w.env, PEPPER });
    rings = { old: envOf(old), behind: envOf(`${old},${fresh}`), inFront: envOf(`${fresh},${old}`), fresh: envOf(fresh) };
  });
  const register = (email: string, env: Env) =>
    w.call('POST', '/v1/auth/register', { body: { email, password: PASSWORD, display_name: 'Ada' }, env });
  const login = async (email: string, env: Env) =>
    (await w.call('POST', '/v1/auth/login', { body: { email, password: PASSWORD }, env })).status;

  it('concurrent releases register an email once and open one account per wallet', async () => {
    for (let i = 0; i < 2; i++) {
      const email = newEmail();
      const answers = await Promise.all(Array.from({ length: 6 }, (_, call) => register(email, call % 2 ? rings.behind : rings.inFront)));
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
      const signer = await generateKeyPairSigner();
      const users = await Promise.all(
        Array.from(
          { length: 4 },
          async (_, call) => granted(await walletSignIn(under(w, call % 2 ? rings.behind : rings.inFront), signer)).user_id,
        ),
      );
      expect(new Set(users).size).toBe(1);
    }
  });

  it('an email taken under the other pepper is refused as email_registered', async () => {
    const [taken, mine] = [newEmail(), newEmail()];
    granted(await register(taken, rings.behind), 201);
    const { token } = granted(await register(mine, rings.behind), 201);
    const change = (email: string, env: Env) =>
      w.call('PATCH', '/v1/account/me/security', { key: token, body: { email, current_password: PASSWORD }, env });
    expect((await change(taken, rings.inFront)).body.code).toBe('email_registered');
    expect((await change(mine, rings.inFront)).body.code).toBe('no_change');
  });

  it('the sweep rehashes every account without losing a concurrent change, and the old pepper can be removed', async () => {
    const emails = Array.from({ length: 5 }, newEmail);
    const tokens = await Promise.all(emails.map(async (email) => granted(await register(email, rings.behind), 201).token as string));
    const signers = await Promise.all(emails.map(() => generateKeyPairSigner()));
    const users = await Promise.all(signers.map(async (signer) => granted(await walletSignIn(under(w, rings.behind), signer)).user_id));
    const renamed = tokens.map((key, i) =>
      w.call('PATCH', '/v1/account/me', { key, body: { display_name: `Ada ${i}` }, headers: once(), env: rings.behind }),
    );
    await Promise.all([w.sweepAlone('peppers', rings.inFront), ...renamed]);
    // A row that changed during the first sweep is rehashed by the next one.
    for (const sweep of ['peppers', 'seals']) await w.sweepAlone(sweep, rings.inFront);
    for (const [i, email] of emails.entries()) {
      expect(await login(email, rings.fresh)).toBe(200);
      expect(granted(await walletSignIn(under(w, rings.fresh), signers[i]!)).user_id).toBe(users[i]);
      const { body } = await w.call('GET', '/v1/account/me', { key: tokens[i]!, env: rings.fresh });
      expect(body.display_name).toBe(`Ada ${i}`);
    }
    const { results } = await w.env.DB.prepare('SELECT id, version FROM accounts ORDER BY id').all();
    await w.sweepAlone('peppers', rings.inFront);
    expect((await w.env.DB.prepare('SELECT id, version FROM accounts ORDER BY id').all()).results).toEqual(results);
  });

  it('a used setup secret is rehashed with the first pepper, and the old one can be removed', async () => {
    const setup = await Setup.create(under(w, rings.old));
    const show = (env: Env) =>
      w.call('POST', `/v1/access/agent-bootstrap/${setup.id}/status`, { body: { setup_secret: setup.secret }, env });
    expect([(await show(rings.behind)).status, (await show(rings.fresh)).status]).toEqual([200, 404]);
    expect((await show(rings.inFront)).status).toBe(200);
    expect([(await show(rings.fresh)).status, (await show(rings.old)).status]).toEqual([200, 404]);
  });

  it('an early key works under both peppers and stops working when the old one is removed', async () => {
    const email = newEmail();
    const { token, user_id: userId } = granted(await register(email, rings.old), 201);
    const { raw_key: key } = granted(await w.call('POST', '/v1/keys', { key: token, body: { name: 'server' }, env: rings.old }), 201);
    const body = `${key.slice(0, -6 - 32)}${randomBase62(21)}${admissionIdOf(userId)}`;
    const early = body + base62(BigInt(crc32(utf8(body))), 6);
    const known = {
      keyId: crypto.randomUUID(),
      keyHash: pepperedHash(old, 'api-key', early),
      permissions: ['read' as const],
      livemode: true,
      revokedAt: null,
      version: 1,
    };
    await w.env.ADMISSION.getByName(`account:${admissionIdOf(userId)}`).putKey(known);
    const me = async (rawKey: string, env: Env) => (await w.call('GET', '/v1/account/me', { key: rawKey, env })).status;
    for (const env of [rings.behind, rings.inFront]) expect(await me(early, env)).toBe(200);
    expect([await me(early, rings.fresh), await me(key, rings.fresh)]).toEqual([401, 401]);
  });
});
