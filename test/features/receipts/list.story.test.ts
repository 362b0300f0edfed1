import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { canonicalJson } from '#core/encoding.ts';
import { activate, newSpender, openTreasury } from '../../support/people/activation.ts';
import { type Merchant, World } from '../../support/world.ts';

interface Receipt {
  receipt_id: string;
  tx_sig: string;
  sha256: string;
  link?: { seq: number; prev_hash: string };
}
type Wallet = Awaited<ReturnType<World['chain']['wallet']>>;

const lister =
  (w: World, key: string) =>
  async (query: Record<string, string | number> | string = '') => {
    const text = typeof query === 'string' ? query : `?${new URLSearchParams(Object.entries(query).map(([k, v]) => [k, String(v)]))}`;
    const { status, body } = await w.call('GET', `/v1/receipts${text}`, { key });
    return { status, body, ids: (body.items ?? []).map(({ receipt_id }: Receipt) => receipt_id) as string[] };
  };

describe('GET /v1/receipts', () => {
  const w = new World();
  let ada: Merchant;
  let list: ReturnType<typeof lister>;
  const buyers: Wallet[] = [];
  const products: { product_id: string; slug: string }[] = [];
  const sold: Receipt[] = [];

  const NAMES = ['Weather API 100%', 'weather_report ☀️🌦️', 'Climate "data" \\ archive', 'x'.repeat(160)];

  beforeAll(async () => {
    ada = await w.merchant();
    list = lister(w, ada.key);
    for (let i = 0; i < 2; i++) buyers.push(await w.chain.wallet());
    for (const [i, name] of NAMES.entries()) {
      products.push(await w.product(ada, { name }));
      const { confirmed } = await w.purchase(products[i]!, buyers[i % 2]!, { email: 'buyer@example.com', customer_ref: `ref-${i}` });
      sold.push((await w.call('GET', `/v1/receipt/${confirmed.receipt_id}`, { key: ada.key })).body);
    }
  });

  const ids = (...indices: number[]) => indices.map((i) => sold[i]!.receipt_id);

  it('the list is newest first and paged, and each item equals the single receipt', async () => {
    const all = await list();
    expect([all.status, all.ids]).toEqual([200, ids(3, 2, 1, 0)]);
    expect(all.body.items).toEqual([...sold].reverse());
    expect(all.body).toMatchObject({ page: 1, per_page: 20, total: 4, total_pages: 1, has_more: false });
    const pages = await Promise.all([1, 2, 3].map((page) => list({ page, per_page: 3 })));
    expect(pages.map(({ ids, body }) => [ids, body.total, body.total_pages, body.has_more])).toEqual([
      [ids(3, 2, 1), 4, 2, true],
      [ids(0), 4, 2, false],
      [[], 4, 2, false],
    ]);
    for (const query of ['?per_page=101', '?page=0', '?product_id=5', `?wallet=${'x'.repeat(65)}`, `?q=${'x'.repeat(201)}`])
      expect([query, (await list(query)).status]).toEqual([query, 422]);
  });

  it('wallet and product filter the list, alone and combined', async () => {
    const [even, odd] = buyers.map(({ address }) => address as string);
    expect((await list({ wallet: even! })).ids).toEqual(ids(2, 0));
    expect((await list({ wallet: odd! })).ids).toEqual(ids(3, 1));
    expect((await list({ product_id: products[2]!.product_id })).ids).toEqual(ids(2));
    expect((await list({ product_id: products[2]!.product_id, wallet: even!, q: 'climate' })).ids).toEqual(ids(2));
    const second = await list({ wallet: even!, per_page: 1, page: 2 });
    expect([second.ids, second.body.total]).toEqual([ids(0), 2]);
    for (const query of [
      `?product_id=${products[2]!.product_id}&wallet=${odd}`,
      `?wallet=${even!.slice(1)}`,
      '?wallet=%25',
      '?product_id=01900000-0000-7000-8000-000000000000',
    ]) {
      const { status, body } = await list(query);
      expect([status, body.items, body.total]).toEqual([200, [], 0]);
    }
  });

  it('a period is that of the payment, with its beginning and without its end, alone and with every other filter', async () => {
    const { body } = await w.call('GET', `/v1/payments?product_id=${products[2]!.product_id}`, { key: ada.key });
    const at = body.items[0].created_at as string;
    const others = { wallet: buyers[0]!.address as string, q: 'buyer@example.com', direction: 'all' };
    expect((await list({ created_from: at })).ids).toEqual(ids(3, 2));
    expect((await list({ created_to: at })).ids).toEqual(ids(1, 0));
    expect((await list({ created_from: at, created_to: at })).ids).toEqual([]);
    expect((await list({ created_from: '2020-01-01', created_to: '2099-01-01', per_page: 3 })).ids).toEqual(ids(3, 2, 1));
    expect((await list({ created_to: at, q: 'weather' })).ids).toEqual(ids(1, 0));
    expect((await list({ created_from: at, q: 'weather' })).ids).toEqual([]);
    expect((await list({ created_from: at, ...others })).ids).toEqual(ids(2));
    // A receipt is issued after its payment was created.
    const [{ created_at: issued }] = (await list({ per_page: 1 })).body.items;
    const searches: Record<string, string>[] = [{}, { q: 'weather' }, { q: 'buyer@example.com' }];
    for (const q of searches) expect((await list({ created_from: issued, ...q })).ids).toEqual([]);
    const reversed = `created_from=${issued}&created_to=${at}`;
    expect((await list(`?${reversed}`)).status).toBe(422);
    expect((await w.call('GET', `/v1/receipts/export.csv?${reversed}`, { key: ada.key })).status).toBe(422);
    expect((await list({ created_to: at, product_id: products[2]!.product_id })).body).toMatchObject({ items: [], total: 0 });
    expect((await list({ created_from: 'November' })).status).toBe(422);
    const file = await w.call<string>('GET', `/v1/receipts/export.csv?created_from=${at}`, { key: ada.key });
    expect(ids(0, 1, 2, 3).map((id) => file.body.includes(id))).toEqual([false, false, true, true]);
  });

  it.each([
    ['a word, whatever the case', 'WEATHER', [1, 0]],
    ['two words of a name', 'wEaThEr ApI', [0]],
    ['two words of a name in another order', 'api weather', [0]],
    ['words that no one name has', 'weather climate', []],
    ['a part of a word', 'weath', []],
    ['a sign that is no word', '%', []],
    ['a pattern, which is none', 'weath*', []],
    ['words joined by a sign, which follow each other', 'weather_report', [1]],
    ['words joined by a sign, which do not', 'report_weather', []],
    ['a word in quotes', '"data"', [2]],
    ['an open quote', '"', []],
    ['the language of the index', 'weather OR climate', []],
    ['a column of the index', 'words:weather', []],
    ['everything but a word', 'NOT weather', []],
    ['another merchant’s term', `m${'0'.repeat(33)}`, []],
    ['SQL', "' OR '1'='1", []],
    ['a word and a NUL', 'weather\0api', [0]],
    ['160 characters', 'x'.repeat(160), [3]],
    ['one more than there are', 'x'.repeat(161), []],
    ['200 bytes', 'x'.repeat(200), []],
    ['200 characters of several bytes', '☀'.repeat(200), []],
    ['nothing at all', '', [3, 2, 1, 0]],
    ['a customer’s e-mail', 'buyer@example.com', [3, 2, 1, 0]],
    ['a customer’s reference, which is not searched', 'ref-0', []],
  ])('the search handles %s', async (_what, q, found) => {
    const answer = await list({ q });
    expect([answer.status, answer.ids, answer.body.total]).toEqual([200, ids(...found), found.length]);
  });

  it('the search ignores case beyond ASCII', async () => {
    const eve = await w.merchant();
    const { confirmed } = await w.purchase(await w.product(eve, { name: 'Wetter für Übersee' }), buyers[0]!);
    for (const q of ['für Übersee', 'FÜR', 'übersee'])
      expect([q, (await lister(w, eve.key)({ q })).ids]).toEqual([q, [confirmed.receipt_id]]);
  });

  it('the search finds a transaction or receipt id by its beginning or in full', async () => {
    for (const { receipt_id, tx_sig } of sold)
      for (const q of [receipt_id, receipt_id.toUpperCase(), receipt_id.slice(0, 24), tx_sig, tx_sig.slice(0, 12)])
        expect([q, (await list({ q })).ids]).toEqual([q, [receipt_id]]);
    const [{ receipt_id, tx_sig }] = sold as [Receipt];
    for (const length of [4, 8, 12]) expect((await list({ q: receipt_id.slice(0, length) })).ids).toContain(receipt_id);
    for (const q of [receipt_id.slice(9), tx_sig.slice(1), tx_sig.toLowerCase(), tx_sig.slice(0, 3), receipt_id.slice(0, 3)])
      expect([q, (await list({ q })).ids]).toEqual([q, []]);
  });

  it('the search matches nothing across two indexed fields', async () => {
    const { receipt_id, tx_sig } = sold[0]!;
    for (const q of [`${tx_sig.slice(-4)} ${receipt_id.slice(0, 4)}`, `${receipt_id.slice(-4)} ${NAMES[0]!.slice(0, 4)}`])
      expect([q, (await list({ q })).ids]).toEqual([q, []]);
  });

  it('the list shows only the owner’s receipts in the mode of the sale', async () => {
    const stranger = await w.merchant();
    for (const key of [stranger.key, stranger.token, ada.sandboxKey])
      for (const query of ['', `?q=${sold[0]!.receipt_id}`, `?wallet=${buyers[0]!.address}`, `?product_id=${products[0]!.product_id}`])
        expect((await lister(w, key)(query)).body).toMatchObject({ items: [], total: 0 });
    expect((await w.call('GET', '/v1/receipts')).status).toBe(401);
    for (const key of [stranger.key, ada.sandboxKey])
      expect((await w.call('GET', `/v1/receipt/${sold[0]!.receipt_id}`, { key })).status).toBe(404);
    expect((await lister(w, ada.token)('?mode=sandbox')).ids).toEqual([]);
    expect((await lister(w, ada.token)('?mode=live')).ids).toEqual(ids(3, 2, 1, 0));
  });

  it('verify reports transaction_orphaned for a dropped transaction with a valid signature', async () => {
    const { payment, confirmed } = await w.purchase(products[0]!, buyers[0]!);
    const verify = async () => (await w.call('GET', `/v1/receipt/${confirmed.receipt_id}/verify`)).body;
    expect(await verify()).toMatchObject({ valid: true });
    await w.env.DB.prepare('UPDATE tx_claims SET dropped_at = ? WHERE subject_id = ?').bind(Date.now(), payment.payment_id).run();
    const verified = await verify();
    expect(verified).toMatchObject({ valid: false, reason: 'transaction_orphaned', sha256_matches: true, signature_valid: true });
    expect((await w.call('GET', `/v1/receipt/${sold[0]!.receipt_id}/verify`)).body.valid).toBe(true);
  });
});

