// @module-tag volume
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

/** Rows that a page reads at most: counts of lists are exact to 2,000. */
const ROWS_MAX = 15_000;
const ROWS_OF_A_SEARCH = 6_000;

const PAGES = [
  '/dashboard',
  '/dashboard/templates',
  '/dashboard/payments',
  '/dashboard/payments?status=CONFIRMED&page=50',
  '/dashboard/unmatched',
  '/dashboard/receipts',
  '/dashboard/customers',
  '/dashboard/customers?q=user-77',
  '/dashboard/subscriptions',
  '/dashboard/webhooks',
  '/dashboard/keys',
  '/dashboard/payouts',
  '/dashboard/log',
  '/dashboard/team',
  '/dashboard/settings',
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

  async function measure<T>(call: () => Promise<T>): Promise<{ answer: T; rows: number; ms: number }> {
    readings.length = 0;
    const startedAt = performance.now();
    const answer = await call();
    return { answer, rows: rowsOf(readings), ms: performance.now() - startedAt };
  }

  it.each(PAGES)('%s reads a bounded number of rows', async (path) => {
    const { answer, rows, ms } = await measure(() => browser.get(path));
    console.log(`${path}: ${rows} rows, ${Math.round(ms)} ms, ${answer.text.length} characters`);
    expect([path, answer.status]).toEqual([path, 200]);
    expect(rows, worstOf(readings)).toBeLessThanOrEqual(ROWS_MAX);
  });

  it.each(['user-77', 'user-77@example.com', 'many-500', 'nothing like it'])(
    'a search for %s reads a bounded number of rows',
    async (q) => {
      const { answer, rows, ms } = await measure(() => w.call('GET', `/v1/search?q=${encodeURIComponent(q)}`, { key: ada.token }));
      console.log(`search ${q}: ${rows} rows, ${Math.round(ms)} ms`);
      expect(answer.status).toBe(200);
      expect(rows, worstOf(readings)).toBeLessThanOrEqual(ROWS_OF_A_SEARCH);
    },
  );

  it('the state of a customer reads a bounded number of rows', async () => {
    const id = customerIdOf(ada.userId, true, { customerRef: 'user-0' });
    const { answer, rows, ms } = await measure(() => w.call('GET', `/v1/customers/${id}/state`, { key: ada.key }));
    console.log(`state: ${rows} rows, ${Math.round(ms)} ms`);
    expect((answer.body as Body).products).toHaveLength(1);
    expect(rows, worstOf(readings)).toBeLessThanOrEqual(500);
  });
});
