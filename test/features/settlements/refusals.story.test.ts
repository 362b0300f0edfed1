import { generateKeyPairSigner } from '@solana/kit';
import { ExactSvmScheme } from '@x402/svm/exact/client';
import { beforeAll, describe, expect, it } from 'vitest';
import { base64, utf8 } from '#core/encoding.ts';
import type { ProductId } from '#core/ids.ts';
import { settlePayment } from '#features/pay-per-request/settle.ts';
import { newCtx, scopeIn } from '#platform/context.ts';
import { NETWORKS } from '#solana/assets.ts';
import { CAPS, priced } from '../../support/chain/priced.ts';
import { asDuplicate, decoded, newKey, ONE, openShop, type Shop, sellToAgents, stall, write } from '../../support/people/agent.ts';
import { type Merchant, World } from '../../support/world.ts';

const NONE = { settlements: 0, claims: 0, payments: 0, receipts: 0, memberships: 0 };
// biome-ignore lint/suspicious/noExplicitAny: payloads are bent in every way on purpose.
type Any = any;
const encode = (payload: unknown): string => base64.encode(utf8(JSON.stringify(payload)));

describe('payment that differs from its challenge', () => {
  const w = new World();
  let shop: Shop;
  let stranger: string;
  let otherMint: string;
  beforeAll(async () => {
    shop = await openShop(w);
    stranger = (await w.chain.wallet(1n)).address;
    otherMint = (await generateKeyPairSigner()).address;
    await w.chain.call('local_fundToken', otherMint, shop.agent.wallet.address, '1000000', 6);
    await w.chain.call('local_fundToken', otherMint, shop.merchant.wallet.address, '1', 6);
  });
  const asked = async (): Promise<Any> => decoded(await shop.challenge()).accepts[0];
  const pay = async (terms: Any, accepted: Any = terms): Promise<Any> => {
    const made = await new ExactSvmScheme(shop.agent.wallet, { rpcUrl: w.chain.url }).createPaymentPayload(2, terms);
    return { x402Version: 2, accepted, payload: made.payload };
  };
  /** The transaction differs from the challenge, and the echo does not. */
  const deceived = async (change: Any) => {
    const offer = await asked();
    return pay({ ...offer, ...change, extra: { ...offer.extra, ...change.extra } }, offer);
  };
  /** Transaction and echo agree and differ from the challenge. */
  const invented = async (change: Any) => {
    const offer = await asked();
    return pay({ ...offer, ...change, extra: { ...offer.extra, ...change.extra } });
  };
  const echoed = async (change: Any) => {
    const offer = await asked();
    return { ...(await pay(offer)), accepted: { ...offer, ...change, extra: { ...offer.extra, ...change.extra } } };
  };
  const tampered = async (at: number) => {
    const payload = await pay(await asked());
    const wire = base64.decode(payload.payload.transaction);
    wire[at]! ^= 1;
    return { ...payload, payload: { transaction: base64.encode(wire) } };
  };
  const MEMO = 'svc:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
  const NOT_OURS = 'invalid_payment_requirements';
  const exact = (rule: string) => `invalid_exact_svm_${rule}`;

  const cases: [string, () => Promise<unknown>, string][] = [
    ['pays less', () => deceived({ amount: '9999' }), exact('payload_amount_mismatch')],
    ['pays more', () => deceived({ amount: '10001' }), exact('payload_amount_mismatch')],
    ['pays somebody else', () => deceived({ payTo: stranger }), exact('payload_recipient_mismatch')],
    ['pays in another mint', () => deceived({ asset: otherMint }), exact('payload_mint_mismatch')],
    ['carries another memo', () => deceived({ extra: { memo: MEMO } }), exact('payload_memo_mismatch')],
    ['invents a price', () => invented({ amount: '1' }), NOT_OURS],
    ['invents a payee', () => invented({ payTo: stranger }), NOT_OURS],
    ['invents a mint', () => invented({ asset: otherMint }), exact('payload_mint_mismatch')],
    ['invents a memo', () => invented({ extra: { memo: MEMO } }), NOT_OURS],
    ['invents a quantity', () => echoed({ extra: { quantity: 5 } }), NOT_OURS],
    ['names another network', () => echoed({ network: NETWORKS.mainnet.caip2 }), exact('network_mismatch')],
    ['names another scheme', () => echoed({ scheme: 'upto' }), exact('unsupported_scheme')],
    ['names a fee payer that is not ours', () => echoed({ extra: { feePayer: stranger } }), exact('fee_payer_not_managed_by_facilitator')],
    ['has a bad signature', () => tampered(1 + 64 + 5), exact('payload_signature_invalid')],
    [
      'was changed after it was signed',
      async () => tampered(base64.decode((await pay(await asked())).payload.transaction).length - 3),
      exact('payload_signature_invalid'),
    ],
  ];
  it.each(cases)('%s: the payment is refused with the reason and a fresh challenge, and nothing is claimed', async (_, make, reason) => {
    const refused = await shop.settle(encode(await make()));
    expect([refused.status, refused.body.code, refused.body.retryable, refused.body.meta.reason]).toEqual([
      422,
      'payment_mismatch',
      false,
      reason,
    ]);
    const fresh = decoded(refused.headers.get('PAYMENT-REQUIRED')!);
    expect(fresh).toEqual(refused.body.meta.payment_required);
    expect([fresh.error, fresh.accepts[0].amount, fresh.accepts[0].payTo]).toEqual([reason, '10000', shop.merchant.wallet.address]);
    expect(await shop.books()).toEqual(NONE);
  });

  it.each([
    ['units', 400_001, 0n, 'compute_limit'],
    ['the price', 1, 5_000_001n, 'compute_price'],
    ['the priority fee', 400_000, 50_001n, 'compute_price'],
  ])('a payment above the cap of %s is refused, and meta.limits names the caps', async (_, units, microLamports, instruction) => {
    const refused = await shop.settle(await priced(await shop.pay(), shop.agent.wallet, { units, microLamports }));
    expect([refused.status, refused.body.meta.reason]).toEqual([
      422,
      exact(`payload_transaction_instructions_${instruction}_instruction_too_high`),
    ]);
    expect(refused.body.meta.limits).toEqual(CAPS);
    expect(decoded(refused.headers.get('PAYMENT-REQUIRED')!).accepts[0].extra).toMatchObject(CAPS);
    expect(await shop.books()).toEqual(NONE);
  });

  it('a refusal that no cap causes names no caps', async () => {
    const refused = await shop.settle(encode(await echoed({ extra: { maxPriorityFeeLamports: 20_001 } })));
    expect([refused.body.meta.reason, refused.body.meta.limits]).toEqual([NOT_OURS, undefined]);
  });

  it.each(['', '%%%', 'e30=', encode({ x402Version: 1 }), encode({ x402Version: 2, accepted: null, payload: {} })])(
    'a body that is no payment (%j) gets 422, never 500',
    async (payment) => {
      const refused = await shop.settle(payment);
      expect([refused.status, ['payment_mismatch', 'validation_error']]).toEqual([422, expect.arrayContaining([refused.body.code])]);
      expect(await shop.books()).toEqual(NONE);
    },
  );

  it('the challenge after a refusal asks for the units of the request', async () => {
    const refused = await shop.settle(encode(await deceived({ amount: '1' })), { consume_units: 3 });
    expect(decoded(refused.headers.get('PAYMENT-REQUIRED')!).accepts[0]).toMatchObject({ amount: '30000', extra: { quantity: 3 } });
  });

  it('a payment after its challenge expired is refused, but a claimed one never expires', async () => {
    const key = newKey();
    const payment = await shop.pay();
    const seller = { merchantId: shop.merchant.userId, livemode: true };
    const later = (now: number) => scopeIn(newCtx(w.env, { requestId: 'req_later_on', defer: () => {}, now }), seller);
    const settleAt = (now: number) =>
      settlePayment(
        later(now),
        { scope: `expiry:${now}`, key, text: '{}' },
        { productId: shop.product.product_id as ProductId, paymentSignature: payment, customer: null, consumeUnits: 1 },
      );
    const soon = Date.now() + 301_000;
    expect(await settleAt(soon)).toMatchObject({ kind: 'refused', reason: 'payment_expired', challenge: { ok: true } });
    expect(await shop.books()).toEqual(NONE);
    expect((await shop.settle(payment)).status).toBe(200);
    expect(await settleAt(soon)).toMatchObject({ kind: 'settled', isDuplicate: true });
  });
});