describe('receipt chain', () => {
  const w = new World();
  let buyer: Wallet;
  beforeAll(async () => {
    buyer = await w.chain.wallet();
    await openTreasury(w);
  });

  const sell = async (product: { slug: string }, times: number): Promise<string[]> => {
    const sold: string[] = [];
    for (let i = 0; i < times; i++) sold.push((await w.purchase(product, buyer)).confirmed.receipt_id);
    return sold;
  };
  const listReceipts = async (key: string): Promise<Receipt[]> => (await lister(w, key)('?per_page=100')).body.items.reverse();

  /** Verifies the chain as any holder of the receipts can: consecutive numbers, each with the hash of its predecessor. */
  const expectUnbroken = (chain: Receipt[], length: number) => {
    const links = chain.map(({ link, sha256 }) => ({ ...link!, sha256 })).sort((a, b) => a.seq - b.seq);
    expect(links.map(({ seq }) => seq)).toEqual(Array.from({ length }, (_, i) => i + 1));
    for (const [i, { prev_hash }] of links.entries()) {
      const before = links[i - 1];
      const hash = before && createHash('sha256').update(canonicalJson(before)).digest('hex');
      expect(prev_hash).toBe(hash ?? '0'.repeat(64));
    }
  };

  it('a receipt has its link at once, later ones do not change it, and the public proof has no link', async () => {
    const ada = await w.merchant();
    const product = await w.product(ada);
    const sold = await sell(product, 3);
    const first = await listReceipts(ada.key);
    expectUnbroken(first, 3);
    expect(first.map(({ receipt_id }) => receipt_id)).toEqual(sold);
    expect(first.map(({ link }) => link!.seq)).toEqual([1, 2, 3]);
    await sell(product, 2);
    const second = await listReceipts(ada.key);
    expectUnbroken(second, 5);
    expect(second.slice(0, 3)).toEqual(first);
    expect((await w.call('GET', `/v1/receipt/${sold[1]}`, { key: ada.token })).body).toEqual(second[1]);
    const claimed = await w.call('POST', '/v1/receipt', { key: ada.key, body: { tx_sig: second[1]!.tx_sig } });
    expect(claimed.body.link).toEqual(second[1]!.link);
    const { link: _, ...withoutLink } = second[1]!;
    expect((await w.call('GET', `/v1/receipt/${sold[1]}/public`)).body).toEqual(withoutLink);
    expect((await w.call('GET', `/v1/receipt/${sold[1]}/verify`)).body.valid).toBe(true);
  });

  it('each merchant and each mode has its own chain', async () => {
    const [ada, eve] = [await w.merchant(), await w.merchant()];
    const [ofAda, ofEve] = [await w.product(ada), await w.product(eve)];
    for (let i = 0; i < 2; i++) await Promise.all([sell(ofAda, 1), sell(ofEve, 1)]);
    const ivy = await w.merchant();
    const ofIvy = await w.product(ivy);
    const sandboxed = await sell(ofIvy, 2);
    await w.env.DB.prepare('UPDATE receipts SET livemode = 0 WHERE merchant_id = ?').bind(ivy.userId).run();
    await sell(ofIvy, 2);
    for (const key of [ada.key, eve.key, ivy.key, ivy.sandboxKey]) expectUnbroken(await listReceipts(key), 2);
    expect((await listReceipts(ivy.sandboxKey)).map(({ receipt_id }) => receipt_id)).toEqual(sandboxed);
  });

  it('an account has one chain of received receipts and one of paid plans', async () => {
    const ada = await w.merchant('free');
    const product = await w.product(ada);
    const agent = await newSpender(w);
    const buyPlan = async () => expect((await activate(w, agent, 'growth', { key: ada.key })).status).toBe(200);
    const listed = async (direction: string) =>
      (await lister(w, ada.key)(`?per_page=100${direction}`)).body.items.map(({ link }: Receipt) => link?.seq).reverse();
    for (const step of [buyPlan, () => sell(product, 1), buyPlan, () => sell(product, 2)]) await step();
    expect([await listed(''), await listed('&direction=paid')]).toEqual([
      [1, 2, 3],
      [1, 2],
    ]);
    for (const step of [() => sell(product, 1), buyPlan]) await step();
    expect(await listed('&direction=all')).toEqual([1, 1, 2, 2, 3, 4, 3]);
    expectUnbroken(await listReceipts(ada.key), 4);
    const paid: Receipt[] = (await lister(w, ada.key)('?direction=paid')).body.items;
    expectUnbroken(paid, 3);
    for (const { receipt_id } of paid) expect((await w.call('GET', `/v1/receipt/${receipt_id}/verify`)).body.valid).toBe(true);
    const exported = async (query: string) =>
      (await w.call<string>('GET', `/v1/receipts/export.csv${query}`, { key: ada.key })).body.trimEnd().split('\r\n').length - 1;
    expect([await exported(''), await exported('?direction=paid'), await exported('?direction=all')]).toEqual([4, 3, 7]);
  });

  it('the chain stays unbroken with concurrent sales, also if each read the same end of the chain', async () => {
    const ada = await w.merchant();
    const product = await w.product(ada);
    let sold = 0;
    for (const times of [1, 4, 1, 6]) {
      await Promise.all(Array.from({ length: times }, async () => w.purchase(product, await w.chain.wallet())));
      sold += times;
      expectUnbroken(await listReceipts(ada.key), sold);
    }
    const stale = await w.env.DB.prepare('SELECT anchor_seq, anchor_hash FROM receipts WHERE merchant_id = ? AND seq = 9')
      .bind(ada.userId)
      .first();
    await w.env.DB.prepare('UPDATE receipts SET anchor_seq = ?, anchor_hash = ? WHERE merchant_id = ? AND seq > 9')
      .bind(stale!.anchor_seq, stale!.anchor_hash, ada.userId)
      .run();
    expectUnbroken(await listReceipts(ada.key), sold);
    await sell(product, 1);
    expectUnbroken(await listReceipts(ada.key), sold + 1);
    const receipts = await listReceipts(ada.key);
    for (const receipt of receipts)
      expect((await w.call('GET', `/v1/receipt/${receipt.receipt_id}`, { key: ada.key })).body.link).toEqual(receipt.link);
  });
});
