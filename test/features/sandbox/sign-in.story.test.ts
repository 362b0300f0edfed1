import { parseSIWxHeader, validateSIWxMessage, verifySIWxSignature } from '@x402/extensions/sign-in-with-x';
import { beforeAll, describe, expect, it } from 'vitest';
import { callTesting } from '../../support/clients/sandbox.ts';
import { decoded, setOrigins, write } from '../../support/people/agent.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

const ORIGIN = 'https://shop.example';
const resource = { url: `${ORIGIN}/report`, method: 'GET' };

describe('POST /v1/testing/sign-in', () => {
  const w = new World();
  let merchant: Merchant;
  let product: { product_id: string };
  beforeAll(async () => {
    merchant = await w.merchant();
    await setOrigins(w, merchant.sandboxKey, [ORIGIN]);
    product = await w.product({ ...merchant, key: merchant.sandboxKey }, { price: { asset: 'USDC', amount: '0.01' }, usage_units: 3 });
  });
  const consume = (body: object) =>
    write(w, merchant, 'entitlements/consume', { product_id: product.product_id, resource, ...body }, { key: merchant.sandboxKey });
  const challenge = async (body: object = {}): Promise<string> =>
    (await consume({ customer: { customer_ref: crypto.randomUUID() }, ...body })).headers.get('PAYMENT-REQUIRED')!;
  const sign = (payment_required: unknown, wallet = 'ada') => callTesting(w, merchant, 'POST', 'sign-in', { payment_required, wallet });
  const countRows = async (): Promise<unknown> => {
    const real = "type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\' AND sql NOT LIKE 'CREATE VIRTUAL%'";
    const { results } = await testEnv.DB.prepare(`SELECT name FROM sqlite_master WHERE ${real}`).all<{ name: string }>();
    const counts = results.map(({ name }) => `SELECT '${name}' AS name, count(*) AS n FROM "${name}"`);
    return (await testEnv.DB.batch(counts.map((sql) => testEnv.DB.prepare(sql)))).map((answer) => answer.results[0]);
  };

  it('a test wallet that paid comes back by signing, until nothing is left', async () => {
    const header = await challenge();
    const paid = await callTesting(w, merchant, 'POST', 'pay', { payment_required: header, wallet: 'ada' });
    const settled = await write(
      w,
      merchant,
      'x402/settle',
      { product_id: product.product_id, payment_signature: paid.body.payment_signature, consume_units: 1, resource },
      { key: merchant.sandboxKey },
    );
    expect([settled.status, settled.body.remaining]).toEqual([200, 2]);
    const left: number[] = [];
    for (let i = 0; i < 2; i++) {
      const signed = await sign(await challenge());
      expect([signed.status, signed.body.wallet_address]).toEqual([200, paid.body.payer_wallet]);
      const served = await consume({ sign_in: signed.body.sign_in });
      expect([served.status, served.body.customer]).toEqual([200, { wallet_address: paid.body.payer_wallet }]);
      left.push(served.body.remaining);
    }
    expect(left).toEqual([1, 0]);
    const denied = await consume({ sign_in: (await sign(await challenge())).body.sign_in });
    expect([denied.status, denied.body.meta.sign_in]).toEqual([403, { valid: true, wallet_address: paid.body.payer_wallet }]);
    const eve = await consume({ sign_in: (await sign(await challenge(), 'eve')).body.sign_in });
    expect([eve.status, eve.body.meta.sign_in.valid]).toEqual([403, true]);
  });

  it('the sign-in is one that the server of the public package accepts, from a header or its decoded form', async () => {
    const header = await challenge();
    for (const form of [header, decoded(header)]) {
      const payload = parseSIWxHeader((await sign(form)).body.sign_in);
      expect(await validateSIWxMessage(payload, new URL(ORIGIN))).toEqual({ isValid: true });
      expect(await verifySIWxSignature(payload)).toEqual({ isValid: true, payer: payload.address });
    }
  });

  it('a sign-in stores nothing', async () => {
    const header = await challenge();
    const before = await countRows();
    expect((await sign(header, 'nobody-yet')).status).toBe(200);
    expect(await countRows()).toEqual(before);
  });

  it('a live key is 403, and a challenge that offers no sign-in here is 422', async () => {
    const header = await challenge();
    const live = await callTesting(w, merchant, 'POST', 'sign-in', { payment_required: header, wallet: 'ada' }, merchant.key);
    expect([live.status, live.body.code, live.body.meta.reason]).toEqual([403, 'invalid_authorization', 'sandbox_key_required']);
    const { extensions, ...bare } = decoded(header);
    const { info, supportedChains } = extensions['sign-in-with-x'];
    const withExtension = (extension: unknown) => ({ ...bare, extensions: { 'sign-in-with-x': extension } });
    const unoffered: [unknown, string][] = [
      ['junk', 'invalid_value'],
      [{ ...bare, extensions: {} }, 'sign_in_not_offered'],
      [withExtension(null), 'sign_in_not_offered'],
      [withExtension({ info, supportedChains: [] }), 'sign_in_not_offered'],
      [withExtension({ info, supportedChains: [{ ...supportedChains[0], chainId: 'eip155:8453' }] }), 'sign_in_not_offered'],
      [withExtension({ info: { ...info, nonce: 7 }, supportedChains }), 'sign_in_not_offered'],
    ];
    for (const [required, type] of unoffered) {
      const refused = await sign(required);
      expect([refused.status, refused.body.detail]).toEqual([422, [expect.objectContaining({ loc: ['body', 'payment_required'], type })]]);
    }
    expect((await callTesting(w, merchant, 'POST', 'sign-in', { payment_required: header })).status).toBe(422);
  });
});
