// @module-tag quick
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';
import { wrapFetchWithPayment } from '@x402/fetch';
import { paymentMiddleware } from '@x402/hono';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import { Hono } from 'hono';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { NETWORKS } from '#solana/assets.ts';
import { associatedTokenAccount } from '#solana/checkout-transaction.ts';
import worker from '../../../worker/index.ts';
import { USDC } from '../../support/chain/chain.ts';
import { openTreasury, treasuryUnits } from '../../support/people/activation.ts';
import { decoded, newAgent, newKey, write } from '../../support/people/agent.ts';
import { goodManifest, Setup } from '../../support/people/bootstrap.ts';
import { apply, failingIn } from '../../support/people/sale.ts';
import { testEnv } from '../../support/runner/env.ts';
import type { Received } from '../../support/servers/receiver.ts';
import { type Answer, type Merchant, World } from '../../support/world.ts';

const { caip2 } = NETWORKS.devnet;
const HOST = 'https://svc.test';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;
type Own = Record<string, string>;

/** Applies a suggestion as a careful reader would. Other findings leave the manifest unchanged. */
const SUGGESTION_FIXES: Record<string, (finding: Body, manifest: Body) => unknown> = {
  contact_email_invalid: () => 'ops@weather.example.com',
  resource_method_unknown: () => 'GET',
  resource_product_unknown: (_, { products }) => products[0].external_product_id,
  // The suggestion ends with the JSON object to write.
  product_price_invalid: ({ suggestion }) => JSON.parse(/\{.*\}/.exec(suggestion)![0]),
  permission_unavailable: () => 'execute',
  live_needs_payout: () => ({ rail_id: 'x402_solana_usdc', wallet_address: '<mine>' }),
};

function put(target: Body, path: string, value: unknown): void {
  const steps = path.match(/[^.[\]]+/g)!;
  const last = steps.pop()!;
  steps.reduce((at, step) => at[step], target)[last] = value;
}

