// @module-tag quick
import { wrapFetchWithPayment } from '@x402/fetch';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { base64, utf8 } from '#core/encoding.ts';
import { NETWORKS } from '#solana/assets.ts';
import { CAPS, priced } from '../../support/chain/priced.ts';
import { openTill, type Till } from '../../support/clients/facilitator-shop.ts';
import { decoded, feePayerOf } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const { caip2 } = NETWORKS.devnet;

describe('x402 facilitator', () => {
  const w = new World();
  let till: Till;
  beforeAll(async () => {
    till = await openTill(w);
  });
  afterEach(() => vi.unstubAllGlobals());

  it('GET /supported is public and lists scheme, network and fee payer', async () => {
    const { status, body } = await w.call('GET', '/v1/access/x402/facilitator/supported');
    expect(status).toBe(200);
    expect(body).toEqual({
      kinds: [{ x402Version: 2, scheme: 'exact', network: caip2, extra: { feePayer: feePayerOf(w), ...CAPS } }],
      extensions: ['bazaar', 'payment-identifier'],
      signers: { 'solana:*': [feePayerOf(w)] },
    });
    const bare = await w.call('GET', '/v1/access/x402/facilitator/supported', { env: { ...w.env, CHALLENGE_KEYS: '' } });
    expect(bare.body.kinds).toEqual([]);
  });

  it('an unmodified @x402/hono server and client complete a sale', async () => {
    const { agent, startServer, settlements } = till;
    const { visit, calls, servedTimes } = startServer();
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
    const again = await visit('https://shop.test/weather', { headers: { 'PAYMENT-SIGNATURE': payment } });
    expect(again.status).toBe(402);
    expect(decoded(again.headers.get('PAYMENT-REQUIRED')!).error).toBe('duplicate_settlement');
    expect([servedTimes(), await settlements()]).toEqual([1, before + 1]);
  });

  it('verify stores nothing, and settle settles what was verified', async () => {
    const { agent, ask, bodyFor } = till;
    const body = await bodyFor();
    const verified = await ask('verify', body);
    expect([verified.status, verified.body]).toEqual([200, { isValid: true, payer: agent.wallet.address }]);
    const settled = await ask('settle', body);
    expect(settled.body).toMatchObject({ success: true, payer: agent.wallet.address, network: caip2, amount: '10000' });
    expect((await ask('settle', body)).body).toEqual(settled.body);
    expect((await ask('verify', body)).body).toMatchObject({ isValid: false, invalidReason: 'duplicate_settlement' });
    const rows = await testEnv.DB.prepare('SELECT count(*) AS n FROM payments WHERE tx_signature = ?')
      .bind(settled.body.transaction)
      .first();
    const receipts = await testEnv.DB.prepare('SELECT count(*) AS n FROM receipts WHERE tx_signature = ?')
      .bind(settled.body.transaction)
      .first();
    expect([rows, receipts]).toEqual([{ n: 0 }, { n: 0 }]);
  });

  it('only sales of this merchant in our asset and network are verified and settled', async () => {
    const { ask, bodyFor, merchant, payTo, requirements } = till;
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
    expect((await ask('settle', body, { key: stranger.key })).body.errorReason).toBe('invalid_payment_requirements');
    expect(await ask('verify', body, { key: merchant.sandboxKey })).toMatchObject({ status: 409, body: { code: 'setup_not_ready' } });
    expect(await ask('settle', body, { key: merchant.token })).toMatchObject({ status: 403, body: { meta: { reason: 'key_required' } } });
    expect((await ask('settle', body)).body.success).toBe(true);
  });

  it('requirements without our caps are settled up to the caps, and refused above them', async () => {
    const { ask, agent, bodyFor } = till;
    const budgeted = async (units: number, microLamports: bigint) => {
      const body = await bodyFor();
      const header = base64.encode(utf8(JSON.stringify(body.paymentPayload)));
      return { ...body, paymentPayload: decoded(await priced(header, agent.wallet, { units, microLamports })) };
    };
    const settled = await ask('settle', await budgeted(400_000, 50_000n));
    expect(settled.body.success).toBe(true);
    const above = await budgeted(400_000, 50_001n);
    const reason = 'invalid_exact_svm_payload_transaction_instructions_compute_price_instruction_too_high';
    expect((await ask('verify', above)).body).toMatchObject({ isValid: false, invalidReason: reason });
    expect((await ask('settle', above)).body).toMatchObject({ success: false, errorReason: reason, transaction: '' });
  });

  it('the wallet of a product on sale is accepted, that of an archived product is not', async () => {
    const { ask, bodyFor, merchant, requirements } = till;
    const wallet = (await w.chain.wallet(1n)).address;
    const asked = requirements({ payTo: wallet });
    expect((await ask('verify', await bodyFor(asked))).body.isValid).toBe(false);
    const product = await w.product(merchant, { payout_wallet: wallet });
    expect((await ask('verify', await bodyFor(asked))).body.isValid).toBe(true);
    await w.call('POST', `/v1/products/${product.product_id}/archive`, { key: merchant.key });
    expect((await ask('verify', await bodyFor(asked))).body.isValid).toBe(false);
  });

  it('a payment settled by the facilitator cannot pay for a product', async () => {
    const { ask, bodyFor, merchant } = till;
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

  it('a disabled rail refuses new payments and still settles those from before', async () => {
    const { ask, bodyFor, setRail } = till;
    const [before, after] = [await bodyFor(), await bodyFor()];
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 100 });
    expect((await ask('settle', before)).body.errorReason).toBe('settlement_pending');
    await w.chain.call('local_clearFaults');
    await setRail({ enabled: false });
    for (const call of ['verify', 'settle'] as const)
      expect(await ask(call, after)).toMatchObject({
        status: 409,
        body: { code: 'setup_not_ready', meta: { reason: 'rail_enabled', next: 'PUT /v1/access/rail-settings/x402_solana_usdc' } },
      });
    expect((await ask('settle', before)).body.success).toBe(true);
    await setRail({ enabled: true });
    expect((await ask('settle', after)).body.success).toBe(true);
  });
});
