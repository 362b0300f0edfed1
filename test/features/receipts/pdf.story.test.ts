import Papa from 'papaparse';
import { beforeAll, describe, expect, it } from 'vitest';
import { fetchBytes } from '../../support/fixtures/bytes.ts';
import { type Merchant, World } from '../../support/world.ts';

const SECRET = { invoice_number: 'INV-SECRET-77', reference: 'PO-SECRET-9', notes: 'only-for-us', bill_to: { name: 'Kwame Geheim GmbH' } };
const SECRETS = /INV-SECRET-77|PO-SECRET-9|only-for-us|Geheim/;

describe('PDF receipts and invoice metadata', () => {
  const w = new World();
  let ada: Merchant;
  let product: { product_id: string; slug: string };
  let receiptId: string;

  const raw = (path: string, key?: string) => w.call('GET', path, { ...(key ? { key } : {}) });
  const patch = (body: unknown, id = receiptId, key = ada.key) => w.call('PATCH', `/v1/receipt/${id}/invoice-metadata`, { key, body });
  const csv = async (query = '') => {
    const { body, headers } = await w.call<string>('GET', `/v1/receipts/export.csv${query}`, { key: ada.key });
    return { rows: Papa.parse<Record<string, string>>(body.trimEnd(), { header: true }).data, headers, text: body };
  };

  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product(ada, { name: '=HYPERLINK("x") Wetter 東京', access_period_days: 30 });
    const sale = await w.purchase(product, await w.chain.wallet(), { email: 'buyer@example.com' });
    receiptId = sale.confirmed.receipt_id;
  });

  it('the public PDF has the same bytes every time and its own file name', async () => {
    const [one, two] = await Promise.all([fetchBytes(w, `/v1/receipt/${receiptId}/pdf`), fetchBytes(w, `/v1/receipt/${receiptId}/pdf`)]);
    expect(new TextDecoder().decode(one.bytes.slice(0, 5))).toBe('%PDF-');
    expect(one.bytes).toEqual(two.bytes);
    expect(one.headers.get('content-type')).toBe('application/pdf');
    expect(one.headers.get('content-disposition')).toBe(`inline; filename="receipt-${receiptId}.pdf"`);
  });

  it('invoice metadata is visible to the merchant alone', async () => {
    const before = await fetchBytes(w, `/v1/receipt/${receiptId}/pdf`);
    const { body } = await patch(SECRET);
    expect(body.updated_fields.sort()).toEqual(['bill_to.name', 'invoice_number', 'notes', 'reference']);
    expect((await fetchBytes(w, `/v1/receipt/${receiptId}/pdf`)).bytes).toEqual(before.bytes);
    for (const path of [`/v1/receipt/${receiptId}/public`, `/v1/receipt/${receiptId}/verify`, `/r/${receiptId}`])
      expect(JSON.stringify((await raw(path)).body)).not.toMatch(SECRETS);
    expect((await raw(`/v1/receipt/${receiptId}`, ada.key)).body.invoice_metadata).toEqual(SECRET);
    const copy = await fetchBytes(w, `/v1/receipt/${receiptId}/pdf/private`, ada.key);
    expect(copy.status).toBe(200);
    expect(copy.bytes.length).not.toBe(before.bytes.length);
    const bob = await w.merchant();
    for (const key of [bob.key, ada.sandboxKey]) {
      expect((await raw(`/v1/receipt/${receiptId}/pdf/private`, key)).status).toBe(404);
      expect((await patch({ notes: 'mine' }, receiptId, key)).status).toBe(404);
    }
    expect((await raw(`/v1/receipt/${receiptId}/pdf/private`)).status).toBe(401);
  });

  it('the PDF changes while the chain does not know the payment', async () => {
    const readPdf = async () => (await fetchBytes(w, `/v1/receipt/${receiptId}/pdf`)).bytes;
    const drop = (at: number | null) =>
      w.env.DB.prepare('UPDATE tx_claims SET dropped_at = ? WHERE subject_id = (SELECT payment_id FROM receipts WHERE id = ?)')
        .bind(at, receiptId)
        .run();
    const before = await readPdf();
    await drop(Date.now());
    expect((await readPdf()).length).toBeGreaterThan(before.length);
    await drop(null);
    expect(await readPdf()).toEqual(before);
  });

  it('invoice metadata is merged by field, cleared with null, and validated', async () => {
    expect(
      (await patch({ bill_to: { tax_id: 'DE1' }, notes: null, tax: { label: 'VAT', amount: '1.90' } })).body.updated_fields.sort(),
    ).toEqual(['bill_to.tax_id', 'notes', 'tax.amount', 'tax.label']);
    expect((await patch({ tax: { label: null, amount: null } })).body.updated_fields).toEqual(['tax.label', 'tax.amount']);
    expect((await patch({ invoice_number: SECRET.invoice_number })).body.updated_fields).toEqual([]);
    const { body } = await raw(`/v1/receipt/${receiptId}`, ada.key);
    const { notes: _, ...remaining } = SECRET;
    expect(body.invoice_metadata).toEqual({ ...remaining, bill_to: { name: SECRET.bill_to.name, tax_id: 'DE1' } });
    expect((await patch({ invoice_numbr: 'x' })).body).toMatchObject({ code: 'unknown_field' });
    expect((await patch({ bill_to: { nme: 'x' } })).body).toMatchObject({ code: 'unknown_field' });
    expect((await patch({ tax: { amount: '1,90' } })).status).toBe(422);
    expect((await patch({ issued_on: '2026-02-30' })).status).toBe(422);
    const line = { description: 'd'.repeat(490), quantity: '1', amount: '1' };
    expect((await patch({ lines: Array.from({ length: 50 }, () => line) })).status).toBe(422);
    expect((await patch({ lines: Array.from({ length: 51 }, () => ({ ...line, description: 'd' })) })).status).toBe(422);
  });

  it('concurrent updates of invoice metadata are all stored', async () => {
    const bob = await w.merchant();
    const { confirmed } = await w.purchase(await w.product(bob), await w.chain.wallet());
    // Three updates, as many as a write has tries, so that the last one can lose to each of the others.
    const parts = [{ invoice_number: 'A' }, { reference: 'B' }, { bill_to: { name: 'C' } }];
    const answers = await Promise.all(parts.map((part) => patch(part, confirmed.receipt_id, bob.key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const { body } = await raw(`/v1/receipt/${confirmed.receipt_id}`, bob.key);
    expect(body.invoice_metadata).toEqual(Object.assign({}, ...parts));
  });

  it('receipts are found by invoice number, reference and billed name, by this merchant alone', async () => {
    const found = async (q: string, key = ada.key) =>
      (await raw(`/v1/receipts?q=${encodeURIComponent(q)}`, key)).body.items.map((item: { receipt_id: string }) => item.receipt_id);
    for (const q of ['INV-SECRET-77', 'PO-SECRET-9', 'geheim kwame', 'Wetter']) expect(await found(q), q).toEqual([receiptId]);
    expect(await found('only-for-us')).toEqual([]);
    expect(await found('INV-SECRET-77', (await w.merchant()).key)).toEqual([]);
    await patch({ invoice_number: 'INV-OTHER' });
    expect(await found('INV-SECRET-77')).toEqual([]);
    expect(await found('INV-OTHER')).toEqual([receiptId]);
  });

  it('the CSV export equals the list and escapes spreadsheet formulas', async () => {
    for (let index = 0; index < 3; index++) await w.purchase(product, await w.chain.wallet());
    const { rows, headers, text } = await csv();
    expect(headers.get('x-svc-truncated')).toBeNull();
    expect(headers.get('content-type')).toMatch(/^text\/csv/);
    const { body } = await raw('/v1/receipts?per_page=100', ada.key);
    expect(rows.map((row) => row.receipt_id)).toEqual(body.items.map((item: { receipt_id: string }) => item.receipt_id));
    expect(rows[0]).toMatchObject({
      product_name: '\'=HYPERLINK("x") Wetter 東京',
      amount: '5',
      base_units: '5000000',
      net: '5',
      price_asset: 'USDC',
      price_amount: '5',
      rate: '',
      direction: 'received',
    });
    expect(rows.at(-1)).toMatchObject({
      receipt_id: receiptId,
      invoice_number: 'INV-OTHER',
      bill_to_name: SECRET.bill_to.name,
      status: 'confirmed',
      email: 'buyer@example.com',
      refunded: '',
    });
    const { block_time: paidAt, period_from: from, period_to: to } = rows.at(-1)!;
    expect([from, Date.parse(to!) - Date.parse(from!)]).toEqual([paidAt, 30 * 86_400_000]);
    expect(text.endsWith('\r\n')).toBe(true);
    expect((await csv('?q=INV-OTHER')).rows).toHaveLength(1);
    expect((await csv('?direction=paid')).rows).toHaveLength(0);
    expect((await csv('?direction=all')).rows).toHaveLength(4);
  });

  it('version 2 of the document has the conversion and the operator', async () => {
    const here = new World({ OPERATOR_NAME: 'Svc GmbH', OPERATOR_URL: 'https://svc.example' });
    const eve = await here.merchant();
    const sold = await here.product(eve, { accepted_assets: ['USDC', 'SOL'] });
    const payment = await here.connect(sold, { asset: 'SOL' });
    const signature = await here.chain.paySol(await here.chain.wallet(0n), payment);
    const { body: confirmed } = await here.confirm(payment.payment_id, signature);
    const { body } = await here.call('GET', `/v1/receipt/${confirmed.receipt_id}/public`);
    expect(body.document).toMatchObject({
      version: '2',
      operator: { name: 'Svc GmbH', url: 'https://svc.example' },
      price_quote: { price: { asset: 'USDC', amount: '5' }, rate: '150' },
    });
    expect((await here.call('GET', `/v1/receipt/${confirmed.receipt_id}/verify`)).body.valid).toBe(true);
    const exported = await here.call<string>('GET', '/v1/receipts/export.csv', { key: eve.key });
    const [row] = Papa.parse<Record<string, string>>(exported.body.trimEnd(), { header: true }).data;
    const { source, as_of: asOf } = body.document.price_quote;
    const quoted = { price_asset: 'USDC', price_amount: '5', rate: '150', rate_source: source, rate_as_of: asOf };
    expect(row).toMatchObject({ asset: 'SOL', ...quoted });
  });
});