describe('payment brought to another recipient', () => {
  const w = new World();
  let shop: Shop;
  let other: Merchant;
  beforeAll(async () => {
    shop = await openShop(w);
    other = await w.merchant();
  });
  const newStall = async (merchant = shop.merchant) => stall(w, merchant, await sellToAgents(w, merchant), shop.agent);

  it('an unsettled payment pays no other product, merchant or mode', async () => {
    const [own, twin, foreign] = [await newStall(), await newStall(), await newStall(other)];
    const payment = await own.pay();
    for (const elsewhere of [twin, foreign]) {
      const refused = await elsewhere.settle(payment);
      expect([refused.status, refused.body.meta.reason]).toEqual([422, 'invalid_payment_requirements']);
      expect(await elsewhere.books()).toEqual(NONE);
    }
    expect((await own.settle(payment, {}, { key: shop.merchant.sandboxKey })).body.code).toBe('not_found');
    expect((await own.settle(payment, {}, { key: other.key })).body.code).toBe('not_found');
    const sandbox = (
      await w.call('POST', '/v1/products', {
        key: shop.merchant.sandboxKey,
        body: { name: 'Test', price: { asset: 'USDC', amount: '0.01' } },
      })
    ).body;
    const body = { product_id: sandbox.product_id, payment_signature: payment };
    const tried = await write(w, shop.merchant, 'x402/settle', body, { key: shop.merchant.sandboxKey });
    expect([tried.status, tried.body.code, tried.body.meta.reason]).toEqual([
      422,
      'payment_mismatch',
      'invalid_exact_svm_fee_payer_not_managed_by_facilitator',
    ]);
    expect((await own.settle(payment)).status).toBe(200);
  });

  it('a settled payment is a duplicate for another product, merchant or customer', async () => {
    const [own, twin, foreign] = [await newStall(), await newStall(), await newStall(other)];
    const payment = await own.pay();
    const settled = await own.settle(payment);
    const tries = [
      await twin.settle(payment),
      await foreign.settle(payment),
      await own.settle(payment, { customer: { customer_ref: 'somebody-else' } }),
      await own.settle(payment, { customer: { wallet_address: other.wallet.address } }),
    ];
    for (const { status, body, headers } of tries)
      expect([status, body.code, headers.get('PAYMENT-REQUIRED')]).toEqual([409, 'duplicate_settlement', null]);
    expect([await own.books(), await twin.books(), await foreign.books()]).toEqual([ONE, NONE, NONE]);
    expect((await own.settle(payment, { customer: own.customer })).body).toEqual(asDuplicate(settled.body));
  });

  it('a settled payment confirms no checkout session, and a checkout transaction settles nothing', async () => {
    const own = await newStall();
    const settled = await own.settle(await own.pay());
    const session = await w.connect(own.product, { wallet_address: shop.agent.wallet.address });
    const confirmed = await w.confirm(session.payment_id, settled.body.tx_signature);
    expect([confirmed.status, confirmed.body.code, confirmed.body.meta.reason]).toEqual([422, 'payment_mismatch', 'memo_mismatch']);
    await w.deliver([{ kind: 'findPayment', txSignature: settled.body.tx_signature, attempt: 0 }]);
    expect(await w.eventTypes(session.payment_id)).toEqual(['payment.created']);
    const transaction = await w.chain.sign(shop.agent.wallet, session.transaction);
    const accepted = decoded(await own.challenge()).accepts[0];
    const refused = await own.settle(encode({ x402Version: 2, accepted, payload: { transaction } }));
    expect([refused.status, refused.body.meta.reason]).toEqual([422, 'invalid_exact_svm_fee_payer_mismatch']);
    expect(await own.books()).toEqual({ ...ONE, payments: 2 });
  });

  it('a payment to a missing payout account is refused before the claim although no node could check it', async () => {
    const homeless = (await generateKeyPairSigner()).address;
    const product = await w.product(shop.merchant, {
      price: { asset: 'USDC', amount: '0.01' },
      live_mode_confirmed: true,
      payout_wallet: homeless,
    });
    const own = stall(w, shop.merchant, product, shop.agent);
    // An unavailable node does not refuse a buyer in advance, but the simulation fails.
    await w.chain.fault({ kind: 'http_503', method: 'getMultipleAccounts', times: 1 });
    const payment = await own.pay();
    const refused = await own.settle(payment);
    expect([refused.status, refused.body.meta.reason]).toEqual([422, 'invalid_exact_svm_transaction_simulation_failed']);
    expect(await own.books()).toEqual(NONE);
    await w.chain.call('local_fundUsdc', homeless, '0');
    expect((await own.settle(payment)).status).toBe(200);
  });
});
