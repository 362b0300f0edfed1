import { httpServerHandler } from 'cloudflare:node';
import { createServer } from 'node:http';
import { ed25519 } from '@noble/curves/ed25519.js';
import { createSIWxClientExtension, wrapFetchWithSIWx } from '@x402/extensions/sign-in-with-x';
import { wrapFetchWithPayment } from '@x402/fetch';
import express from 'express';
import { Hono } from 'hono';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { base58 } from '#core/encoding.ts';
import { protect as protectExpress } from '../../sdk/src/express.ts';
import { type Access, protect as protectFetch } from '../../sdk/src/fetch.ts';
import { protect as protectHono, type SvcEnv } from '../../sdk/src/hono.ts';
import type { ProtectOptions } from '../../sdk/src/index.ts';
import { type Agent, decoded, newAgent, sellAt, setOrigins } from '../support/people/agent.ts';
import { signIn } from '../support/people/sign-in.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { type Merchant, World } from '../support/world.ts';
import { clientOf } from './real-client.ts';

type Shop = (request: Request) => Response | Promise<Response>;
type Open = (options: ProtectOptions<unknown>, handle: (access: Access) => number) => Shop;

let ports = 8123;
const shops: Record<string, Open> = {
  fetch: (options, handle) => {
    return protectFetch(options, (_request, access) => Response.json({ left: access.remaining }, { status: handle(access) }));
  },
  hono: (options, handle) => {
    const app = new Hono<SvcEnv>();
    app.get('/forecast', protectHono(options), (c) => c.json({ left: c.get('svc').remaining }, handle(c.get('svc')) as 200));
    return (request) => app.request(request);
  },
  express: (options, handle) => {
    const app = express();
    app.get('/forecast', protectExpress(options), (req, res) => void res.status(handle(req.svc!)).json({ left: req.svc!.remaining }));
    const port = ports++;
    createServer(app).listen(port);
    const server = httpServerHandler({ port }) as unknown as { fetch: Shop };
    return (request) => server.fetch(request);
  },
};

const ORIGIN = 'https://shop.example';
const PATH = `${ORIGIN}/forecast`;

