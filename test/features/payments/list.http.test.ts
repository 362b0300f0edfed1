import { beforeAll, describe, expect, it } from 'vitest';
import { expireNow } from '../../support/faults/expire-now.ts';
import { type Merchant, World } from '../../support/world.ts';

interface Payment extends Record<string, unknown> {
  payment_id: string;
  status: string;
}

describe('GET /v1/payments', () => {
  const w = new World();
  let ada: Merchant;
  let buyer: Awaited<ReturnType<World['chain']['wallet']>>;
  let [weather, climate]: { product_id: string; slug: string }[] = [];
  const made = { open: '', pending: '', failed: '', first: '', second: '' };
  const signatures = { first: '' };

  const list = (query = '', key: string | null = ada.key) => w.call('GET', `/v1/payments${query}`, { key });
  const idsOf = ({ body }: Awaited<ReturnType<typeof list>>): string[] => body.items.map(({ payment_id }: Payment) => payment_id);
  const set = (id: string, assignment: string) => w.env.DB.prepare(`UPDATE payments SET ${assignment} WHERE id = ?`).bind(id).run();

  beforeAll(async () => {
    ada = await w.merchant();
    buyer = await w.chain.wallet();
    weather = await w.product(ada);
    climate = await w.product(ada, { price: { asset: 'USDC', amount: '7' } });
    made.open = (await w.connect(weather!, { customer_ref: 'customer-a' })).payment_id;
    made.pending = (await w.connect(climate!)).payment_id;
    await set(made.pending, "status = 'PENDING_CONFIRMATION'");
    made.failed = (await w.connect(weather!, { customer_ref: 'customer-b' })).payment_id;
    await expireNow(w, made.failed);
    const first = await w.purchase(weather!, buyer, { customer_ref: 'customer-a', email: 'buyer@example.com' });
    [made.first, signatures.first] = [first.payment.payment_id, first.signature];
    made.second = (await w.purchase(climate!, await w.chain.wallet())).payment.payment_id;
  });

  it('the list is newest first, by key and by token', async () => {
    const all = Object.values(made).reverse();
    for (const credential of [ada.key, ada.token]) {
      const answer = await list('', credential);
      expect([answer.status, idsOf(answer)]).toEqual([200, all]);
      expect(answer.body).toMatchObject({ page: 1, per_page: 20, total: 5, total_pages: 1, has_more: false });
    }
  });

  it.each([
    ['one status', ['PENDING_SIGNATURE']],
    ['all statuses', ['PENDING_SIGNATURE', 'FAILED', 'CONFIRMED', 'PENDING_CONFIRMATION']],
  ])('pages neither repeat nor miss a payment, including payments of the same millisecond and of %s', async (_, statuses) => {
    const eve = await w.merchant();
    const product = await w.product(eve);
    const opened = new Set<string>();
    for (let i = 0; i < 7; i++) opened.add((await w.connect(product)).payment_id);
    for (const [i, id] of [...opened].entries()) await set(id, `created_at = 1790000000000, status = '${statuses[i % statuses.length]}'`);
    const pages = await Promise.all([1, 2, 3, 4, 5, 5000].map((page) => list(`?per_page=2&page=${page}`, eve.key)));
    expect(pages.map(({ status }) => status)).toEqual(Array(6).fill(200));
    expect(pages.map(({ body }) => [body.items.length, body.has_more, body.total, body.total_pages])).toEqual([
      [2, true, 7, 4],
      [2, true, 7, 4],
      [2, true, 7, 4],
      [1, false, 7, 4],
      [0, false, 7, 4],
      [0, false, 7, 4],
    ]);
    expect(pages.flatMap(idsOf)).toEqual([...opened].reverse());
  });

  it('status, product, customer and wallet filter the list, alone and combined', async () => {
    const { open, pending, failed, first, second } = made;
    for (const [query, expected] of [
      ['status=PENDING_SIGNATURE', [open]],
      ['status=PENDING_CONFIRMATION', [pending]],
      ['status=FAILED', [failed]],
      ['status=CONFIRMED', [second, first]],
      [`product_id=${weather!.product_id}`, [first, failed, open]],
      [`product_id=${climate!.product_id}`, [second, pending]],
      ['customer_ref=customer-a', [first, open]],
      ['customer_ref=customer-b', [failed]],
      [`wallet=${buyer.address}`, [first]],
      ['status=CONFIRMED&customer_ref=customer-a', [first]],
      [`status=CONFIRMED&product_id=${climate!.product_id}`, [second]],
      [`status=FAILED&wallet=${buyer.address}`, []],
      [`status=CONFIRMED&product_id=${weather!.product_id}&customer_ref=customer-a&wallet=${buyer.address}`, [first]],
    ] as const) {
      const answer = await list(`?${query}`);
      expect([query, answer.status, idsOf(answer), answer.body.total]).toEqual([query, 200, expected, expected.length]);
    }
    const { body } = await list('?status=CONFIRMED&per_page=1&page=2');
    expect([body.items[0].payment_id, body.total, body.total_pages, body.has_more]).toEqual([first, 2, 2, false]);
  });

  it('transaction, rail, asset, time, amount and search terms filter the list', async () => {
    const eve = await w.merchant();
    const mint = await w.product(eve, { name: 'Peppermint tea' });
    const sage = await w.product(eve, { name: 'Sage', price: { asset: 'USDC', amount: '12.5' } });
    const first = await w.purchase(mint, buyer, { customer_ref: 'shop-4711' });
    const [one, two] = [first.payment.payment_id, (await w.connect(sage)).payment_id];
    await set(one, 'created_at = 1790000000000');
    await set(two, 'created_at = 1790000060000');
    const [at, later] = [1790000000000, 1790000060000].map((ms) => new Date(ms).toISOString());
    for (const [query, expected] of [
      [`tx_signature=${first.signature}`, [one]],
      ['tx_signature=nothing', []],
      ['rail_id=solana_usdc', [two, one]],
      ['rail_id=x402_solana_usdc', []],
      ['rail_id=solana_sol', []],
      ['asset=USDC', [two, one]],
      ['asset=SOL', []],
      ['asset=SOL&rail_id=solana_usdc', []],
      [`created_from=${later}`, [two]],
      [`created_to=${later}`, [one]],
      [`created_from=${at}&created_to=${later}`, [one]],
      ['created_from=2026-09-21&created_to=2026-09-22', [two, one]],
      ['min_amount=5', [two, one]],
      ['min_amount=5.000000001', [two]],
      ['max_amount=12.499999999', [one]],
      ['min_amount=5&max_amount=5', [one]],
      ['q=4711', [one]],
      ['q=SHOP-', [one]],
      ['q=peppermint', [one]],
      ['q=e', [two, one]],
      [`q=${two}`, [two]],
      [`q=${first.signature}`, [one]],
      [`q=${buyer.address}`, [one]],
      [`q=${encodeURIComponent(first.payment.memo)}`, [one]],
      [`q=${made.open}`, []],
      [`q=${signatures.first}`, []],
      ['q=%25', []],
      ['q=sage&status=CONFIRMED', []],
    ] as const) {
      const answer = await list(`?${query}`, eve.key);
      expect([query, answer.status, idsOf(answer), answer.body.total]).toEqual([query, 200, expected, expected.length]);
    }
  });

  it.each([
    'customer_ref=customer-',
    'customer_ref=CUSTOMER-A',
    'customer_ref=customer-%25',
    'customer_ref=customer-_',
    "customer_ref=' OR '1'='1",
    'wallet=nobody',
    'wallet=%25',
    'product_id=01900000-0000-7000-8000-000000000000',
  ])('the filter %s is matched literally and finds nothing', async (query) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.items, body.total, body.total_pages, body.has_more]).toEqual([200, [], 0, 0, false]);
  });

  it.each([
    ['status=confirmed', 'status'],
    ['status=EXPIRED', 'status'],
    ['status=', 'status'],
    ['product_id=5', 'product_id'],
    [`customer_ref=${'x'.repeat(181)}`, 'customer_ref'],
    [`wallet=${'x'.repeat(65)}`, 'wallet'],
    ['per_page=101', 'per_page'],
    ['page=0', 'page'],
    ['rail_id=cash', 'rail_id'],
    ['asset=EUR', 'asset'],
    ['created_from=yesterday', 'created_from'],
    ['created_to=2026-13-01', 'created_to'],
    ['min_amount=-1', 'min_amount'],
    ['max_amount=1e3', 'max_amount'],
    ['q=', 'q'],
    ['mode=test', 'mode'],
  ])('the query %s is 422', async (query, field) => {
    const { status, body } = await list(`?${query}`);
    expect([status, body.code, body.detail[0].loc]).toEqual([422, 'validation_error', ['query', field]]);
  });

  it('each item equals the owner’s view of the payment', async () => {
    for (const item of (await list()).body.items) {
      const { now, ...body } = (await w.call('GET', `/v1/payments/${item.payment_id}`, { key: ada.key })).body;
      expect(now).toBeDefined();
      expect({ ...item, poll_after_ms: null }).toEqual({ ...body, poll_after_ms: null });
    }
    const { body } = await list(`?wallet=${buyer.address}`);
    expect(body.items[0]).toMatchObject({
      status: 'CONFIRMED',
      net: { asset: 'USDC', amount: '5', base_units: '5000000' },
      customer_ref: 'customer-a',
      payer_wallet: buyer.address,
      tx_signature: signatures.first,
      poll_after_ms: null,
      livemode: true,
    });
    expect(JSON.stringify(body)).not.toContain('buyer@example.com');
  });

  it('items show the amount net of the fee', async () => {
    const eve = await w.merchant();
    const taxed = new World({ FEE_BPS: '250', FEE_WALLET: (await w.chain.wallet(0n)).address });
    const { payment_id } = await taxed.connect(await w.product(eve));
    const { body } = await list('', eve.key);
    expect(body.items).toMatchObject([{ payment_id, price: { amount: '5' }, fee: { amount: '0.125' }, net: { amount: '4.875' } }]);
  });

  it('the list separates live and sandbox payments', async () => {
    const sandboxed = (await w.connect(weather!)).payment_id;
    await set(sandboxed, 'livemode = 0');
    for (const [credential, query] of [
      [ada.sandboxKey, ''],
      [ada.sandboxKey, '?mode=sandbox'],
      [ada.token, '?mode=sandbox'],
    ] as const)
      expect(idsOf(await list(query, credential))).toEqual([sandboxed]);
    for (const [credential, query] of [
      [ada.key, ''],
      [ada.key, '?mode=live'],
      [ada.token, '?mode=live'],
    ] as const)
      expect(idsOf(await list(query, credential))).toEqual(Object.values(made).reverse());
    const crossed = await list('?mode=sandbox', ada.key);
    expect([crossed.status, crossed.body.code, crossed.body.meta.reason]).toEqual([403, 'invalid_authorization', 'mode']);
  });

  it('a stranger sees no payments, and a call without a credential is 401', async () => {
    const stranger = await w.merchant();
    for (const query of ['', `?product_id=${weather!.product_id}`, '?customer_ref=customer-a', `?wallet=${buyer.address}`])
      for (const credential of [stranger.key, stranger.token])
        expect((await list(query, credential)).body).toMatchObject({ items: [], total: 0 });
    expect((await list('', null)).status).toBe(401);
  });

  it('unmatched money is shown in the session it was meant for', async () => {
    const eve = await w.merchant();
    const product = await w.product(eve);
    const payer = await w.chain.wallet();
    const quiet = await w.connect(product);
    const short = await w.connect(product);
    const pennies: string[] = [];
    for (const units of [1n, 4_000_000n]) {
      pennies.push(await w.chain.pay(payer, short, { units }));
      expect((await w.confirm(short.payment_id, pennies.at(-1)!)).status).toBe(422);
    }
    const { payment: twice } = await w.purchase(product, payer);
    const again = await w.chain.pay(payer, twice, { units: 5_000_001n });
    expect((await w.confirm(twice.payment_id, again)).status).toBe(409);

    const { body } = await list('', eve.key);
    expect(body.total).toBe(3);
    const [ofTwice, ofShort, ofQuiet] = body.items;
    expect([ofTwice.payment_id, ofShort.payment_id, ofQuiet.payment_id]).toEqual([twice.payment_id, short.payment_id, quiet.payment_id]);
    expect(ofTwice.unmatched).toMatchObject([
      { tx_signature: again, reason: 'second_payment', status: 'open', amount: { asset: 'USDC', amount: '5.000001' } },
    ]);
    expect(ofShort.unmatched).toMatchObject([
      {
        tx_signature: pennies[0],
        reason: 'underpaid',
        payment_id: short.payment_id,
        amount: { base_units: '1' },
        payer_wallet: payer.address,
      },
      { tx_signature: pennies[1], reason: 'underpaid', payment_id: short.payment_id, amount: { amount: '4' } },
    ]);
    expect('unmatched' in ofQuiet).toBe(false);
    for (const item of body.items)
      expect(item.unmatched).toEqual((await w.call('GET', `/v1/payments/${item.payment_id}`, { key: eve.key })).body.unmatched);
    expect((await list('?per_page=1&page=2', eve.key)).body.items[0].unmatched).toHaveLength(2);
  });

  it('accepted money is a payment of its own that names the session it missed', async () => {
    const eve = await w.merchant();
    const payer = await w.chain.wallet();
    const { payment } = await w.purchase(await w.product(eve), payer);
    const second = await w.chain.pay(payer, payment, { units: 6_000_000n });
    await w.confirm(payment.payment_id, second);
    const path = `/v1/payments/${payment.payment_id}/accept-unmatched`;
    const { body: recovered } = await w.call('POST', path, { key: eve.key, body: { tx_signature: second } });
    const { body } = await list(`?wallet=${payer.address}&status=CONFIRMED`, eve.key);
    expect(body.items).toMatchObject([
      { payment_id: recovered.payment_id, recovers_payment_id: payment.payment_id, tx_signature: second },
      { payment_id: payment.payment_id, unmatched: [{ status: 'accepted', recovered_payment_id: recovered.payment_id }] },
    ]);
  });
});
