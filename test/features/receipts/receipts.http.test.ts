// @module-tag quick
import { ed25519 } from '@noble/curves/ed25519.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '#core/crypto.ts';
import { base58, base64url, canonicalJson, utf8 } from '#core/encoding.ts';
import { unsqueeze } from '#platform/db/tables/squeezed/squeeze.ts';
import { testEnv } from '../../support/runner/env.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('receipts API', () => {
  const w = new World();
  let ada: Merchant;
  let product: { product_id: string; slug: string };
  let receiptId: string;
  let signature: string;

  const claim = (txSig: string, credential = ada.key) => w.call('POST', '/v1/receipt', { key: credential, body: { tx_sig: txSig } });
  const readPublic = (id: string) => w.call('GET', `/v1/receipt/${id}/public`);
  const verify = (id: string) => w.call('GET', `/v1/receipt/${id}/verify`);

  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada);
    const sale = await w.purchase(product, await w.chain.wallet(), { customer_ref: 'customer-1', email: 'buyer@example.com' });
    receiptId = sale.confirmed.receipt_id;
    signature = sale.signature;
  });

  it('a receipt can be verified with the published keys alone', async () => {
    const { body } = await readPublic(receiptId);
    const { body: keySet } = await w.call('GET', '/.well-known/svc-receipt-keys.json');
    const jwk = keySet.keys.find(({ kid }: { kid: string }) => kid === body.key_id);
    const bytes = utf8(canonicalJson(body.document));
    expect(sha256Hex(bytes)).toBe(body.sha256);
    expect(ed25519.verify(base58.decode(body.signature), bytes, base64url.decode(jwk.x), { zip215: false })).toBe(true);
    expect(body.document).toMatchObject({
      version: '2',
      receipt_id: receiptId,
      tx_sig: signature,
      product_id: product.product_id,
      livemode: true,
    });
    expect(keySet.keys).toHaveLength(2);
    expect(JSON.stringify(keySet)).not.toContain('"d"');
  });

  it('the public receipt has no customer, and the owner sees the same signed document', async () => {
    const [open, full] = await Promise.all([readPublic(receiptId), w.call('GET', `/v1/receipt/${receiptId}`, { key: ada.key })]);
    expect(JSON.stringify(open.body)).not.toMatch(/customer-1|buyer@example\.com/);
    expect(full.body.document).toEqual(open.body.document);
    expect([full.body.signature, full.body.verify_url]).toEqual([open.body.signature, `https://svc.test/v1/receipt/${receiptId}/verify`]);
  });

  it('verify is true until a stored byte changes', async () => {
    expect((await verify(receiptId)).body).toMatchObject({ valid: true, sha256_matches: true, signature_valid: true });
    const forge = async (column: 'document' | 'sha256', forged: string) => {
      await testEnv.DB.prepare(`UPDATE receipts SET ${column} = ? WHERE id = ?`).bind(forged, receiptId).run();
      return (await verify(receiptId)).body;
    };
    const before = await testEnv.DB.prepare('SELECT document, sha256 FROM receipts WHERE id = ?')
      .bind(receiptId)
      .first<{ document: number[]; sha256: string }>();
    const document = unsqueeze(Uint8Array.from(before!.document)).replace('"5"', '"6"');
    const forged = await forge('document', document);
    expect(forged).toMatchObject({ valid: false, sha256_matches: false, reason: 'sha256_mismatch' });
    const rehashed = await forge('sha256', sha256Hex(utf8(document)));
    expect(rehashed).toMatchObject({ valid: false, sha256_matches: true, signature_valid: false, reason: 'signature_invalid' });
    await testEnv.DB.prepare('UPDATE receipts SET document = ?, sha256 = ? WHERE id = ?')
      .bind(before!.document, before!.sha256, receiptId)
      .run();
    expect((await verify(receiptId)).body.valid).toBe(true);
  });

  it('POST /v1/receipt returns the same receipt for the same transaction', async () => {
    const answers = await Promise.all(Array.from({ length: 5 }, () => claim(signature)));
    expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(200));
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(answers[0]!.body.receipt_id).toBe(receiptId);
  });

  it('POST /v1/receipt confirms an open payment once, also concurrently', async () => {
    const payment = await w.connect(product);
    const paid = await w.chain.pay(await w.chain.wallet(), payment);
    const answers = await Promise.all([claim(paid), claim(paid, ada.token), w.confirm(payment.payment_id, paid), claim(paid)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(await w.count('receipts', payment.payment_id)).toBe(1);
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('CONFIRMED');
  });

  it('POST /v1/receipt returns the refusals of confirm and stores nothing', async () => {
    const payment = await w.connect(product);
    const short = await w.chain.pay(await w.chain.wallet(), payment, { units: 1n });
    const refused = await claim(short);
    expect([refused.status, refused.body.code, refused.body.meta.reason]).toEqual([422, 'payment_mismatch', 'underpaid']);
    const settled = await w.connect(product);
    await w.confirm(settled.payment_id, await w.chain.pay(await w.chain.wallet(), settled));
    const second = await claim(await w.chain.pay(await w.chain.wallet(), settled));
    // The session is confirmed by another transaction, so this one has no receipt.
    expect([second.status, second.body.code]).toEqual([404, 'not_found']);
    expect(await w.count('receipts', payment.payment_id)).toBe(0);
  });

  it('POST /v1/receipt refuses transactions that are not the merchant’s sales', async () => {
    const buyer = await w.chain.wallet();
    const stranger = await w.merchant();
    const tip = await w.chain.tip(buyer, ada.wallet.address, 'thank you');
    const elsewhere = await w.chain.tip(buyer, ada.wallet.address, 'svc:1111111111111111');
    const nowhere = base58.encode(crypto.getRandomValues(new Uint8Array(64)));
    const payment = await w.connect(product);
    const open = await w.chain.pay(buyer, payment);
    for (const [txSig, credential] of [
      [tip, ada.key],
      [elsewhere, ada.key],
      [nowhere, ada.key],
      [signature, stranger.key],
      [signature, ada.sandboxKey],
      [open, stranger.key],
    ] as const) {
      const { status, body } = await claim(txSig, credential);
      expect([status, body.code]).toEqual([404, 'not_found']);
    }
    expect((await w.call('GET', `/v1/payments/${payment.payment_id}`)).body.status).toBe('PENDING_SIGNATURE');
  });

  it.each([
    '',
    'not base58 0OIl',
    '1'.repeat(63),
    base58.encode(new Uint8Array(63).fill(7)),
    base58.encode(new Uint8Array(65).fill(7)),
    'x'.repeat(60_000),
  ])('%.20s is refused as a transaction signature', async (txSig) => {
    const { status, body } = await claim(txSig);
    expect([status, body.detail[0].loc, body.detail[0].type]).toEqual([422, ['body', 'tx_sig'], 'invalid_signature']);
  });

  it('an unknown receipt is 404 on every route', async () => {
    const nowhere = '01900000-0000-7000-8000-000000000000';
    const answers = await Promise.all([readPublic(nowhere), verify(nowhere), w.call('GET', `/v1/receipt/${nowhere}`, { key: ada.key })]);
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([404, 'not_found']));
  });
});
