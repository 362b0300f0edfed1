import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { base64, base64url, utf8 } from '#core/encoding.ts';
import type { Env } from '#platform/context.ts';
import { decoded, newAgent, newKey, sellToAgents, write } from '../../support/people/agent.ts';
import { ORIGIN, OTHER, openSignInShop, proven, refused, resource, signIn, verdictOf } from '../../support/people/sign-in.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { type Merchant, World } from '../../support/world.ts';

const SIGN_IN = 'sign-in-with-x';
const headerOf = (value: unknown): string => base64.encode(utf8(JSON.stringify(value)));
/** Key of a challenge ring, as an operator makes one. */
const keyOf = (fill: number): string => base64url.encode(new Uint8Array(32).fill(fill));

describe('sign-in of a wallet that has paid', () => {
  const w = new World();
  let shop: Awaited<ReturnType<typeof openSignInShop>>;
  beforeAll(async () => {
    shop = await openSignInShop(w);
  });
  afterEach(letTimeRun);

  it('a wallet uses its units by signing, and is named in the answer', async () => {
    const agent = await shop.buyer();
    const served = await shop.consume(await signIn(agent, await shop.challenge()));
    expect([served.status, served.body.remaining, served.body.units]).toEqual([200, 3, 1]);
    expect(served.body.customer).toEqual({ wallet_address: agent.wallet.address });
    const many = await shop.consume(await signIn(agent, await shop.challenge()), { body: { units: 3 } });
    expect([many.status, many.body.remaining]).toEqual([200, 0]);
    const denied = await shop.consume(await signIn(agent, await shop.challenge()));
    expect(verdictOf(denied)).toEqual(proven(agent));
    expect(denied.body.meta).toMatchObject({ remaining: 0, entitlement_id: served.body.entitlement_id });
  });

  it('the same key and body are answered again, also after the sign-in expired, and another key is refused', async () => {
    const agent = await shop.buyer();
    const proof = await signIn(agent, await shop.challenge());
    const idempotencyKey = newKey();
    const first = await shop.consume(proof, { idempotencyKey });
    expect(verdictOf(await shop.consume(proof))).toEqual(refused('nonce'));
    setTime(Date.now() + 3_600_000);
    const again = await shop.consume(proof, { idempotencyKey });
    expect([again.status, again.body, again.headers.get('Idempotent-Replayed')]).toEqual([200, first.body, 'true']);
    expect(verdictOf(await shop.consume(proof))).toEqual(refused('issued_at_too_old'));
    expect(verdictOf(await shop.consume(proof, { idempotencyKey, body: { units: 2 } }))).toEqual(refused('issued_at_too_old'));
    expect(await shop.countLeft(agent)).toBe(3);
  });

  it('another body under a used key is 409 for a valid sign-in', async () => {
    const agent = await shop.buyer();
    const idempotencyKey = newKey();
    expect((await shop.consume(await signIn(agent, await shop.challenge()), { idempotencyKey })).status).toBe(200);
    const other = await shop.consume(await signIn(agent, await shop.challenge()), { idempotencyKey });
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_conflict']);
  });

  it('a key belongs to the wallet that signed: two wallets use one key apart', async () => {
    const [one, two] = [await shop.buyer(), await shop.buyer()];
    const idempotencyKey = newKey();
    for (const agent of [one, two]) {
      const served = await shop.consume(await signIn(agent, await shop.challenge()), { idempotencyKey });
      expect([served.status, served.headers.has('Idempotent-Replayed')]).toEqual([200, false]);
    }
  });

  it('one sign-in under 20 keys at once uses one unit', async () => {
    const agent = await shop.buyer();
    const proof = await signIn(agent, await shop.challenge());
    const answers = await Promise.all(Array.from({ length: 20 }, () => shop.consume(proof)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status !== 200).map(verdictOf)).toEqual(Array(19).fill(refused('nonce')));
    expect(await shop.countLeft(agent)).toBe(3);
  });

  it('a use that is given back does not free its sign-in', async () => {
    const agent = await shop.buyer();
    const proof = await signIn(agent, await shop.challenge());
    const idempotencyKey = newKey();
    const used = await shop.consume(proof, { idempotencyKey });
    expect((await shop.refund(used.body.consumption_id)).status).toBe(200);
    expect(verdictOf(await shop.consume(proof))).toEqual(refused('nonce'));
    for (const at of [Date.now(), Date.now() + 400_000]) {
      setTime(at);
      const again = await shop.consume(proof, { idempotencyKey });
      expect([again.status, again.body.code, again.body.meta.reason]).toEqual([409, 'state_conflict', 'refunded']);
    }
    expect(await shop.countLeft(agent)).toBe(4);
  });

  it('a wallet finds only what it paid for itself: units of a customer_ref stay with it', async () => {
    const agent = await newAgent(w);
    const customer = { customer_ref: crypto.randomUUID() };
    const settled = await shop.settle(await agent.pay(await shop.challenge()), { customer, resource });
    expect(settled.body.remaining).toBe(4);
    const denied = await shop.consume(await signIn(agent, await shop.challenge()));
    expect(verdictOf(denied)).toEqual(proven(agent));
    expect((await shop.entitlement(customer)).remaining).toBe(4);
  });

  it.each([
    ['neither', {}],
    ['both', { sign_in: 'e30=', customer: { customer_ref: 'ada' } }],
    ['8,193 characters', { sign_in: 'x'.repeat(8_193) }],
    ['no text', { sign_in: 1 }],
  ])('customer and sign_in: %s is 422', async (_case, body) => {
    const answer = await write(w, shop.merchant, 'entitlements/consume', { product_id: shop.product.product_id, ...body });
    expect([answer.status, answer.body.code]).toEqual([422, 'validation_error']);
  });

  it('a nonce of an older key of the ring is accepted, and of a key that was removed it is not', async () => {
    const agent = await shop.buyer();
    const ring = (keys: string): Env => ({ ...w.env, CHALLENGE_KEYS: keys });
    const header = (await write(w, shop.merchant, 'entitlements/consume', strangersBody(), { env: ring(keyOf(21)) })).headers.get(
      'PAYMENT-REQUIRED',
    )!;
    const proof = await signIn(agent, header);
    expect(verdictOf(await shop.consume(proof, { env: ring(keyOf(22)) }))).toEqual(refused('nonce'));
    expect((await shop.consume(proof, { env: ring(`${keyOf(22)},${keyOf(21)}`) })).status).toBe(200);
  });

  it('a sign-in is not offered without CHALLENGE_KEYS', async () => {
    const agent = await shop.buyer();
    const header = (await write(w, shop.merchant, 'entitlements/consume', strangersBody())).headers.get('PAYMENT-REQUIRED')!;
    const proof = await signIn(agent, header);
    const denied = verdictOf(await shop.consume(proof, { env: { ...w.env, CHALLENGE_KEYS: '' } }));
    // Without the keys there is no challenge.
    expect(denied).toEqual(refused('not_offered').with(-1, false));
    expect((await shop.consume(proof)).status).toBe(200);
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
      const product = await sellToAgents(w, shop.merchant, terms);
      expect((await offered(shop.merchant, product)) !== null).toBe(isOffered);
    });

    it('none is made without origins, nor for an MCP tool', async () => {
      const seller = await w.merchant();
      const product = await sellToAgents(w, seller, { usage_units: 5 });
      expect(await offered(seller, product)).toBeNull();
      expect(await offered(shop.merchant, shop.product, { resource: { url: `${ORIGIN}/mcp`, tool_name: 'forecast' } })).toBeNull();
      expect(await offered(shop.merchant, shop.product, { resource: { url: 'mcp://tool/forecast' } })).toBeNull();
    });

    it.each<[string, string | null, string, string]>([
      ['its own origin', `${OTHER}/report?day=1#mark`, 'api.shop.example:8443', `${OTHER}/report?day=1`],
      ['another origin', 'https://evil.example/report?day=1', 'shop.example', `${ORIGIN}/report`],
      ['no resource', null, 'shop.example', `${ORIGIN}/`],
    ])('domain and URL come from the origins for a resource of %s', async (_case, url, domain, uri) => {
      const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };
      const asked = { ...strangersBody(), resource: url === null ? undefined : { url } };
      const answer = await w.call('POST', '/v1/access/entitlements/consume', {
        key: shop.merchant.key,
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
});
