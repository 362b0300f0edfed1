// @module-tag volume
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { type PageBrowser, signInToPages } from '../../support/clients/page-browser.ts';
import { copyReceipt, multiply } from '../../support/fixtures/multiply.ts';
import { SOAK } from '../../support/runner/env.ts';
import { type Reading, rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

/** A soak has 100,000 payments of 20,000 customers. */
const PAYMENTS = SOAK > 1 ? 100_000 : 10_000;
const CUSTOMERS = PAYMENTS / 5;

/** Newest rows in which the filters of a list search. */
const SEARCHED_MAX = 20_000;
const ROWS_OF_A_SEARCH = 25_000;

/** Rows that a page reads at most. Counts of lists are exact to 10,000. */
const PAGES: [path: string, rowsMax: number][] = [
  ['/dashboard', 15_000 + CUSTOMERS + 10_000],
  ['/dashboard/templates', 15_000],
  ['/dashboard/payments', 15_000],
  ['/dashboard/payments?status=CONFIRMED&page=50', 15_000],
  ['/dashboard/unmatched', 15_000],
  ['/dashboard/receipts', 15_000],
  ['/dashboard/customers', 15_000],
  ['/dashboard/customers?q=user-77', 7 * SEARCHED_MAX],
  ['/dashboard/subscriptions', 15_000],
  ['/dashboard/webhooks', 15_000],
  ['/dashboard/keys', 15_000],
  ['/dashboard/payouts', 15_000],
  ['/dashboard/log', 15_000],
  ['/dashboard/team', 15_000],
  ['/dashboard/settings', 15_000],
];

describe(`shop with ${PAYMENTS} payments`, () => {
  const w = new World();
  let ada: Merchant;
  let browser: PageBrowser;
  let readings: Reading[];
  beforeAll(async () => {
    ada = await w.merchant();
    const product = await w.product(ada, { access_period_days: 30 });
    const { confirmed } = await w.purchase(product, await w.chain.wallet(), {
      customer_ref: 'user-0',
      email: 'user-0@example.com',
    });
    while (w.queue.sent.length > 0) await w.deliver();
    await w.sweepAlone('analytics');
    const { DB } = w.env;
    const ids = (first: string): string => `unhex(printf('${first}000000007000a000%012x', i))`;
    await multiply(DB, 'payments', 'customer_ref', 'user-0', PAYMENTS, {
      ...{ id: ids('01a0'), receipt_id: ids('01c0'), nonce: "'many-' || i", reference: "'many-' || i", tx_signature: "'many-' || i" },
      ...{ customer_ref: `'user-' || (i % ${CUSTOMERS})`, email: `'user-' || (i % ${CUSTOMERS}) || '@example.com'` },
      created_at: 'payments.created_at - i * 1000',
    });
    await multiply(DB, 'customers', 'customer_ref', 'user-0', CUSTOMERS, {
      ...{ id: ids('01b0'), customer_ref: "'user-' || i", emails: "json_array('user-' || i || '@example.com')" },
      last_seen_at: 'customers.last_seen_at - i * 1000',
    });
    await multiply(DB, 'memberships', 'customer_ref', 'user-0', CUSTOMERS, {
      ...{ id: ids('01d0'), customer_ref: "'user-' || i", customer_key: "'ref:user-' || i", email: "'user-' || i || '@example.com'" },
    });
    await copyReceipt(DB, confirmed.receipt_id, PAYMENTS / 10);
    browser = await signInToPages(w, ada.email);
    const counted = withRowCount(w.env);
    readings = counted.readings;
    w.env = counted.env;
  }, 300_000);

  async function measure<T>(call: () => Promise<T>): Promise<{ answer: T; rows: number }> {
    readings.length = 0;
    const answer = await call();
    return { answer, rows: rowsOf(readings) };
  }

  it.each(PAGES)('%s reads a bounded number of rows, and is sent in 20 KB', async (path, rowsMax) => {
    const { answer, rows } = await measure(() => browser.get(path));
    expect([path, answer.status]).toEqual([path, 200]);
    expect(gzipSync(answer.text).length).toBeLessThan(20 * 1024);
    expect(gzipSync(/<style[^>]*>(.*?)<\/style>/s.exec(answer.text)![1]!).length).toBeLessThan(12 * 1024);
    expect(rows, worstOf(readings)).toBeLessThanOrEqual(rowsMax);
  });

  it.each(['user-77', 'user-77@example.com', 'many-500', 'nothing like it'])(
    'a search for %s reads a bounded number of rows',
    async (q) => {
      const { answer, rows } = await measure(() => w.call('GET', `/v1/search?q=${encodeURIComponent(q)}`, { key: ada.token }));
      expect(answer.status).toBe(200);
      expect(rows, worstOf(readings)).toBeLessThanOrEqual(ROWS_OF_A_SEARCH);
    },
  );

  it('the state of a customer reads a bounded number of rows', async () => {
    const id = customerIdOf(ada.userId, true, { customerRef: 'user-0' });
    const { answer, rows } = await measure(() => w.call('GET', `/v1/customers/${id}/state`, { key: ada.key }));
    expect((answer.body as Body).products).toHaveLength(1);
    expect(rows, worstOf(readings)).toBeLessThanOrEqual(500);
  });
});
