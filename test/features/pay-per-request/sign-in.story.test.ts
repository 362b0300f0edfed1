import { ed25519 } from '@noble/curves/ed25519.js';
import type { CompleteSIWxInfo } from '@x402/extensions/sign-in-with-x';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { base58, base64, base64url, utf8 } from '#core/encoding.ts';
import { entitlementIdOf } from '#core/ids.ts';
import type { Env } from '#platform/context.ts';
import { listTables } from '../../support/clients/entitlement.ts';
import {
  type Agent,
  decoded,
  newAgent,
  newKey,
  sellAt,
  sellToAgents,
  setOrigins,
  signIn,
  stall,
  write,
} from '../../support/people/agent.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const SIGN_IN = 'sign-in-with-x';
const [ORIGIN, OTHER] = ['https://shop.example', 'https://api.shop.example:8443'];
const resource = { url: `${ORIGIN}/report?day=1`, method: 'GET' };
const headerOf = (value: unknown): string => base64.encode(utf8(JSON.stringify(value)));
/** Key of a challenge ring, as an operator makes one. */
const keyOf = (fill: number): string => base64url.encode(new Uint8Array(32).fill(fill));

describe('sign-in of a wallet that has paid', () => {
  const w = new World();
  let merchant: Merchant;
  let shop: ReturnType<typeof stall>;
  beforeAll(async () => {
    merchant = await w.merchant();
    const product = await sellAt(w, merchant, [ORIGIN, OTHER], { usage_units: 5 });
    shop = stall(w, merchant, product, await newAgent(w));
  });
  afterEach(letTimeRun);

  interface Sent {
    key?: string;
    idempotencyKey?: string;
    env?: Env;
    body?: object;
    headers?: Record<string, string>;
  }
  const consume = (sign_in: string, { key = merchant.key, idempotencyKey = newKey(), env, body = {}, headers = {} }: Sent = {}) =>
    w.call('POST', '/v1/access/entitlements/consume', {
      key,
      body: { product_id: shop.product.product_id, sign_in, resource, ...body },
      headers: { 'Idempotency-Key': idempotencyKey, ...headers },
      ...(env ? { env } : {}),
    });
  /** Challenge for a stranger. */
  const challenge = (body: object = {}) => shop.challenge({ customer: { customer_ref: crypto.randomUUID() }, resource, ...body });
  /** New wallet that has bought five units and used one. */
  const buyer = async (): Promise<Agent> => {
    const agent = await newAgent(w);
    const settled = await shop.settle(await agent.pay(await challenge()), { resource });
    expect([settled.status, settled.body.remaining]).toEqual([200, 4]);
    return agent;
  };
  const objectOf = (wallet: string, { userId, live = true }: { userId: string; live?: boolean }) => {
    const id = entitlementIdOf(userId, live, shop.product.product_id, { walletAddress: wallet });
    return testEnv.ENTITLEMENT.getByName(`${userId}:${live ? 'live' : 'sandbox'}:${id}`);
  };
  const leftOf = async ({ wallet }: Agent): Promise<number | null> =>
    (await objectOf(wallet.address, merchant).read({ now: Date.now() }))?.remaining ?? null;
  const verdictOf = ({ status, body, headers }: Awaited<ReturnType<typeof consume>>) => {
    const fresh = headers.get('PAYMENT-REQUIRED');
    if (fresh) expect(decoded(fresh)).toEqual(body.meta.payment_required);
    return [status, body.code, body.meta.sign_in, fresh !== null];
  };
  const refused = (reason: string) => [403, 'entitlement_missing', { valid: false, reason: `invalid_siwx_${reason}` }, true];

  it('a wallet uses its units by signing, and is named in the answer', async () => {
    const agent = await buyer();
    const served = await consume(await signIn(agent, await challenge()));
    expect([served.status, served.body.remaining, served.body.units]).toEqual([200, 3, 1]);
    expect(served.body.customer).toEqual({ wallet_address: agent.wallet.address });
    const many = await consume(await signIn(agent, await challenge()), { body: { units: 3 } });
    expect([many.status, many.body.remaining]).toEqual([200, 0]);
    const proven = { valid: true, wallet_address: agent.wallet.address };
    const denied = await consume(await signIn(agent, await challenge()));
    expect(verdictOf(denied)).toEqual([403, 'entitlement_missing', proven, true]);
    expect(denied.body.meta).toMatchObject({ remaining: 0, entitlement_id: served.body.entitlement_id });
  });

  it('the same key and body are answered again, also after the sign-in expired, and another key is refused', async () => {
    const agent = await buyer();
    const proof = await signIn(agent, await challenge());
    const idempotencyKey = newKey();
    const first = await consume(proof, { idempotencyKey });
    expect(verdictOf(await consume(proof))).toEqual(refused('nonce'));
    setTime(Date.now() + 3_600_000);
    const again = await consume(proof, { idempotencyKey });
    expect([again.status, again.body, again.headers.get('Idempotent-Replayed')]).toEqual([200, first.body, 'true']);
    expect(verdictOf(await consume(proof))).toEqual(refused('issued_at_too_old'));
    expect(verdictOf(await consume(proof, { idempotencyKey, body: { units: 2 } }))).toEqual(refused('issued_at_too_old'));
    expect(await leftOf(agent)).toBe(3);
  });

  it('another body under a used key is 409 for a valid sign-in', async () => {
    const agent = await buyer();
    const idempotencyKey = newKey();
    expect((await consume(await signIn(agent, await challenge()), { idempotencyKey })).status).toBe(200);
    const other = await consume(await signIn(agent, await challenge()), { idempotencyKey });
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
  });

  it('a key belongs to the wallet that signed: two wallets use one key apart', async () => {
    const [one, two] = [await buyer(), await buyer()];
    const idempotencyKey = newKey();
    for (const agent of [one, two]) {
      const served = await consume(await signIn(agent, await challenge()), { idempotencyKey });
      expect([served.status, served.headers.has('Idempotent-Replayed')]).toEqual([200, false]);
    }
  });

  it('one sign-in under 20 keys at once uses one unit', async () => {
    const agent = await buyer();
    const proof = await signIn(agent, await challenge());
    const answers = await Promise.all(Array.from({ length: 20 }, () => consume(proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status !== 200).map(verdictOf)).toEqual(Array(19).fill(refused('nonce')));
    expect(await leftOf(agent)).toBe(3);
  });

  it('a use that is given back does not free its sign-in', async () => {
    const agent = await buyer();
    const proof = await signIn(agent, await challenge());
    const idempotencyKey = newKey();
    const used = await consume(proof, { idempotencyKey });
    expect((await shop.refund(used.body.consumption_id)).status).toBe(200);
    expect(verdictOf(await consume(proof))).toEqual(refused('nonce'));
    for (const at of [Date.now(), Date.now() + 400_000]) {
      setTime(at);
      const again = await consume(proof, { idempotencyKey });
      expect([again.status, again.body.code, again.body.meta.reason]).toEqual([409, 'state_conflict', 'refunded']);
    }
    expect(await leftOf(agent)).toBe(4);
  });

  it('a wallet finds only what it paid for itself: units of a customer_ref stay with it', async () => {
    const agent = await newAgent(w);
    const customer = { customer_ref: crypto.randomUUID() };
    const settled = await shop.settle(await agent.pay(await challenge()), { customer, resource });
    expect(settled.body.remaining).toBe(4);
    const denied = await consume(await signIn(agent, await challenge()));
    expect(verdictOf(denied)).toEqual([403, 'entitlement_missing', { valid: true, wallet_address: agent.wallet.address }, true]);
    expect((await shop.entitlement(customer)).remaining).toBe(4);
  });

  it.each([
    ['neither', {}],
    ['both', { sign_in: 'e30=', customer: { customer_ref: 'ada' } }],
    ['8,193 characters', { sign_in: 'x'.repeat(8_193) }],
    ['no text', { sign_in: 1 }],
  ])('customer and sign_in: %s is 422', async (_case, body) => {
    const answer = await write(w, merchant, 'entitlements/consume', { product_id: shop.product.product_id, ...body });
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_error']);
  });

  it('a nonce of an older key of the ring is accepted, and of a key that was removed it is not', async () => {
    const agent = await buyer();
    const ring = (keys: string): Env => ({ ...w.env, CHALLENGE_KEYS: keys });
    const header = (await write(w, merchant, 'entitlements/consume', strangersBody(), { env: ring(keyOf(21)) })).headers.get(
      'PAYMENT-REQUIRED',
    )!;
    const proof = await signIn(agent, header);
    expect(verdictOf(await consume(proof, { env: ring(keyOf(22)) }))).toEqual(refused('nonce'));
    expect((await consume(proof, { env: ring(`${keyOf(22)},${keyOf(21)}`) })).status).toBe(200);
  });
  const strangersBody = () => ({ product_id: shop.product.product_id, customer: { customer_ref: crypto.randomUUID() }, resource });

  describe('offer', () => {
    const offered = async (seller: Merchant, product: { product_id: string }, body: object = { resource }) => {
      const asked = { product_id: product.product_id, customer: { customer_ref: crypto.randomUUID() }, ...body };
      const { headers } = await write(w, seller, 'entitlements/consume', asked);
      return decoded(headers.get('PAYMENT-REQUIRED')!).extensions[SIGN_IN]?.info ?? null;
    };

    it.each<[string, Record<string, unknown>, boolean]>([
      ['one unit', { usage_units: 1 }, false],
      ['two units', { usage_units: 2 }, true],
      ['30 days without a limit', { usage_units: null, access_period_days: 30 }, true],
      ['one unit for 30 days', { usage_units: 1, access_period_days: 30 }, true],
    ])('a product that sells %s', async (_case, terms, isOffered) => {
      const product = await sellToAgents(w, merchant, terms);
      expect((await offered(merchant, product)) !== null).toBe(isOffered);
    });

    it('none is made without origins, nor for an MCP tool', async () => {
      const seller = await w.merchant();
      const product = await sellToAgents(w, seller, { usage_units: 5 });
      expect(await offered(seller, product)).toBeNull();
      expect(await offered(merchant, shop.product, { resource: { url: `${ORIGIN}/mcp`, tool_name: 'forecast' } })).toBeNull();
      expect(await offered(merchant, shop.product, { resource: { url: 'mcp://tool/forecast' } })).toBeNull();
    });

    it.each<[string, string | null, string, string]>([
      ['its own origin', `${OTHER}/report?day=1#mark`, 'api.shop.example:8443', `${OTHER}/report?day=1`],
      ['another origin', 'https://evil.example/report?day=1', 'shop.example', `${ORIGIN}/report`],
      ['no resource', null, 'shop.example', `${ORIGIN}/`],
    ])('domain and URL come from the origins for a resource of %s', async (_case, url, domain, uri) => {
      const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };
      const asked = { ...strangersBody(), resource: url === null ? undefined : { url } };
      const answer = await w.call('POST', '/v1/access/entitlements/consume', {
        key: merchant.key,
        body: asked,
        headers: { 'Idempotency-Key': newKey(), ...headers },
      });
      expect(decoded(answer.headers.get('PAYMENT-REQUIRED')!).extensions[SIGN_IN].info).toMatchObject({ domain, uri });
    });

    it('a refused settlement offers one too, and stays within the length of a header', async () => {
      const wrong = await shop.settle(headerOf({ x402Version: 2 }), { resource });
      const fresh = wrong.headers.get('PAYMENT-REQUIRED')!;
      expect(Object.keys(decoded(fresh).extensions)).toContain(SIGN_IN);
      expect(fresh.length).toBeLessThanOrEqual(6_600);
    });
  });

  describe('hostile sign-in', () => {
    const neutral = Uint8Array.of(1, ...new Uint8Array(31));
    type Attack = (agent: Agent) => Promise<string>;
    const signed =
      (changed: Partial<CompleteSIWxInfo>): Attack =>
      async (agent) =>
        signIn(agent, await challenge(), changed);
    const changed =
      (change: object): Attack =>
      async (agent) =>
        headerOf({ ...decoded(await signIn(agent, await challenge())), ...change });
    const ofSale =
      (sell: () => Promise<{ seller: Merchant; productId: string; key?: string }>): Attack =>
      async (agent) => {
        const { seller, productId, key } = await sell();
        const asked = { product_id: productId, customer: { customer_ref: crypto.randomUUID() }, resource };
        const { headers } = await write(w, seller, 'entitlements/consume', asked, key ? { key } : {});
        return signIn(agent, headers.get('PAYMENT-REQUIRED')!);
      };
    const at =
      (ms: number): Attack =>
      async (agent) => {
        const proof = await signIn(agent, await challenge());
        setTime(Date.now() + ms);
        return proof;
      };

    it.each<[string, Attack, string]>([
      ['another domain', signed({ domain: 'evil.example' }), 'domain_mismatch'],
      ['another URL', signed({ uri: 'https://evil.example/report' }), 'uri_mismatch'],
      ['another path', signed({ uri: `${ORIGIN}/other` }), 'nonce'],
      ['another origin of the merchant', signed({ domain: 'api.shop.example:8443', uri: `${OTHER}/report?day=1` }), 'nonce'],
      [
        'another product of the merchant',
        ofSale(async () => ({ seller: merchant, productId: (await sellToAgents(w, merchant, { usage_units: 5 })).product_id })),
        'nonce',
      ],
      [
        'a product of another merchant',
        ofSale(async () => {
          const seller = await w.merchant();
          return { seller, productId: (await sellAt(w, seller, [ORIGIN], { usage_units: 5 })).product_id };
        }),
        'nonce',
      ],
      ['301 seconds ago', at(301_000), 'issued_at_too_old'],
      ['the future', at(-2_000), 'issued_at_in_future'],
      ['an expiry that was moved', signed({ expirationTime: new Date(Date.now() + 9e8).toISOString() }), 'nonce'],
      ['a made-up nonce', signed({ nonce: '0102030405060708a1b2c3d4e5f60718' }), 'nonce'],
      ['a statement that was changed after it was signed', changed({ statement: 'Give everything away.' }), 'signature'],
      ['the address of another wallet', async (agent) => changed({ address: (await buyer()).wallet.address })(agent), 'signature'],
      [
        'a small-order key',
        changed({ address: base58.encode(neutral), signature: base58.encode(Uint8Array.of(...neutral, ...new Uint8Array(32))) }),
        'signature',
      ],
      ['a short signature', changed({ signature: 'abc' }), 'malformed_signature'],
      ['an EVM chain', changed({ chainId: 'eip155:8453', type: 'eip191' }), 'unsupported_chain'],
      ['another Solana chain', changed({ chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }), 'unsupported_chain'],
      ['no fields', async () => headerOf({}), 'header'],
      ['junk', async () => 'junk', 'header'],
      ['8 KB of junk', async () => base64.encode(new Uint8Array(6_144)), 'header'],
    ])('a sign-in with %s is refused, and stores nothing', async (_case, attack, reason) => {
      const agent = await buyer();
      const proof = await attack(agent);
      expect(verdictOf(await consume(proof))).toEqual(refused(reason));
      const forged = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };
      expect(verdictOf(await consume(proof, { headers: forged }))).toEqual(refused(reason));
      expect(await leftOf(agent)).toBe(4);
    });

    it('a sign-in of one mode is nothing in the other', async () => {
      const agent = await buyer();
      const sandbox = { key: merchant.sandboxKey };
      await setOrigins(w, merchant.sandboxKey, [ORIGIN]);
      const tested = await w.product(
        { ...merchant, key: merchant.sandboxKey },
        { price: { asset: 'USDC', amount: '0.01' }, usage_units: 5 },
      );
      const asked = { product_id: tested.product_id, customer: { customer_ref: 'stranger' }, resource };
      const { headers } = await write(w, merchant, 'entitlements/consume', asked, sandbox);
      const ofSandbox = await signIn(agent, headers.get('PAYMENT-REQUIRED')!);
      expect(verdictOf(await consume(ofSandbox))).toEqual(refused('nonce'));
      const ofLive = await signIn(agent, await challenge());
      const inSandbox = await consume(ofLive, { ...sandbox, body: { product_id: tested.product_id } });
      expect(verdictOf(inSandbox)).toEqual(refused('nonce'));
    });

    it('the units of a merchant cannot be used by a key of another', async () => {
      const agent = await buyer();
      const other = await w.merchant();
      const answer = await consume(await signIn(agent, await challenge()), { key: other.key });
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
      expect(await leftOf(agent)).toBe(4);
    });

    it('origins that were removed, and a product that sells single units since, refuse a sign-in that was offered', async () => {
      const seller = await w.merchant();
      const product = await sellAt(w, seller, [ORIGIN], { usage_units: 5 });
      const own = stall(w, seller, product, await newAgent(w));
      const body = { product_id: product.product_id };
      expect((await own.settle(await own.agent.pay(await own.challenge({ resource })))).status).toBe(200);
      const proof = await signIn(own.agent, await own.challenge({ customer: { customer_ref: 'eve' }, resource }));
      await setOrigins(w, seller.key, [OTHER]);
      expect(verdictOf(await consume(proof, { key: seller.key, body }))).toEqual(refused('domain_mismatch'));
      await setOrigins(w, seller.key, []);
      expect(verdictOf(await consume(proof, { key: seller.key, body }))).toEqual(refused('not_offered'));
      await setOrigins(w, seller.key, [ORIGIN]);
      expect((await consume(proof, { key: seller.key, body })).status).toBe(200);
    });

    it('a stranger who signs leaves no table in any object, and no row', async () => {
      const eve = await newAgent(w);
      const rows = async () => (await testEnv.DB.prepare('SELECT count(*) AS n FROM entitlements').first<number>('n'))!;
      const before = await rows();
      expect(verdictOf(await consume(await signIn(eve, await challenge())))).toEqual([
        403,
        'entitlement_missing',
        { valid: true, wallet_address: eve.wallet.address },
        true,
      ]);
      expect(verdictOf(await consume(await signIn(eve, await challenge(), { domain: 'evil.example' })))).toEqual(
        refused('domain_mismatch'),
      );
      await w.deliver();
      expect(await listTables(objectOf(eve.wallet.address, merchant))).toEqual([]);
      expect(await rows()).toBe(before);
    });

    it('a refused sign-in says nothing of the wallet that it names', async () => {
      const agent = await buyer();
      const eve = base58.encode(ed25519.getPublicKey(new Uint8Array(32).fill(3)));
      const proof = { ...decoded(await signIn(agent, await challenge())), requestId: eve };
      const { body } = await consume(headerOf(proof));
      expect(Object.keys(body.meta).sort()).toEqual(['payment_required', 'sign_in']);
      expect(JSON.stringify(body)).not.toContain(agent.wallet.address);
    });
  });
});
