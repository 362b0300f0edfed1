import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { HTTPFacilitatorClient, x402ResourceServer } from '@x402/core/server';
import { wrapFetchWithPayment } from '@x402/fetch';
import { paymentMiddleware } from '@x402/hono';
import { ExactSvmScheme } from '@x402/svm/exact/server';
import { Hono } from 'hono';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import worker from '../../worker/index.ts';
import { NETWORKS } from '../../worker/solana/assets.ts';
import { type Agent, decoded, feePayerOf, newAgent } from '../world/agent.ts';
import { testEnv } from '../world/env.ts';
import { withFaults } from '../world/faults.ts';
import { type Merchant, World } from '../world/world.ts';

const { caip2, usdcMint } = NETWORKS.devnet;

describe('the facilitator of a merchant’s own x402 server', () => {
  const w = new World();
  let merchant: Merchant;
  let agent: Agent;
  /** The wallet he is paid to, by the setting of his rail. */
  let payTo: string;
  beforeAll(async () => {
    merchant = await w.merchant();
    agent = await newAgent(w);
    payTo = merchant.wallet.address;
    await w.chain.call('local_fundSol', feePayerOf(w), '1000000000');
    await w.chain.call('local_fundUsdc', payTo, '1');
    await w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', {
      key: merchant.key,
      body: { payout_wallet: payTo },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    });
  });
  afterEach(() => vi.unstubAllGlobals());

  const requirements = (over: Record<string, unknown> = {}) => ({
    scheme: 'exact',
    network: caip2,
    asset: usdcMint,
    amount: '10000',
    payTo,
    maxTimeoutSeconds: 60,
    extra: { feePayer: feePayerOf(w) },
    ...over,
  });
  /** A body as the reference client of a facilitator sends it, with a payment of its own. */
  const bodyFor = async (asked: ReturnType<typeof requirements> = requirements()) => {
    const required = { x402Version: 2 as const, resource: { url: 'https://shop.test/weather' }, accepts: [asked] };
    const payment = await agent.payFor(required as unknown as Parameters<Agent['payFor']>[0]);
    return { x402Version: 2, paymentPayload: decoded(payment), paymentRequirements: asked };
  };
  const ask = (call: 'verify' | 'settle', body: unknown, key = merchant.key) =>
    w.call('POST', `/v1/access/x402/facilitator/${call}`, { key, body });
  const settlements = async () =>
    (await testEnv.DB.prepare("SELECT count(*) AS n FROM settlements WHERE purpose = 'facilitator' AND status = 'settled'").first<{
      n: number;
    }>())!.n;

  /** A shop with nothing of ours in it but the address and the key: its calls to us go through the real worker. */
  const openShop = () => {
    const real = globalThis.fetch;
    const calls: string[] = [];
    vi.stubGlobal('fetch', async (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input, init);
      if (!request.url.startsWith('https://svc.test')) return real(request);
      calls.push(new URL(request.url).pathname.split('/').at(-1)!);
      const execution = createExecutionContext();
      const response = await worker.fetch(request, w.env, execution);
      await waitOnExecutionContext(execution);
      return response;
    });
    const headers = { 'X-Svc-Key': merchant.key };
    const facilitator = new HTTPFacilitatorClient({
      url: 'https://svc.test/v1/access/x402/facilitator',
      createAuthHeaders: async () => ({ verify: headers, settle: headers, supported: {} }),
    });
    const server = new x402ResourceServer(facilitator).register(caip2, new ExactSvmScheme());
    const shop = new Hono();
    let served = 0;
    const price = { scheme: 'exact', network: caip2, price: '$0.01', payTo };
    shop.use(paymentMiddleware({ 'GET /weather': { accepts: price, description: 'Weather' } }, server));
    shop.get('/weather', (c) => c.json({ served: ++served }));
    const visit = async (input: RequestInfo | URL, init?: RequestInit) => shop.fetch(new Request(input, init));
    return { visit: visit as typeof fetch, calls, servedTimes: () => served };
  };

  it('tells what it takes, to anybody', async () => {
    const { status, body } = await w.call('GET', '/v1/access/x402/facilitator/supported');
    expect(status).toBe(200);
    expect(body).toEqual({
      kinds: [{ x402Version: 2, scheme: 'exact', network: caip2, extra: { feePayer: feePayerOf(w) } }],
      extensions: [],
      signers: { 'solana:*': [feePayerOf(w)] },
    });
    const bare = await w.call('GET', '/v1/access/x402/facilitator/supported', { env: { ...w.env, CHALLENGE_KEYS: '' } });
    expect(bare.body.kinds).toEqual([]);
  });

  it('serves an unmodified @x402/hono server and its unmodified client', async () => {
    const { visit, calls, servedTimes } = openShop();
    const before = await settlements();
    let payment = '';
    const watching = (async (input: RequestInfo | URL, init?: RequestInit) => {
      const request = new Request(input, init);
      payment = request.headers.get('PAYMENT-SIGNATURE') ?? payment;
      return visit(request);
    }) as typeof fetch;
    const response = await wrapFetchWithPayment(watching, agent.client)('https://shop.test/weather');
    expect([response.status, await response.json()]).toEqual([200, { served: 1 }]);
    const paid = decoded(response.headers.get('PAYMENT-RESPONSE')!);
    expect(paid).toMatchObject({ success: true, payer: agent.wallet.address, network: caip2 });
    expect(calls).toEqual(['supported', 'verify', 'settle']);
    expect(await settlements()).toBe(before + 1);
    // The same payment a second time buys nothing.
    const again = await visit('https://shop.test/weather', { headers: { 'PAYMENT-SIGNATURE': payment } });
    expect(again.status).toBe(402);
    expect(decoded(again.headers.get('PAYMENT-REQUIRED')!).error).toBe('duplicate_settlement');
    expect([servedTimes(), await settlements()]).toEqual([1, before + 1]);
  });

  it('has a payment that is sent ten times at once served once', async () => {
    const { visit, servedTimes } = openShop();
    const { headers } = await visit('https://shop.test/weather');
    const payment = await agent.pay(headers.get('PAYMENT-REQUIRED')!);
    const visits = Array.from({ length: 10 }, () => visit('https://shop.test/weather', { headers: { 'PAYMENT-SIGNATURE': payment } }));
    const answers = await Promise.all(visits);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(answers.filter(({ status }) => status === 402)).toHaveLength(9);
    expect(servedTimes()).toBeGreaterThanOrEqual(1);
  });

  it('lets a buyer come back for what he paid while nobody knew', async () => {
    const { visit } = openShop();
    const { headers } = await visit('https://shop.test/weather');
    const payment = await agent.pay(headers.get('PAYMENT-REQUIRED')!);
    const send = () => visit('https://shop.test/weather', { headers: { 'PAYMENT-SIGNATURE': payment } });
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 100 });
    expect((await send()).status).toBe(402);
    await w.chain.call('local_clearFaults');
    expect([(await send()).status, (await send()).status]).toEqual([200, 402]);
  });

  it('verifies without a trace, and settles what it verified', async () => {
    const body = await bodyFor();
    const verified = await ask('verify', body);
    expect([verified.status, verified.body]).toEqual([200, { isValid: true, payer: agent.wallet.address }]);
    const settled = await ask('settle', body);
    expect(settled.body).toMatchObject({ success: true, payer: agent.wallet.address, network: caip2, amount: '10000' });
    const again = await ask('settle', body);
    expect(JSON.stringify(again.body)).toBe(JSON.stringify(settled.body));
    expect((await ask('verify', body)).body).toMatchObject({ isValid: false, invalidReason: 'duplicate_settlement' });
    const rows = await testEnv.DB.prepare('SELECT count(*) AS n FROM payments WHERE tx_signature = ?')
      .bind(settled.body.transaction)
      .first();
    const receipts = await testEnv.DB.prepare('SELECT count(*) AS n FROM receipts WHERE tx_signature = ?')
      .bind(settled.body.transaction)
      .first();
    expect([rows, receipts]).toEqual([{ n: 0 }, { n: 0 }]);
  });

  it('settles a payment sent many times at once for one call only', async () => {
    const body = await bodyFor();
    const sent = async () => (await w.chain.call<Record<string, number>>('local_calls')).sendTransaction ?? 0;
    const before = await sent();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('settle', body)));
    const winners = answers.filter((answer) => answer.body.success);
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(winners.length).toBeGreaterThanOrEqual(1);
    for (const { body: lost } of answers.filter((answer) => !answer.body.success)) expect(lost.errorReason).toBe('duplicate_settlement');
    expect((await sent()) - before).toBe(1);
    expect(new Set(winners.map((answer) => answer.body.transaction)).size).toBe(1);
  });

  it('says settlement_pending where the chain has not decided, then gives the one result', async () => {
    const body = await bodyFor();
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 100 });
    const waiting = await ask('settle', body);
    await w.chain.call('local_clearFaults');
    expect(waiting.body).toMatchObject({ success: false, errorReason: 'settlement_pending' });
    expect((await ask('verify', body)).body.isValid).toBe(true);
    const settled = await ask('settle', body);
    expect(settled.body).toMatchObject({ success: true, transaction: waiting.body.transaction });
  });

  it('finishes by the sweep what nobody asks for again, and ends what never landed', async () => {
    const [landed, lost] = [await bodyFor(), await bodyFor()];
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 100 });
    await ask('settle', landed);
    await w.chain.call('local_clearFaults');
    await w.sweep();
    expect((await ask('settle', landed)).body.success).toBe(true);
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    expect((await ask('settle', lost)).body.errorReason).toBe('settlement_pending');
    await w.chain.call('local_warp', 600);
    const failed = (await ask('settle', lost)).body;
    expect(failed).toMatchObject({ success: false, errorReason: 'invalid_exact_svm_transaction_failed' });
    expect((await ask('settle', lost)).body).toEqual(failed);
  });

  for (const when of ['before', 'after'] as const)
    it(`loses nothing to a database that breaks ${when} any trip of a settlement`, async () => {
      let broken = 0;
      for (let isBroken = true; isBroken; ) {
        broken++;
        const body = await bodyFor();
        const { env, trips } = withFaults(w.env, { [when]: ({ number }: { number: number }) => number === broken });
        const first = await w.call('POST', '/v1/access/x402/facilitator/settle', { key: merchant.key, body, env });
        isBroken = trips.length >= broken;
        expect([200, 503], `${when} ${broken}: ${JSON.stringify(first.body)}`).toContain(first.status);
        // The call that claimed it is gone; its lease ends, and the sweep sees to it.
        await testEnv.DB.prepare("UPDATE settlements SET next_check_at = 0 WHERE status = 'pending'").run();
        await w.sweep();
        const again = await ask('settle', body);
        expect(again.body.success, `${when} ${broken}: ${JSON.stringify(again.body)}`).toBe(true);
        if (first.body.success) expect(again.body).toEqual(first.body);
      }
      expect(broken).toBeGreaterThan(3);
    });

  it('pays the network for nothing but sales of this merchant, in our money, on our network', async () => {
    const stranger = await w.merchant();
    const body = await bodyFor();
    const wrong: [object, string][] = [
      [{ ...body, x402Version: 1 }, 'invalid_x402_version'],
      [{ ...body, paymentPayload: {} }, 'invalid_payload'],
      [{ ...body, paymentRequirements: {} }, 'invalid_payment_requirements'],
      [{ ...body, paymentRequirements: requirements({ payTo: stranger.wallet.address }) }, 'invalid_payment_requirements'],
      [{ ...body, paymentRequirements: requirements({ network: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp' }) }, 'invalid_network'],
      [{ ...body, paymentRequirements: requirements({ scheme: 'upto' }) }, 'invalid_exact_svm_unsupported_scheme'],
      [{ ...body, paymentRequirements: requirements({ asset: payTo }) }, 'invalid_exact_svm_payload_mint_mismatch'],
      [{ ...body, paymentRequirements: requirements({ amount: '9999' }) }, 'invalid_exact_svm_payload_amount_mismatch'],
      [{ ...body, paymentRequirements: requirements({ extra: {} }) }, 'invalid_exact_svm_payload_missing_fee_payer'],
      [
        { ...body, paymentRequirements: requirements({ extra: { feePayer: payTo } }) },
        'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
      ],
    ];
    for (const [call, reason] of wrong) {
      const [verified, settled] = [await ask('verify', call), await ask('settle', call)];
      expect([verified.status, verified.body.isValid, verified.body.invalidReason]).toEqual([200, false, reason]);
      expect([settled.status, settled.body.success, settled.body.errorReason, settled.body.transaction]).toEqual([200, false, reason, '']);
    }
    expect((await ask('settle', body, stranger.key)).body.errorReason).toBe('invalid_payment_requirements');
    expect(await ask('verify', body, merchant.sandboxKey)).toMatchObject({ status: 409, body: { code: 'setup_not_ready' } });
    expect(await ask('settle', body, merchant.token)).toMatchObject({ status: 403, body: { meta: { reason: 'key_required' } } });
    expect((await ask('settle', body)).body.success).toBe(true);
  });

  it('pays to the wallet of a product that is on sale, not of one that was archived', async () => {
    const wallet = (await w.chain.wallet(1n)).address;
    const asked = requirements({ payTo: wallet });
    expect((await ask('verify', await bodyFor(asked))).body.isValid).toBe(false);
    const product = await w.product(merchant, { payout_wallet: wallet });
    expect((await ask('verify', await bodyFor(asked))).body.isValid).toBe(true);
    await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: merchant.key });
    expect((await ask('verify', await bodyFor(asked))).body.isValid).toBe(false);
  });

  it('takes a payment for one thing only: not for a plan or a product of ours, nor the other way', async () => {
    const body = await bodyFor();
    expect((await ask('settle', body)).body.success).toBe(true);
    const product = await w.product(merchant, { live_mode_confirmed: true });
    const settled = await w.call('POST', '/v1/access/x402/settle', {
      key: merchant.key,
      headers: { 'Idempotency-Key': crypto.randomUUID() },
      body: { product_id: product.product_id, payment_signature: btoa(JSON.stringify(body.paymentPayload)) },
    });
    expect([settled.status, settled.body.code]).toEqual([409, 'duplicate_settlement']);
  });
});
