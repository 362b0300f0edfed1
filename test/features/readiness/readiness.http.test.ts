import { createExecutionContext } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { CHECKS } from '#features/readiness/check-codes.ts';
import worker from '../../../worker/index.ts';
import { feePayerOf, newAgent, sellToAgents, write } from '../../support/people/agent.ts';
import { apply, checkOf, failingIn, isSold, readiness } from '../../support/people/sale.ts';
import { type Merchant, World } from '../../support/world.ts';

const CODES =
  'app_found product_found product_active price_set rail_enabled payout_wallet_set payout_ata_exists fee_wallet_configured ' +
  'webhook_endpoint_enabled plan_active live_mode_confirmed live_key_present subscription_plan_published listed';
// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

describe('GET /v1/access/setup/readiness', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  const of = (product: { product_id: string }, merchant = ada) => readiness(w, merchant, `product_id=${product.product_id}`);
  const patch = (product: Body, body: object) => w.call('PATCH', `/v1/products/${product.product_id}`, { key: ada.key, body });
  const setRail = (merchant: Merchant, railId: string, body: object) =>
    w.call('PUT', `/v1/access/rail-settings/${railId}`, { key: merchant.key, body, headers: { 'Idempotency-Key': crypto.randomUUID() } });

  /** Asserts the failing checks, and that a real sale succeeds on each rail exactly if none fails. `ready` refers to the default rail. */
  async function expectBlocked(product: Body, blocking: string[], merchant = ada): Promise<Body> {
    const answer = await of(product, merchant);
    expect(failingIn(answer)).toEqual(blocking);
    expect(await isSold(w, merchant, product.product_id)).toBe(blocking.length === 0);
    const usual = answer.rails.find(({ rail_id }: Body) => rail_id === product.default_rail);
    expect([answer.ready, answer.blocking.length]).toEqual(usual?.ready ? [true, 0] : [false, expect.any(Number)]);
    return answer;
  }
  async function expectCured(product: Body, code: string, answer: Body, merchant = ada): Promise<void> {
    expect(await apply(w, merchant, checkOf(answer, code).fix)).toBe(200);
    await expectBlocked(product, [], merchant);
  }

  it('a sold product passes every check in order, and each code is documented', async () => {
    const product = await sellToAgents(w, ada);
    const answer = await expectBlocked(product, []);
    expect(answer).toMatchObject({ ready: true, mode: 'live', product_id: product.product_id, blocking: [] });
    expect(answer.checks.map(({ code }: Body) => code).join(' ')).toBe(CODES);
    expect(answer.rails).toEqual(['solana_usdc', 'x402_solana_usdc'].map((rail_id) => ({ rail_id, ready: true })));
    const page = await worker.fetch(new Request(answer.checks[0].docs_url), w.env, createExecutionContext());
    const text = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/html')]);
    for (const { code, docs_url, fix, message } of answer.checks) {
      expect(docs_url.split('#')).toEqual([expect.stringMatching(/^https:\/\/[^/]+\/docs$/), code]);
      const meaning = CHECKS[code as keyof typeof CHECKS].replace(/'/g, '&#39;');
      expect(text).toContain(`<h3 id="${code}">`);
      expect(text).toContain(meaning);
      expect(message).not.toBe('');
      if (code !== 'webhook_endpoint_enabled') expect([code, fix]).toEqual([code, null]);
    }
  });

  it.each([
    ['product_active', (product: Body) => w.call('POST', `/v1/products/${product.product_id}/archive`, { key: ada.key })],
    ['live_mode_confirmed', (product: Body) => patch(product, { live_mode_confirmed: false })],
    [
      'price_set',
      // An update is refused if the price leaves a rail that the product names, so the test writes the row.
      ({ product_id }: Body) =>
        w.env.DB.prepare(`UPDATE products SET asset = 'SOL', allowed_rails = '["solana_usdc"]' WHERE id = ?`).bind(product_id).run(),
    ],
  ])('%s blocks readiness and is cured by its fix', async (code, spoil) => {
    const product = await sellToAgents(w, ada);
    await spoil(product);
    await expectCured(product, code, await expectBlocked(product, [code]));
  });

  it('a product that accepts SOL is judged by the SOL rail, which needs no token account', async () => {
    const merchant = await w.merchant();
    const sol = await w.product(merchant, { live_mode_confirmed: true, price: { asset: 'SOL', amount: '0.5' } });
    const alone = await expectBlocked(sol, [], merchant);
    expect(checkOf(alone, 'payout_ata_exists').status).toBe('skip');
    expect(checkOf(alone, 'rail_enabled').message).toContain('solana_sol');
    const both = await sellToAgents(w, merchant, { accepted_assets: ['USDC', 'SOL'] });
    expect(checkOf(await expectBlocked(both, [], merchant), 'payout_ata_exists').status).toBe('pass');
    const without = Object.assign(new World(), { chain: w.chain, env: { ...w.env, PRICE_URL: '' } });
    const ask = ({ product_id }: Body) => readiness(without, merchant, `product_id=${product_id}`);
    const unknown = await ask(both);
    expect([failingIn(unknown), await isSold(without, merchant, both.product_id)]).toEqual([['rail_enabled'], false]);
    expect(checkOf(unknown, 'rail_enabled').fix).toMatchObject({ path: '/v1/access/rails' });
    expect([(await ask(sol)).ready, await isSold(without, merchant, sol.product_id)]).toEqual([true, true]);
  });

  it('the payout wallet of each rail is requested, one fix after the other', async () => {
    const merchant = await w.merchant();
    await w.chain.call('local_fundUsdc', merchant.wallet.address, '1');
    const terms = { name: 'API', price: { asset: 'USDC', amount: '1' }, live_mode_confirmed: true };
    const { body: product } = await w.call('POST', '/v1/products', { key: merchant.key, body: terms });
    const first = await expectBlocked(product, ['payout_wallet_set'], merchant);
    expect(checkOf(first, 'payout_ata_exists').status).toBe('skip');
    expect(checkOf(first, 'payout_wallet_set').fix.path).toBe('/v1/access/rail-settings/solana_usdc');
    expect(await apply(w, merchant, checkOf(first, 'payout_wallet_set').fix)).toBe(200);
    const second = await expectBlocked(product, ['payout_wallet_set'], merchant);
    await expectCured(product, 'payout_wallet_set', second, merchant);
  });

  it('a missing USDC account has a fix with its transaction, and is only a warning for checkout', async () => {
    const merchant = await w.merchant();
    const terms = { live_mode_confirmed: true, price: { asset: 'USDC', amount: '0.5' } };
    const product = await w.product(merchant, { ...terms, allowed_rails: ['solana_usdc'] });
    const warned = await of(product, merchant);
    expect([warned.ready, checkOf(warned, 'payout_ata_exists').status]).toEqual([true, 'warn']);
    const both = await w.product(merchant, terms);
    const answer = await of(both, merchant);
    expect([answer.ready, failingIn(answer)]).toEqual([true, ['payout_ata_exists']]);
    const { fix } = checkOf(answer, 'payout_ata_exists');
    expect(fix.sign_url).toBe(`https://svc.test/sign#${fix.transaction}`);
    const denied = await write(w, merchant, 'entitlements/consume', { product_id: both.product_id, customer: { customer_ref: 'c' } });
    expect([denied.headers.get('PAYMENT-REQUIRED'), denied.body.meta.missing]).toEqual([null, 'payout_ata_exists']);
    await expectCured(both, 'payout_ata_exists', answer, merchant);
    expect(await isSold(w, merchant, product.product_id)).toBe(true);
  });

  it('a failing node blocks readiness as rail_enabled with a fix that needs no call', async () => {
    const merchant = await w.merchant();
    const product = await sellToAgents(w, merchant);
    // Readiness does not use cached account data.
    await expectBlocked(product, [], merchant);
    await w.chain.fault({ kind: 'http_503', method: 'getMultipleAccounts', times: 50 });
    const answer = await of(product, merchant);
    expect([answer.ready, answer.blocking]).toEqual([false, ['rail_enabled']]);
    expect(checkOf(answer, 'payout_ata_exists').status).toBe('warn');
    const { message, fix } = checkOf(answer, 'rail_enabled');
    expect(message).toContain('solana_usdc, x402_solana_usdc');
    expect(Object.keys(fix)).toEqual(['detail']);
    const rails = await w.call('GET', `/v1/access/products/${product.product_id}/available-rails`, { key: merchant.key });
    for (const railId of ['solana_usdc', 'x402_solana_usdc']) {
      const rail = rails.body.items.find((item: Body) => item.rail_id === railId);
      expect([rail.status, rail.reason, rail.fix]).toEqual(['degraded', 'rpc_unavailable', fix]);
    }
    await w.chain.call('local_clearFaults');
    const agent = await newAgent(w);
    const named = { product_id: product.product_id };
    const denied = await write(w, merchant, 'entitlements/consume', { ...named, customer: { wallet_address: agent.wallet.address } });
    const payment = await agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
    await w.chain.fault({ kind: 'http_503', times: 500 });
    expect((await of(product, merchant)).blocking).toEqual(['rail_enabled']);
    const connected = await w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { wallet_address: agent.wallet.address } });
    expect([connected.status, connected.body.code]).toEqual([503, 'rpc_unavailable']);
    expect((await write(w, merchant, 'x402/settle', { ...named, payment_signature: payment })).status).not.toBe(200);
    await w.chain.call('local_clearFaults');
    await expectBlocked(product, [], merchant);
  });

  it('a product without an enabled rail is blocked, and the fix enables one that it allows', async () => {
    const merchant = await w.merchant();
    const product = await sellToAgents(w, merchant);
    for (const railId of ['solana_usdc', 'x402_solana_usdc']) await setRail(merchant, railId, { enabled: false });
    const off = await expectBlocked(product, ['rail_enabled'], merchant);
    expect(checkOf(off, 'payout_wallet_set').status).toBe('skip');
    await expectCured(product, 'rail_enabled', off, merchant);
    const denied = await write(w, merchant, 'entitlements/consume', { product_id: product.product_id, customer: { customer_ref: 'c' } });
    expect(denied.body.meta.missing).toBe('rail_enabled');
    const agentsOnly = await sellToAgents(w, merchant, { allowed_rails: ['x402_solana_usdc'] });
    const narrow = await expectBlocked(agentsOnly, ['rail_enabled'], merchant);
    expect(checkOf(narrow, 'rail_enabled').fix).toMatchObject({
      path: '/v1/access/rail-settings/x402_solana_usdc',
      body: { enabled: true },
    });
    await expectCured(agentsOnly, 'rail_enabled', narrow, merchant);
  });

  it('a disabled default rail blocks readiness although another rail is enabled', async () => {
    const merchant = await w.merchant();
    const product = await sellToAgents(w, merchant);
    await setRail(merchant, 'solana_usdc', { enabled: false });
    const off = await of(product, merchant);
    expect([off.ready, off.blocking]).toEqual([false, ['rail_enabled']]);
    expect(off.rails).toContainEqual({ rail_id: 'x402_solana_usdc', ready: true });
    await expectCured(product, 'rail_enabled', off, merchant);
  });

  it('a product of another merchant, mode or app is product_found with a fix', async () => {
    const stranger = await w.merchant();
    const product = await sellToAgents(w, ada, { external_product_id: 'forecast' });
    const { body: app } = await write(w, ada, 'apps', { name: 'Weather' });
    for (const [merchant, query] of [
      [stranger, `product_id=${product.product_id}`],
      [stranger, 'external_product_id=forecast'],
      [ada, 'external_product_id=nothing'],
    ] as const) {
      const answer = await readiness(w, merchant, query);
      expect([answer.ready, answer.blocking[0], answer.product_id]).toEqual([false, 'product_found', undefined]);
      expect(checkOf(answer, 'product_found').fix).toMatchObject({ method: 'POST', path: '/v1/access/products' });
      expect(checkOf(answer, 'product_active').status).toBe('skip');
    }
    expect((await readiness(w, ada, 'external_product_id=forecast')).product_id).toBe(product.product_id);
    const elsewhere = await readiness(w, ada, `product_id=${product.product_id}&access_app_id=${app.access_app_id}`);
    expect([elsewhere.ready, elsewhere.blocking]).toEqual([false, ['product_found']]);
    expect(await apply(w, ada, checkOf(elsewhere, 'product_found').fix)).toBe(200);
    const found = await readiness(w, ada, `product_id=${product.product_id}&access_app_id=${app.access_app_id}`);
    expect([found.ready, found.access_app_id]).toEqual([true, app.access_app_id]);
    const foreign = await readiness(w, stranger, `access_app_id=${app.access_app_id}`);
    expect([foreign.ready, foreign.blocking[0]]).toEqual([false, 'app_found']);
    expect(checkOf(foreign, 'app_found').fix).toMatchObject({ method: 'POST', path: '/v1/access/apps' });
    const both = await w.call('GET', `/v1/access/setup/readiness?product_id=${product.product_id}&external_product_id=x`, { key: ada.key });
    expect([both.status, both.body.detail[0].loc]).toEqual([422, ['query']]);
  });

  it('readiness without a product checks the account alone', async () => {
    const merchant = await w.merchant();
    const answer = await readiness(w, merchant, 'mode=live');
    expect([answer.ready, answer.blocking]).toEqual([false, ['payout_wallet_set']]);
    for (const code of ['product_found', 'product_active', 'price_set', 'live_mode_confirmed'])
      expect([code, checkOf(answer, code).status]).toEqual([code, 'skip']);
  });

  it('a price above the client’s default limit is a warning', async () => {
    const product = await sellToAgents(w, ada, { price: { asset: 'USDC', amount: '1.000001' } });
    const answer = await of(product);
    expect([answer.ready, checkOf(answer, 'price_set').status]).toEqual([true, 'warn']);
    expect(checkOf(answer, 'price_set').message).toContain('maxAmountPerPayment');
    const agent = await newAgent(w);
    const denied = await write(w, ada, 'entitlements/consume', { product_id: product.product_id, customer: { customer_ref: 'c' } });
    await expect(agent.pay(denied.headers.get('PAYMENT-REQUIRED')!)).rejects.toThrow('maxAmountPerPayment');
  });

  it('a missing endpoint, a missing live key and an ending plan are warnings', async () => {
    const merchant = await w.merchant();
    const product = await sellToAgents(w, merchant);
    const deaf = await of(product, merchant);
    expect([deaf.ready, checkOf(deaf, 'webhook_endpoint_enabled').status]).toEqual([true, 'warn']);
    const other = { url: 'https://other.example.com/hooks', product_ids: [(await w.product(merchant)).product_id] };
    expect((await w.call('POST', '/v1/webhooks/endpoints', { key: merchant.key, body: other })).status).toBe(201);
    expect(checkOf(await of(product, merchant), 'webhook_endpoint_enabled').status).toBe('warn');
    expect(await apply(w, merchant, checkOf(deaf, 'webhook_endpoint_enabled').fix)).toBe(201);
    expect(checkOf(await of(product, merchant), 'webhook_endpoint_enabled').status).toBe('pass');

    const { body: me } = await w.call('GET', '/v1/account/me', { key: merchant.key });
    await w.call('DELETE', `/v1/keys/${me.key_id}`, { key: merchant.token });
    const signedIn = { ...merchant, key: merchant.token };
    const keyless = await of(product, signedIn);
    expect([keyless.ready, checkOf(keyless, 'live_key_present').status]).toEqual([true, 'warn']);
    expect(await isSold(w, signedIn, product.product_id)).toBe(true);
    expect(await apply(w, merchant, checkOf(keyless, 'live_key_present').fix)).toBe(201);
    const plan = () => of(product, signedIn).then((answer) => checkOf(answer, 'plan_active'));
    expect((await plan()).status).toBe('pass');
    await w.env.DB.prepare('UPDATE accounts SET plan_through = ? WHERE id = ?')
      .bind(Date.now() + 3_600_000, merchant.userId)
      .run();
    expect(await plan()).toMatchObject({ status: 'warn', fix: { method: 'POST', path: '/v1/access/x402/activate/scale' } });
    // A card subscription of the same plan continues.
    const byCard = (held: object[]) =>
      w.env.DB.prepare('UPDATE accounts SET processor_plans = ? WHERE id = ?').bind(JSON.stringify(held), merchant.userId).run();
    await byCard([{ plan: 'scale', planThrough: Date.now() + 30 * 86_400_000 }]);
    expect(await plan()).toMatchObject({ status: 'pass', message: expect.stringContaining('The plan scale is active') });
    await byCard([{ plan: 'growth', planThrough: Date.now() + 30 * 86_400_000 }]);
    expect(await plan()).toMatchObject({ status: 'warn', message: expect.stringContaining('the limits of the growth plan apply') });
    await w.env.DB.prepare("UPDATE accounts SET plan = 'free', plan_through = NULL WHERE id = ?").bind(merchant.userId).run();
    expect(await plan()).toMatchObject({ status: 'pass', message: expect.stringContaining('The plan growth is active') });
  });

  it('the sandbox names the skipped checks and is ready', async () => {
    const body = { name: 'API', price: { asset: 'USDC', amount: '1' } };
    const { body: product } = await w.call('POST', '/v1/products', { key: ada.sandboxKey, body });
    const ask = (options: { key: string; mode: string }) =>
      readiness(w, ada, `product_id=${product.product_id}${options.mode}`, { key: options.key });
    for (const options of [
      { key: ada.sandboxKey, mode: '' },
      { key: ada.token, mode: '&mode=sandbox' },
    ]) {
      const answer = await ask(options);
      expect(answer).toMatchObject({ ready: true, mode: 'sandbox', product_id: product.product_id });
      for (const code of ['payout_wallet_set', 'payout_ata_exists', 'live_mode_confirmed', 'rail_enabled', 'fee_wallet_configured'])
        expect(checkOf(answer, code)).toMatchObject({
          status: 'skip',
          message: expect.stringContaining('on the sandbox’s simulated chain'),
        });
    }
    expect(await ask({ key: ada.token, mode: '' })).toMatchObject({
      ready: false,
      mode: 'live',
      blocking: ['product_found', expect.anything()],
    });
    await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: ada.sandboxKey });
    expect((await ask({ key: ada.sandboxKey, mode: '' })).blocking).toEqual(['product_active']);
  });
});

