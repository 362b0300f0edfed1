import {
  decodeSignedOffers,
  extractOffersFromPaymentRequired,
  extractReceiptPayload,
  findAcceptsObjectFromSignedOffer,
  type SignedReceipt,
  verifyOfferSignatureJWS,
  verifyReceiptMatchesOffer,
  verifyReceiptSignatureJWS,
} from '@x402/extensions';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { unixSeconds } from '#core/time.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { buy, newSpender, openTreasury } from '../../support/people/activation.ts';
import { decoded, newKey, openShop, type Shop } from '../../support/people/agent.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

const OFFER_RECEIPT = 'offer-receipt';
const receiptIn = (paymentResponse: string): SignedReceipt => decoded(paymentResponse).extensions[OFFER_RECEIPT].info.receipt;

describe('signed offers and receipts', () => {
  const w = new World();
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w, { usage_units: 3 });
  });
  /** Lets the public package resolve the DID of this service. */
  const resolving = () => {
    const asked: string[] = [];
    const fetchDid = async (input: RequestInfo | URL) => {
      const url = new URL(String(input));
      asked.push(url.href);
      return Response.json((await w.call('GET', '/.well-known/did.json')).body);
    };
    vi.stubGlobal('fetch', fetchDid);
    return asked;
  };
  afterEach(() => {
    vi.unstubAllGlobals();
    letTimeRun();
  });

  /** Environment after a rotation of the receipts' keys. */
  const withNewKey = () => ({
    ...w.env,
    RECEIPT_KEYS: `${base64url.encode(new Uint8Array(32).fill(99))},${w.env.RECEIPT_KEYS as string}`,
  });
  const resource = { url: 'https://shop.example/report?day=1', description: 'A report' };
  /** Asks for a customer without units. */
  const challenge = (body: object) => shop.challenge({ customer: { customer_ref: crypto.randomUUID() }, ...body });
  const buyOne = async (body: object = {}) => {
    const required = decoded(await challenge({ resource }));
    return { required, settled: await shop.settle(await shop.agent.payFor(required), { resource, ...body }) };
  };

  it('the public package verifies an offer by the DID alone, and the offer names the terms of the challenge', async () => {
    const required = decoded(await challenge({ resource }));
    const [offer] = extractOffersFromPaymentRequired(required);
    const asked = resolving();
    const payload = await verifyOfferSignatureJWS(offer as never);
    expect(asked).toEqual(['https://svc.test/.well-known/did.json']);
    const [{ scheme, network, asset, payTo, amount }] = required.accepts;
    expect(payload).toMatchObject({ version: 1, resourceUrl: resource.url, scheme, network, asset, payTo, amount });
    expect(findAcceptsObjectFromSignedOffer(offer!, required.accepts)).toEqual(required.accepts[0]);
    const ahead = payload.validUntil! - unixSeconds(Date.now());
    expect(ahead).toBeGreaterThan(239);
    expect(ahead).toBeLessThanOrEqual(300);
  });

  it('the receipt of a payment verifies by the DID alone and matches the offer', async () => {
    const { required, settled } = await buyOne();
    expect(settled.status).toBe(200);
    const receipt = receiptIn(settled.body.payment_response);
    resolving();
    const payload = await verifyReceiptSignatureJWS(receipt as never);
    const { tx_signature: transaction, payer, network } = settled.body;
    expect(payload).toMatchObject({ version: 1, resourceUrl: resource.url, payer, network, transaction });
    const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(required));
    expect(verifyReceiptMatchesOffer(receipt, offer!, [payer])).toBe(true);
    expect(verifyReceiptMatchesOffer(receipt, { ...offer!, resourceUrl: 'https://other.example/' }, [payer])).toBe(false);
  });

  it.each(['header', 'payload', 'signature'] as const)('an offer with a changed byte in its %s fails', async (part) => {
    const [offer] = extractOffersFromPaymentRequired(decoded(await challenge({ resource })));
    const parts = offer!.signature.split('.');
    const at = ['header', 'payload', 'signature'].indexOf(part);
    const bytes = base64url.decode(parts[at]!);
    bytes[bytes.length - 10]! ^= 1;
    parts[at] = base64url.encode(bytes);
    resolving();
    await expect(verifyOfferSignatureJWS({ ...offer!, signature: parts.join('.') } as never)).rejects.toThrow();
  });

  it('a replay has the same receipt to the last byte, and an answer to another request has none', async () => {
    const required = decoded(await challenge({ resource }));
    const payment = await shop.agent.payFor(required);
    const idempotencyKey = newKey();
    const first = await shop.settle(payment, { resource }, { idempotencyKey });
    setTime(Date.now() + 60_000);
    const replay = await shop.settle(payment, { resource }, { idempotencyKey, env: withNewKey() });
    expect(replay.body).toEqual(first.body);
    const duplicate = await shop.settle(payment, { resource });
    expect(duplicate.body.duplicate).toBe(true);
    expect(decoded(duplicate.body.payment_response)).not.toHaveProperty('extensions');
    expect(decoded(duplicate.body.payment_response)).toMatchObject({ success: true, transaction: first.body.tx_signature });
  });

  it.each([1, 2, 3])('the receipt is of the time of the confirmation, although the answer of batch %i was lost', async (number) => {
    const required = decoded(await challenge({ resource }));
    const payment = await shop.agent.payFor(required);
    const idempotencyKey = newKey();
    let batches = 0;
    const { env } = withFaults(w.env, { after: ({ kind }) => kind === 'batch' && ++batches === number });
    await shop.settle(payment, { resource }, { idempotencyKey, env });
    expect(batches).toBeGreaterThanOrEqual(number);
    setTime(Date.now() + 60_000);
    const settled = await shop.settle(payment, { resource }, { idempotencyKey });
    expect(settled.status).toBe(200);
    const { issuedAt } = extractReceiptPayload(receiptIn(settled.body.payment_response));
    const read = await w.call('GET', `/v1/payments/${settled.body.payment_id}`, { key: shop.merchant.key });
    expect(issuedAt).toBe(unixSeconds(Date.parse(read.body.confirmed_at)));
  });

  it('the receipt of a settle without a resource names the page of the product', async () => {
    const { settled } = await buyOne({ resource: undefined });
    expect(extractReceiptPayload(receiptIn(settled.body.payment_response)).resourceUrl).toBe(`https://svc.test/p/${shop.product.slug}`);
  });

  it('a service without BASE_URL signs nothing, so that no Host of a request is named as the signer', async () => {
    const env = { ...w.env, BASE_URL: '' };
    const { headers } = await shop.consume({ resource, customer: { customer_ref: crypto.randomUUID() } }, { env });
    const header = headers.get('PAYMENT-REQUIRED')!;
    expect(Object.keys(decoded(header).extensions)).toEqual(['payment-identifier']);
    const settled = await shop.settle(await shop.agent.pay(header), { resource }, { env });
    expect([settled.status, decoded(settled.body.payment_response).extensions]).toEqual([200, undefined]);
  });

  it('a plan has an offer, and its receipt is the same in each answer', async () => {
    await openTreasury(w);
    const { key } = await w.merchant('free');
    const agent = await newSpender(w);
    const required = decoded((await buy(w, 'starter', { key })).headers.get('PAYMENT-REQUIRED')!);
    const payment = await agent.payFor(required);
    const first = await buy(w, 'starter', { key }, payment);
    setTime(Date.now() + 60_000);
    const again = await buy(w, 'starter', { key }, payment, { env: withNewKey() });
    expect(first.headers.get('PAYMENT-RESPONSE')).toBe(again.headers.get('PAYMENT-RESPONSE'));
    const receipt = receiptIn(first.headers.get('PAYMENT-RESPONSE')!);
    const [offer] = decodeSignedOffers(extractOffersFromPaymentRequired(required));
    resolving();
    await verifyReceiptSignatureJWS(receipt as never);
    expect(verifyReceiptMatchesOffer(receipt, offer!, [agent.wallet.address])).toBe(true);
  });

  it('the DID document lists retired keys, which still verify', async () => {
    const [offer] = extractOffersFromPaymentRequired(decoded(await challenge({ resource })));
    const rotated = withNewKey();
    const { body } = await w.call('GET', '/.well-known/did.json', { env: rotated });
    expect(body.verificationMethod.length).toBe((w.env.RECEIPT_KEYS as string).split(',').length + 1);
    expect(body.assertionMethod).toEqual(body.verificationMethod.map(({ id }: { id: string }) => id));
    vi.stubGlobal('fetch', async () => Response.json(body));
    await expect(verifyOfferSignatureJWS(offer as never)).resolves.toMatchObject({ resourceUrl: resource.url });
  });

  it('a challenge stays within 6,600 characters and leaves out its offers first', async () => {
    const long = (length: number) => ({
      url: `https://shop.example/${'x'.repeat(length)}`,
      description: '€'.repeat(500),
      mime_type: 'a'.repeat(100),
    });
    const [short, longest] = [await challenge({ resource: long(1) }), await challenge({ resource: long(2000) })];
    expect(Object.keys(decoded(short).extensions)).toEqual(['payment-identifier', OFFER_RECEIPT]);
    expect(Object.keys(decoded(longest).extensions)).toEqual(['payment-identifier']);
    for (const header of [short, longest]) expect(header.length).toBeLessThanOrEqual(6_600);
    expect(JSON.parse(JSON.stringify(decoded(await challenge({ resource: long(2000) })).extensions))).toEqual(decoded(longest).extensions);
    expect((await shop.agent.pay(longest)).length).toBeLessThanOrEqual(8_192);
  });
});