describe('agent setup without a person', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const payoutBox = crypto.randomUUID();
  const shown: { path: string; authorization: string | null }[] = [];
  let setup: Setup;
  let seller: Merchant;
  let product: Body;
  let webhookSecret = '';

  beforeAll(async () => {
    const fetchOfWorker = worker.fetch.bind(worker);
    vi.spyOn(worker, 'fetch').mockImplementation((request, env, execution) => {
      shown.push({ path: new URL(request.url).pathname, authorization: request.headers.get('Authorization') });
      return fetchOfWorker(request, env, execution);
    });
    await openTreasury(w);
  });
  afterEach(() => vi.unstubAllGlobals());
  afterAll(() => vi.restoreAllMocks());

  /** Routes requests of the public packages for our host to the real worker. */
  const online: typeof fetch = async (input, init) => {
    const request = new Request(input as RequestInfo, init as RequestInit);
    const execution = createExecutionContext();
    const response = await worker.fetch(request, w.env, execution);
    await waitOnExecutionContext(execution);
    return response;
  };
  /** Makes a suggested call unchanged, except for the blanks in <…>. */
  const follow = async ({ method, path, headers = {}, body }: Body, own: Own): Promise<Answer<Body>> => {
    const fill = (value: unknown) => {
      const once: Own = { ...own, '<8 to 255 visible characters, new for every request>': newKey() };
      const text = Object.entries(once).reduce((left, [blank, mine]) => left.replaceAll(blank, mine), JSON.stringify(value));
      expect(text).not.toMatch(/<[a-z0-9]/);
      return JSON.parse(text);
    };
    const answer = await w.call(method, path, { headers: fill(headers), ...(body ? { body: fill(body) } : {}) });
    expect(answer.status, `${method} ${path}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    return answer;
  };
  const readUsdc = async (owner: string): Promise<bigint> => {
    const account = await associatedTokenAccount(owner, USDC);
    return BigInt((await w.chain.call<{ value: { amount: string } }>('getTokenAccountBalance', account)).value.amount);
  };
  const readRateLimit = async (key: string): Promise<string | null> =>
    (await w.call('GET', '/v1/products', { key, env: { ...w.env, RATE_MULTIPLIER: '1' } })).headers.get('X-RateLimit-Limit');

  it('the agent fixes its manifest from the findings alone', async () => {
    setup = await Setup.create(w, { plan: 'starter', intended_use: 'Sell forecasts by the request' });
    const payout = await w.chain.wallet(0n);
    const manifest: Body = await goodManifest(w, {
      contact_email: 'nobody',
      resources: [{ method: 'FETCH', url: 'https://api.weather.example.com/forecast', product_ref: 'forecasts', units: 1 }],
      products: [{ external_product_id: 'forecast', name: 'Forecast', price: { asset: 'USDC', amount: '0' }, usage_units: 1 }],
      payout: undefined,
      webhooks: [{ url: `${testEnv.TEST_RECEIVER_URL}/ok/${payoutBox}`, event_types: ['payment.confirmed'] }],
      requested_permissions: ['read', 'admin'],
      spend_limits: { per_payment: { asset: 'USDC', amount: '19' }, per_day: { asset: 'USDC', amount: '38' } },
    });
    const refused = await setup.call('manifest', manifest);
    const errors = refused.body.evaluation.findings.filter(({ severity }: Body) => severity === 'error');
    expect([refused.body.status, refused.body.next_actions[0].action]).toEqual(['changes_required', 'fix_manifest']);
    expect(errors.map(({ code }: Body) => code).sort()).toEqual(Object.keys(SUGGESTION_FIXES).sort());
    expect((await setup.approveLive()).body.code).toBe('state_conflict');

    for (const finding of errors) put(manifest, finding.path, SUGGESTION_FIXES[finding.code]!(finding, manifest));
    manifest.payout.wallet_address = payout.address;
    const accepted = await setup.call('manifest', manifest);
    expect([accepted.body.status, accepted.body.evaluation.findings]).toEqual(['ready', []]);
    expect(accepted.body.evaluation.score).toBeGreaterThan(refused.body.evaluation.score);
    seller = { key: '', token: '', wallet: payout } as unknown as Merchant;
  });

  it('the agent learns which plan it needs and buys it from the suggested call', async () => {
    const { body: refusal } = await setup.approveLive();
    expect([refusal.code, refusal.meta.reason, await setup.liveKeys()]).toEqual(['setup_not_ready', 'plan_active', []]);
    const buy = (await setup.call('status')).body.next_actions[0];
    expect([buy.action, `${buy.method} ${buy.path}`]).toEqual(['activate_plan', refusal.meta.next[0]]);
    expect(buy.headers).toEqual(refusal.meta.headers);
    expect(await readRateLimit(setup.created.sandbox_api_key)).toBe('30');

    const payer = await newAgent(w);
    const pay = () => {
      const headers = { ...buy.headers, 'X-Svc-Setup-Secret': setup.secret };
      return wrapFetchWithPayment(online, payer.client)(`${HOST}${buy.path}`, { method: buy.method, headers });
    };
    // The public client's default limit is one dollar, and the 402 names the setting.
    await expect(pay()).rejects.toThrow(/maxAmountPerPayment|spend/i);
    const asked = await w.call(buy.method, buy.path, { headers: { 'X-Svc-Setup-Secret': setup.secret } });
    const [, most] = /setSpendControls\(\{ maxAmountPerPayment: '(.+)' \}\)/.exec(asked.body.meta.client_setting)!;
    payer.client.setSpendControls({ maxAmountPerPayment: most! });
    const paid = await pay();
    const activation: Body = await paid.json();
    expect([paid.status, activation.plan, activation.account_id]).toEqual([200, 'starter', setup.created.account_id]);
    expect(decoded(paid.headers.get('PAYMENT-RESPONSE')!)).toMatchObject({ success: true, payer: payer.wallet.address });
    expect([await treasuryUnits(w), await readUsdc(payer.wallet.address)]).toEqual([19_000_000n, 981_000_000n]);
    expect(await readRateLimit(setup.created.sandbox_api_key)).toBe('60');
    const growth = await w.call('POST', '/v1/access/x402/activate/growth', { headers: { 'X-Svc-Setup-Secret': setup.secret } });
    expect(growth.body.code).toBe('spend_limit_exceeded');
  });

  it('the agent gets its live key and follows the suggested actions until readiness passes', async () => {
    const [issue] = (await setup.call('status')).body.next_actions;
    const { body: approved } = await follow(issue, { '<setup_secret>': setup.secret });
    expect([issue.action, approved.status, approved.live_key_active]).toEqual(['issue_live_key', 'approved', true]);
    seller.key = approved.live_api_key;

    const answers = new Map<string, Body>();
    for (const action of approved.next_actions) {
      const { body } = await follow(action, { '<live_api_key>': seller.key });
      answers.set(action.action, body);
    }
    expect([...answers.keys()]).toEqual(['set_payout', 'create_product', 'create_webhook', 'check_readiness']);
    product = answers.get('create_product');
    webhookSecret = answers.get('create_webhook').secret;

    let readiness = answers.get('check_readiness');
    expect([readiness.ready, readiness.product_id]).toEqual([false, product.product_id]);
    const mended: string[] = [];
    for (; failingIn(readiness).length > 0 && mended.length < 5; ) {
      const broken = readiness.checks.find(({ status }: Body) => status === 'fail');
      expect(await apply(w, seller, broken.fix)).toBeLessThan(300);
      mended.push(broken.code);
      readiness = (await w.call('GET', `/v1/access/setup/readiness?product_id=${product.product_id}`, { key: seller.key })).body;
    }
    // The manifest named a wallet for one rail only, and neither wallet had a USDC account yet.
    expect(mended).toEqual(['payout_wallet_set', 'payout_ata_exists']);
    expect([readiness.ready, failingIn(readiness), readiness.checks.filter(({ status }: Body) => status === 'warn')]).toEqual([
      true,
      [],
      [],
    ]);
  });

  it('the agent sells a request to another agent through a third-party server', async () => {
    const real = globalThis.fetch;
    vi.stubGlobal('fetch', (input: RequestInfo, init?: RequestInit) =>
      (new Request(input, init).url.startsWith(HOST) ? online : real)(input, init),
    );
    const headers = { 'X-Svc-Key': seller.key };
    const url = `${HOST}/v1/access/x402/facilitator`;
    const facilitator = new HTTPFacilitatorClient({
      url,
      createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: {} }),
    });
    const server = new x402ResourceServer(facilitator).register(caip2, new ExactSvmScheme());
    const accepts = { scheme: 'exact', network: caip2, price: '$0.01', payTo: seller.wallet.address };
    let served = 0;
    const shop = new Hono();
    shop.use(paymentMiddleware({ 'GET /forecast': { accepts, description: 'Forecast' } }, server));
    shop.get('/forecast', (c) => c.json({ served: ++served }));
    const visit = (async (input: RequestInfo, init?: RequestInit) => shop.fetch(new Request(input, init))) as typeof fetch;

    const buyer = await newAgent(w, 50_000n);
    const before = await readUsdc(seller.wallet.address);
    const response = await wrapFetchWithPayment(visit, buyer.client)('https://weather.test/forecast');
    expect([response.status, await response.json()]).toEqual([200, { served: 1 }]);
    expect(decoded(response.headers.get('PAYMENT-RESPONSE')!)).toMatchObject({ success: true, payer: buyer.wallet.address });
    expect([(await readUsdc(seller.wallet.address)) - before, await readUsdc(buyer.wallet.address)]).toEqual([10_000n, 40_000n]);
  });

  it('the agent sells a request by consume and settle, with units, receipt and event', async () => {
    const buyer = await newAgent(w, 50_000n);
    const before = await readUsdc(seller.wallet.address);
    const named = { external_product_id: 'forecast' };
    let served = 0;
    /** Shop server as in any language: consume, else return the challenge, and settle the payment that comes back. */
    const shop = (async (input: RequestInfo, init?: RequestInit) => {
      const signature = new Request(input, init).headers.get('PAYMENT-SIGNATURE');
      const customer = { wallet_address: buyer.wallet.address };
      const answer = signature
        ? await write(w, seller, 'x402/settle', { ...named, payment_signature: signature, consume_units: 1 })
        : await write(w, seller, 'entitlements/consume', { ...named, customer });
      const isPaid = answer.status === 200 && answer.headers.get('X-Svc-Duplicate-Settlement') === null;
      if (isPaid) return Response.json({ served: ++served, ...answer.body });
      return new Response(null, { status: 402, headers: { 'PAYMENT-REQUIRED': answer.headers.get('PAYMENT-REQUIRED')! } });
    }) as typeof fetch;
    const response = await wrapFetchWithPayment(shop, buyer.client)('https://weather.test/forecast');
    const sale: Body = await response.json();
    expect([response.status, served, sale.consumed_units, sale.remaining]).toEqual([200, 1, 1, 0]);
    expect([(await readUsdc(seller.wallet.address)) - before, await readUsdc(buyer.wallet.address)]).toEqual([10_000n, 40_000n]);
    expect((await w.call('GET', `/v1/receipt/${sale.receipt_id}/public`)).status).toBe(200);

    await w.deliver();
    await w.attempt();
    const mail: Received[] = await (await fetch(`${testEnv.TEST_RECEIVER_URL}/_box/${payoutBox}`)).json();
    const events = mail.map(({ body, headers }) => new Webhook(webhookSecret).verify(body, headers) as Body);
    expect(events.map(({ type, data }) => [type, data.object.payment_id])).toEqual([['payment.confirmed', sale.payment_id]]);
  });

  it('the agent has exactly the limits of its plan', async () => {
    expect(await readRateLimit(seller.key)).toBe('300');
    const add = (name: string) => write(w, seller, 'products', { name, price: { asset: 'USDC', amount: '1' } });
    const made = await Promise.all(Array.from({ length: 24 }, (_, number) => add(`Forecast ${number + 2}`)));
    expect(new Set(made.map(({ status }) => status))).toEqual(new Set([201]));
    const { status, body } = await add('One too many');
    expect([status, body.code, body.meta]).toEqual([429, 'plan_limit_reached', { limit: 25, used: 25, plan: 'starter' }]);
  });

  it('no call used a session token, a sign-in or /v1/keys', async () => {
    expect(shown.length).toBeGreaterThan(40);
    expect(shown.filter(({ authorization }) => authorization !== null)).toEqual([]);
    expect(shown.filter(({ path }) => path.startsWith('/v1/auth') || path === '/v1/keys')).toEqual([]);
    const account = testEnv.DB.prepare('SELECT email, password_hash, wallet_address FROM persons WHERE id = ?');
    expect(Object.values((await account.bind(setup.created.account_id).first())!)).toEqual([null, null, null]);
  });
});