describe('readiness of an incomplete deployment', () => {
  const seed = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));

  it('a fee without a wallet blocks products with checkout', async () => {
    const w = new World({ FEE_BPS: '100' });
    const merchant = await w.merchant();
    const product = await sellToAgents(w, merchant);
    const answer = await readiness(w, merchant, `product_id=${product.product_id}`);
    expect([answer.blocking, await isSold(w, merchant, product.product_id)]).toEqual([['fee_wallet_configured'], false]);
    expect(checkOf(answer, 'fee_wallet_configured').fix.method).toBeUndefined();
    await w.call('PATCH', `/v1/products/${product.product_id}`, { key: merchant.key, body: { allowed_rails: ['x402_solana_usdc'] } });
    const agentsOnly = await readiness(w, merchant, `product_id=${product.product_id}`);
    expect([agentsOnly.ready, checkOf(agentsOnly, 'fee_wallet_configured').status]).toEqual([true, 'skip']);
    expect(await isSold(w, merchant, product.product_id)).toBe(true);
  });

  it('an empty fee payer blocks the agent rail, which only the operator can fix', async () => {
    const w = new World({ FEE_PAYER_KEYS: seed(60) });
    const merchant = await w.merchant();
    await w.chain.call('local_fundUsdc', merchant.wallet.address, '1');
    const product = await w.product(merchant, { live_mode_confirmed: true, price: { asset: 'USDC', amount: '0.5' } });
    const answer = await readiness(w, merchant, `product_id=${product.product_id}`);
    expect([answer.ready, failingIn(answer), await isSold(w, merchant, product.product_id)]).toEqual([true, ['rail_enabled'], false]);
    expect(checkOf(answer, 'rail_enabled').fix).toMatchObject({ method: 'GET', path: '/v1/access/rails' });
    // The operator adds a funded key. The balance of the empty one is cached for a minute.
    w.env.FEE_PAYER_KEYS = seed(61);
    const renewed = Object.assign(new World(), { chain: w.chain, env: { ...w.env } });
    await w.chain.call('local_fundSol', feePayerOf(renewed), '1000000000');
    const cured = await readiness(renewed, merchant, `product_id=${product.product_id}`);
    expect([cured.ready, await isSold(renewed, merchant, product.product_id)]).toEqual([true, true]);
  });
});