describe('protect() against the service, with the unmodified sign-in of @x402/extensions', () => {
  const w = new World();
  let merchant: Merchant;
  let product: { product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    product = await sellAt(w, merchant, [ORIGIN], { usage_units: 1000, price: { asset: 'USDC', amount: '1' } });
  });
  afterEach(letTimeRun);

  /** Shop of one framework, and the requests that it received. */
  function openShop(open: Open = shops.fetch!, options: Partial<ProtectOptions<unknown>> = {}) {
    const seen: Request[] = [];
    const served: Access[] = [];
    const errors: unknown[] = [];
    const state = { status: 200 };
    const client = clientOf(w, merchant.key);
    const onError = (error: unknown) => void errors.push(error);
    const shop = open({ client, product: product.product_id, onError, ...options }, (access) => {
      served.push(access);
      return state.status;
    });
    const visit = (async (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input, init);
      seen.push(request);
      return shop(request);
    }) as typeof fetch;
    const sentWith = (name: string) => seen.filter(({ headers }) => headers.has(name));
    return { visit, seen, served, errors, state, sentWith };
  }
  const buyer = async () => {
    const agent = await newAgent(w, 1_000_000n);
    agent.client.registerExtension(createSIWxClientExtension({ signers: [agent.signer] }));
    return agent;
  };
  const heldBy = async (agent: Agent): Promise<string> => (await w.chain.held(agent.wallet.address)).toString();

  it.each(Object.entries(shops))('1,000 units are bought once and used by five calls: %s', async (_name, open) => {
    const agent = await buyer();
    const { visit, served, errors, sentWith } = openShop(open);
    const call = wrapFetchWithPayment(visit, agent.client);
    const left: unknown[] = [];
    for (let i = 0; i < 5; i++) left.push(await (await call(PATH)).json());
    expect(left).toEqual([999, 998, 997, 996, 995].map((units) => ({ left: units })));
    expect([sentWith('PAYMENT-SIGNATURE').length, sentWith('SIGN-IN-WITH-X').length]).toEqual([1, 5]);
    expect(await heldBy(agent)).toBe('0');
    const customer = { wallet_address: agent.wallet.address };
    expect(served.map((access) => [access.customer, access.payment?.payer ?? null])).toEqual([
      [customer, agent.wallet.address],
      ...Array(4).fill([customer, null]),
    ]);
    expect(errors).toEqual([]);
  });

  it('wrapFetchWithSIWx alone uses what the wallet has paid for, and gets the 402 of a wallet that has not', async () => {
    const agent = await buyer();
    const { visit, sentWith } = openShop();
    await wrapFetchWithPayment(visit, agent.client)(PATH);
    const served = await wrapFetchWithSIWx(visit, agent.signer)(PATH);
    expect([served.status, await served.json()]).toEqual([200, { left: 998 }]);
    const stranger = await newAgent(w);
    const refused = await wrapFetchWithSIWx(visit, stranger.signer)(PATH);
    const body = (await refused.json()) as object;
    expect([refused.status, body]).toEqual([
      402,
      expect.objectContaining({ code: 'entitlement_missing', sign_in: { valid: true, wallet_address: stranger.wallet.address } }),
    ]);
    expect(sentWith('SIGN-IN-WITH-X').length).toBe(3);
  });

  it('a sign-in that was used is refused with a fresh challenge, and the client signs again', async () => {
    const agent = await buyer();
    const { visit, seen } = openShop();
    await wrapFetchWithPayment(visit, agent.client)(PATH);
    await wrapFetchWithSIWx(visit, agent.signer)(PATH);
    const proof = seen.at(-1)!.headers.get('SIGN-IN-WITH-X')!;
    const again = await visit(PATH, { headers: { 'SIGN-IN-WITH-X': proof } });
    expect([again.status, await again.clone().json()]).toEqual([
      402,
      expect.objectContaining({ sign_in: { valid: false, reason: 'invalid_siwx_nonce' } }),
    ]);
    const fresh = decoded(again.headers.get('PAYMENT-REQUIRED')!).extensions['sign-in-with-x'].info.nonce;
    expect(fresh).not.toBe(decoded(proof).nonce);
    expect(await (await wrapFetchWithSIWx(visit, agent.signer)(PATH)).json()).toEqual({ left: 997 });
  });

  it('one sign-in sent 20 times at once is served once', async () => {
    const agent = await buyer();
    const { visit, served } = openShop();
    await wrapFetchWithPayment(visit, agent.client)(PATH);
    const proof = await signIn(agent, (await visit(PATH)).headers.get('PAYMENT-REQUIRED')!);
    const answers = await Promise.all(Array.from({ length: 20 }, () => visit(PATH, { headers: { 'SIGN-IN-WITH-X': proof } })));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(19);
    expect(served.map(({ remaining }) => remaining)).toEqual([999, 998]);
  });

  it.each(Object.entries(shops))('a forged Host changes neither the challenge nor the verdict: %s', async (_name, open) => {
    const agent = await buyer();
    const { visit } = openShop(open);
    await wrapFetchWithPayment(visit, agent.client)(PATH);
    const forged = (headers: Record<string, string> = {}) =>
      visit('https://evil.example/forecast', { headers: { 'X-Forwarded-Host': 'evil.example', Host: 'evil.example', ...headers } });
    const header = (await forged()).headers.get('PAYMENT-REQUIRED')!;
    expect(decoded(header).extensions['sign-in-with-x'].info).toMatchObject({ domain: 'shop.example', uri: PATH });
    const served = await forged({ 'SIGN-IN-WITH-X': await signIn(agent, header) });
    expect([served.status, await served.json()]).toEqual([200, { left: 998 }]);
    const evil = await forged({
      'SIGN-IN-WITH-X': await signIn(agent, header, { domain: 'evil.example', uri: 'https://evil.example/forecast' }),
    });
    expect([evil.status, await evil.json()]).toEqual([
      402,
      expect.objectContaining({ sign_in: { valid: false, reason: 'invalid_siwx_domain_mismatch' } }),
    ]);
  });

  it('a failing handler gives the use back, and the next sign-in finds it', async () => {
    const agent = await buyer();
    const { visit, state } = openShop();
    await wrapFetchWithPayment(visit, agent.client)(PATH);
    state.status = 500;
    expect((await wrapFetchWithSIWx(visit, agent.signer)(PATH)).status).toBe(500);
    state.status = 200;
    expect(await (await wrapFetchWithSIWx(visit, agent.signer)(PATH)).json()).toEqual({ left: 998 });
  });

  it.each(['a sign-in', 'a payment'])('the next sign-in waits for a refund that is under way, after %s', async (how) => {
    const agent = await buyer();
    const { product_id } = await sellAt(w, merchant, [ORIGIN], { usage_units: how === 'a payment' ? 2 : 3 });
    const client = clientOf(w, merchant.key, async (request, send) => {
      if (request.url.endsWith('/refund')) await new Promise((resolve) => setTimeout(resolve, 300));
      return send();
    });
    const { visit, state } = openShop(shops.express!, { client, product: product_id, units: how === 'a payment' ? 2 : 1 });
    const call = wrapFetchWithPayment(visit, agent.client);
    if (how === 'a sign-in') expect([(await call(PATH)).status, (await call(PATH)).status]).toEqual([200, 200]);
    state.status = 500;
    expect((await call(PATH)).status).toBe(500);
    state.status = 200;
    const served = await wrapFetchWithSIWx(visit, agent.signer)(PATH);
    expect([served.status, await served.json()]).toEqual([200, { left: 0 }]);
  });

  it('a sign-in is used with the Idempotency-Key of the caller, and signs no mark of it', async () => {
    const agent = await buyer();
    const { visit } = openShop();
    await wrapFetchWithPayment(visit, agent.client)(PATH);
    const headers = { 'Idempotency-Key': 'agent-key-1' };
    const served = await wrapFetchWithSIWx(visit, agent.signer)(PATH, { headers });
    expect([served.status, await served.json()]).toEqual([200, { left: 998 }]);
  });

  it('a known customer and a payment come before a sign-in', async () => {
    const agent = await buyer();
    const customer = { customer_ref: crypto.randomUUID() };
    const { visit, served } = openShop(shops.fetch!, { customer: () => customer });
    await clientOf(w, merchant.key).entitlements.grant({ product_id: product.product_id, customer, units: 1, reason: 'welcome' });
    expect((await visit(PATH, { headers: { 'SIGN-IN-WITH-X': 'junk' } })).status).toBe(200);
    const paid = openShop();
    const call = wrapFetchWithPayment(paid.visit, agent.client);
    expect((await call(PATH, { headers: { 'SIGN-IN-WITH-X': 'junk' } })).status).toBe(200);
    expect([served[0]!.customer, paid.served[0]!.payment?.payer]).toEqual([customer, agent.wallet.address]);
  });

  const seed = new Uint8Array(32).fill(9);
  it.each([
    ['junk', 'junk'],
    ['9 KB', btoa('x'.repeat(9_000))],
    ['a secret key, which no body may carry', base58.encode(Uint8Array.of(...seed, ...ed25519.getPublicKey(seed)))],
  ])('a sign-in that is %s gets a 402, and nothing is reported', async (_name, header) => {
    const { visit, errors, served } = openShop();
    const answer = await visit(PATH, { headers: { 'SIGN-IN-WITH-X': header } });
    const body = (await answer.json()) as object;
    expect([answer.status, answer.headers.has('PAYMENT-REQUIRED')]).toEqual([402, true]);
    expect(body).toMatchObject({ code: 'entitlement_missing', sign_in: { valid: false, reason: 'invalid_siwx_header' } });
    expect([errors, served]).toEqual([[], []]);
  });

  it('leftover units are reported where a buyer cannot sign in, and not where they can', async () => {
    const owner = await w.merchant();
    const { product_id } = await sellAt(w, owner, [], { usage_units: 2 });
    const buyFrom = async () => {
      const shop = openShop(shops.fetch!, { product: product_id, client: clientOf(w, owner.key) });
      expect((await wrapFetchWithPayment(shop.visit, (await newAgent(w)).client)(PATH)).status).toBe(200);
      return shop.errors.map(String);
    };
    expect(await buyFrom()).toEqual([expect.stringMatching(/2 units, a request uses 1.*Set `origins`/)]);
    await setOrigins(w, owner.key, [ORIGIN]);
    expect(await buyFrom()).toEqual([]);
  });

  it('a sign-in of 301 seconds ago is refused', async () => {
    const agent = await buyer();
    const { visit } = openShop();
    await wrapFetchWithPayment(visit, agent.client)(PATH);
    const late = (async (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input, init);
      if (request.headers.has('SIGN-IN-WITH-X')) setTime(Date.now() + 301_000);
      return visit(request);
    }) as typeof fetch;
    const refused = await wrapFetchWithSIWx(late, agent.signer)(PATH);
    expect(await refused.json()).toMatchObject({ sign_in: { valid: false, reason: 'invalid_siwx_issued_at_too_old' } });
  });
});
