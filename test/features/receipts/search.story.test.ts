import { beforeAll, describe, expect, it } from 'vitest';
import { multiply } from '../../support/fixtures/multiply.ts';
import { archiveAll, fillBooks } from '../../support/fixtures/old-books.ts';
import { type Merchant, World } from '../../support/world.ts';

type Product = { product_id: string; slug: string };

describe('search of receipts', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const find = async ({ key }: { key: string }, q: string, more = '') => {
    const { status, body } = await w.call('GET', `/v1/receipts?q=${encodeURIComponent(q)}${more}`, { key });
    expect([q, status, body.total]).toEqual([q, 200, body.items.length]);
    return body.items.map(({ receipt_id }: { receipt_id: string }) => receipt_id) as string[];
  };
  const sell = async (product: Product): Promise<string> => (await w.purchase(product, await w.chain.wallet())).confirmed.receipt_id;
  const rename = async ({ key }: Merchant, { product_id }: Product, name: string) =>
    expect((await w.call('PATCH', `/v1/products/${product_id}`, { key, body: { name } })).status).toBe(200);
  const note = async ({ key }: Merchant, id: string, body: object) =>
    expect((await w.call('PATCH', `/v1/receipt/${id}/invoice-metadata`, { key, body })).status).toBe(200);

  describe('names and metadata', () => {
    let ada: Merchant;
    let eve: Merchant;
    let receipts: { guide: string; plan: string; noted: string };
    beforeAll(async () => {
      [ada, eve] = [await w.merchant(), await w.merchant()];
      const guide = await w.product(ada, { name: 'Ångström Café guide' });
      const plan = await w.product(ada, { name: 'Pro plan' });
      receipts = { guide: await sell(guide), plan: await sell(plan), noted: await sell(plan) };
      await note(ada, receipts.noted, { invoice_number: 'INV-2026/7', reference: 'Order blue', bill_to: { name: 'Zoë Müller' } });
      await sell(await w.product(eve, { name: 'Pro café' }));
    });

    it.each<[string, ('guide' | 'plan' | 'noted')[]]>([
      ['CAFE', ['guide']],
      ['angstrom café', ['guide']],
      ['guide Ångström', ['guide']],
      ['pro', ['noted', 'plan']],
      ['plan PRO', ['noted', 'plan']],
      ['pro guide', []],
      ['pro blue', ['noted']],
      ['inv-2026/7 plan', ['noted']],
      ['2026-INV', []],
      ['zoe muller order', ['noted']],
      ['zoe guide', []],
      ['"', []],
      ['*', []],
      ['... --- ...', []],
      ['pro AND plan', []],
      ['pro NEAR(plan)', []],
      ['words:pro', []],
      ['^pro', ['noted', 'plan']],
      ['pro*', ['noted', 'plan']],
      ["pro' OR '1'='1", []],
      ['pro"plan', ['noted', 'plan']],
    ])('%s finds %j', async (q, found) => {
      expect(await find(ada, q)).toEqual(found.map((name) => receipts[name]));
    });

    it('a product of another merchant that is named like the search of this one is not read', async () => {
      const owner = (livemode: number) => `m${ada.userId.replaceAll('-', '')}${livemode}`;
      const poison = await w.product(await w.merchant(), { name: `${owner(1)} ${owner(0)} pro owner:${owner(1)}` });
      await sell(poison);
      expect(await find(ada, 'pro')).toEqual([receipts.noted, receipts.plan]);
      const { results } = await w.env.DB.prepare('SELECT count(*) AS n FROM name_words WHERE name_words MATCH ?')
        .bind(`owner:${owner(1)} AND words:"pro"`)
        .all<{ n: number }>();
      expect(results).toEqual([{ n: 1 }]);
    });

    it('a search of 200 characters answers, and one of 1,000 is refused', async () => {
      for (const term of ['x'.repeat(200), 'x '.repeat(100), '" '.repeat(100), '('.repeat(200)]) expect(await find(ada, term)).toEqual([]);
      expect((await w.call('GET', `/v1/receipts?q=${'x'.repeat(1000)}`, { key: ada.key })).status).toBe(422);
    });

    it('a search finds only receipts of its merchant and mode', async () => {
      expect(await find(eve, 'guide')).toEqual([]);
      expect(await find(eve, 'pro')).toHaveLength(1);
      expect(await find({ key: ada.sandboxKey }, 'pro')).toEqual([]);
    });

    it('a search goes together with wallet and product', async () => {
      const { product_id } = await w.product(ada, { name: 'Unsold plan' });
      expect(await find(ada, 'pro', `&product_id=${product_id}`)).toEqual([]);
      expect(await find(ada, 'pro', `&wallet=${(await w.chain.wallet()).address}`)).toEqual([]);
    });

    it('changed metadata is found by its new terms alone', async () => {
      await note(ada, receipts.plan, { reference: 'first' });
      await note(ada, receipts.plan, { reference: 'second' });
      expect([await find(ada, 'first'), await find(ada, 'second plan')]).toEqual([[], [receipts.plan]]);
      expect(await find(ada, 'pro')).toEqual([receipts.noted, receipts.plan]);
    });
  });

  it('a receipt of a renamed product is found by the name at its sale, and by no other', async () => {
    const ada = await w.merchant();
    const product = await w.product(ada, { name: 'Silver pass' });
    const silver = await sell(product);
    const open = await w.connect(product);
    await rename(ada, product, 'Gold pass');
    const gold = await sell(product);
    const late = (await w.confirm(open.payment_id, await w.chain.pay(await w.chain.wallet(), open))).body.payment.receipt_id;
    await rename(ada, product, 'Silver pass');
    const again = await sell(product);
    expect(await find(ada, 'gold')).toEqual([gold]);
    // Newest payment first. The open session is older than the sale before it.
    expect(await find(ada, 'silver')).toEqual([again, late, silver]);
    expect(await find(ada, 'pass')).toEqual([again, gold, late, silver]);
    const names = await w.env.DB.prepare('SELECT count(*) AS n FROM receipt_names WHERE merchant_id = ?').bind(ada.userId).first('n');
    expect(names).toBe(2);
  });

  it('a sale two months after the last one of its name is found', async () => {
    const ada = await w.merchant();
    const product = await w.product(ada, { name: 'Rare map' });
    const first = await sell(product);
    const ago = 'UPDATE receipt_names SET since = since - 5184000000, until = until - 5184000000 WHERE merchant_id = ?';
    await w.env.DB.batch([
      w.env.DB.prepare(ago).bind(ada.userId),
      w.env.DB.prepare('UPDATE payments SET created_at = created_at - 5184000000 WHERE merchant_id = ?').bind(ada.userId),
    ]);
    expect(await find(ada, 'rare')).toEqual([first]);
    const second = await sell(product);
    expect(await find(ada, 'rare')).toEqual([second, first]);
  });

  it('more names with one word than are read one by one are found, page by page', async () => {
    const ada = await w.merchant();
    const { payment, confirmed } = await w.purchase(await w.product(ada, { name: 'Course 0' }), await w.chain.wallet());
    const COPIES = 70;
    await multiply(w.env.DB, 'payments', 'id', payment.payment_id, COPIES, {
      id: "printf('01900000-0000-7000-8000-%012d', i)",
      nonce: "'copy-' || i",
      reference: "'copy-' || i",
      receipt_id: "printf('01900000-0000-7000-9000-%012d', i)",
      product_id: "printf('01900000-0000-7000-a000-%012d', i)",
      created_at: 'payments.created_at - i',
    });
    await multiply(w.env.DB, 'receipts', 'id', confirmed.receipt_id, COPIES, {
      id: "printf('01900000-0000-7000-9000-%012d', i)",
      payment_id: "printf('01900000-0000-7000-8000-%012d', i)",
      product_id: "printf('01900000-0000-7000-a000-%012d', i)",
      tx_signature: "'copy-' || i",
      product_name: "'Course ' || i",
      seq: 'receipts.seq + i',
    });
    await note(ada, confirmed.receipt_id, { reference: 'special' });
    const found: string[] = [];
    for (let page = 1; page <= 4; page++) {
      const { body } = await w.call('GET', `/v1/receipts?q=course&per_page=20&page=${page}`, { key: ada.key });
      expect(body.total).toBe(COPIES + 1);
      found.push(...body.items.map(({ receipt_id }: { receipt_id: string }) => receipt_id));
    }
    expect(found).toEqual([
      confirmed.receipt_id,
      ...Array.from({ length: COPIES }, (_, i) => `01900000-0000-7000-9000-${`${i + 1}`.padStart(12, '0')}`),
    ]);
    expect(await find(ada, 'course special')).toEqual([confirmed.receipt_id]);
  });

  it('archived receipts are found by name, and by name and metadata together', async () => {
    const { merchant, sales } = await fillBooks(w, 4);
    const [oldest] = sales.map(({ receiptId }) => receiptId) as [string];
    await note(merchant, oldest, { reference: 'blue' });
    const answers = () => Promise.all(['weather', 'weather blue', 'blue green'].map((q) => find(merchant, q)));
    const before = await answers();
    expect(before.map(({ length }) => length)).toEqual([4, 1, 0]);
    await archiveAll(w);
    expect(
      await w.env.DB.prepare('SELECT count(*) AS n FROM archived_receipts WHERE merchant_id = ?').bind(merchant.userId).first('n'),
    ).toBe(3);
    expect(await answers()).toEqual(before);
  });
});
