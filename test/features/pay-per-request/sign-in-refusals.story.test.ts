import { ed25519 } from '@noble/curves/ed25519.js';
import type { CompleteSIWxInfo } from '@x402/extensions/sign-in-with-x';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { base58, base64, utf8 } from '#core/encoding.ts';
import { listTables } from '../../support/clients/entitlement.ts';
import { type Agent, decoded, newAgent, sellAt, sellToAgents, setOrigins, stall, write } from '../../support/people/agent.ts';
import { ORIGIN, OTHER, openSignInShop, proven, refused, resource, signIn, verdictOf } from '../../support/people/sign-in.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const headerOf = (value: unknown): string => base64.encode(utf8(JSON.stringify(value)));

describe('hostile sign-in', () => {
  const w = new World();
  let shop: Awaited<ReturnType<typeof openSignInShop>>;
  beforeAll(async () => {
    shop = await openSignInShop(w);
  });
  afterEach(letTimeRun);

  const neutral = Uint8Array.of(1, ...new Uint8Array(31));
  type Attack = (agent: Agent) => Promise<string>;
  const signed =
    (changed: Partial<CompleteSIWxInfo>): Attack =>
    async (agent) =>
      signIn(agent, await shop.challenge(), changed);
  const changed =
    (change: object): Attack =>
    async (agent) =>
      headerOf({ ...decoded(await signIn(agent, await shop.challenge())), ...change });
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
      const proof = await signIn(agent, await shop.challenge());
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
      ofSale(async () => ({ seller: shop.merchant, productId: (await sellToAgents(w, shop.merchant, { usage_units: 5 })).product_id })),
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
    ['the address of another wallet', async (agent) => changed({ address: (await shop.buyer()).wallet.address })(agent), 'signature'],
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
    const agent = await shop.buyer();
    const proof = await attack(agent);
    expect(verdictOf(await shop.consume(proof))).toEqual(refused(reason));
    const forged = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' };
    expect(verdictOf(await shop.consume(proof, { headers: forged }))).toEqual(refused(reason));
    expect(await shop.countLeft(agent)).toBe(4);
  });

  it('a sign-in of one mode is nothing in the other', async () => {
    const agent = await shop.buyer();
    const sandbox = { key: shop.merchant.sandboxKey };
    await setOrigins(w, shop.merchant.sandboxKey, [ORIGIN]);
    const tested = await w.product(
      { ...shop.merchant, key: shop.merchant.sandboxKey },
      { price: { asset: 'USDC', amount: '0.01' }, usage_units: 5 },
    );
    const asked = { product_id: tested.product_id, customer: { customer_ref: 'stranger' }, resource };
    const { headers } = await write(w, shop.merchant, 'entitlements/consume', asked, sandbox);
    const ofSandbox = await signIn(agent, headers.get('PAYMENT-REQUIRED')!);
    expect(verdictOf(await shop.consume(ofSandbox))).toEqual(refused('nonce'));
    const ofLive = await signIn(agent, await shop.challenge());
    const inSandbox = await shop.consume(ofLive, { ...sandbox, body: { product_id: tested.product_id } });
    expect(verdictOf(inSandbox)).toEqual(refused('nonce'));
  });

  it('the units of a merchant cannot be used by a key of another', async () => {
    const agent = await shop.buyer();
    const other = await w.merchant();
    const answer = await shop.consume(await signIn(agent, await shop.challenge()), { key: other.key });
    expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
    expect(await shop.countLeft(agent)).toBe(4);
  });

  it('origins that were removed, and a product that sells single units since, refuse a sign-in that was offered', async () => {
    const seller = await w.merchant();
    const product = await sellAt(w, seller, [ORIGIN], { usage_units: 5 });
    const own = stall(w, seller, product, await newAgent(w));
    const body = { product_id: product.product_id };
    expect((await own.settle(await own.agent.pay(await own.challenge({ resource })))).status).toBe(200);
    const proof = await signIn(own.agent, await own.challenge({ customer: { customer_ref: 'eve' }, resource }));
    await setOrigins(w, seller.key, [OTHER]);
    expect(verdictOf(await shop.consume(proof, { key: seller.key, body }))).toEqual(refused('domain_mismatch'));
    await setOrigins(w, seller.key, []);
    expect(verdictOf(await shop.consume(proof, { key: seller.key, body }))).toEqual(refused('not_offered'));
    await setOrigins(w, seller.key, [ORIGIN]);
    expect((await shop.consume(proof, { key: seller.key, body })).status).toBe(200);
  });

  it('a stranger who signs leaves no table in any object, and no row', async () => {
    const eve = await newAgent(w);
    const rows = async () => (await testEnv.DB.prepare('SELECT count(*) AS n FROM entitlements').first<number>('n'))!;
    const before = await rows();
    expect(verdictOf(await shop.consume(await signIn(eve, await shop.challenge())))).toEqual(proven(eve));
    expect(verdictOf(await shop.consume(await signIn(eve, await shop.challenge(), { domain: 'evil.example' })))).toEqual(
      refused('domain_mismatch'),
    );
    await w.deliver();
    expect(await listTables(shop.objectOf(eve))).toEqual([]);
    expect(await rows()).toBe(before);
  });

  it('a refused sign-in says nothing of the wallet that it names', async () => {
    const agent = await shop.buyer();
    const eve = base58.encode(ed25519.getPublicKey(new Uint8Array(32).fill(3)));
    const proof = { ...decoded(await signIn(agent, await shop.challenge())), requestId: eve };
    const { body } = await shop.consume(headerOf(proof));
    expect(Object.keys(body.meta).sort()).toEqual(['payment_required', 'sign_in']);
    expect(JSON.stringify(body)).not.toContain(agent.wallet.address);
  });
});
