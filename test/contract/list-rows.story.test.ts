import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { beforeAll, describe, expect, it } from 'vitest';
import worker from '../../worker/index.ts';
import { oneEvent } from '../support/fixtures/acts.ts';
import { fillTables } from '../support/fixtures/load-generator.ts';
import { rowsOf, withRowCount, worstOf } from '../support/runner/rows-read.ts';
import { type Merchant, World } from '../support/world.ts';

interface Listed {
  items: unknown[];
  total: number;
  total_exact?: boolean;
  has_more: boolean;
  next?: string;
  code?: string;
  detail: { loc: string[] }[];
}

const ROWS = 20_000;
const PAGE_ROWS_MAX = 400;
/** The list of all endpoints is merged from theirs. The rows belong to 50, the most that a plan enables. */
const MERGED_PAGE_ROWS_MAX = 600;
const NUMBERED_PAGE_ROWS_MAX = 60;
const COUNT_ROWS_MAX = 10_001;
const FILTERED_COUNT_ROWS_MAX = 2_001;
/** Payments have five states in rotation. One of two filters has an index, and rows excluded by the other are read as well. */
const LEFT_OUT_FACTOR = 5;
/** A filtered receipt is read through its payment or its text index row. An event is read from its act. */
const roundsOf = (path: string, query = '') =>
  (path === 'receipts' && query !== '') || query.startsWith('q=') || path.endsWith('/events') ? 2 : 1;
/** A search of receipts reads the names of products first. */
const NAMES_ROWS = 10;
/** A search for a common type reads 2,000 acts, each with its index entry and its event, for the page, the count and the end. */
const SEARCH_ROWS_MAX = 8 * FILTERED_COUNT_ROWS_MAX;

/** Filter values: one that two thirds of the rows have, so that its list exceeds the counted rows, and one with a single row. */
const most = (table: string, column: string) => `CASE WHEN n % 3 > 0 THEN '${table}-${column}-most' ELSE '${table}-${column}-' || n END`;
const UUID_OF_MOST = '01900000-0000-7000-8000-000000000001';
const UUID_OF_ONE = '01900000-0000-7000-8000-000000000002';
/** Names the subject in one act of 2,000. */
const ofOne = (rest: number) => `CASE WHEN n % 2000 = ${rest} THEN '${UUID_OF_ONE}' END`;
const uuidsOf = (others: string) =>
  `CASE WHEN n = 3 THEN '${UUID_OF_ONE}' WHEN n % 3 > 0 THEN '${UUID_OF_MOST}' ELSE 'other-' || (${others}) END`;
const uuids = uuidsOf('n');

describe(`first pages with ${ROWS} rows of the merchant in every table`, () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
    const { product_id } = await w.product(ada);
    await w.call('GET', '/v1/keys', { key: ada.key });
    await fillTables(w.env.DB, {
      to: ROWS,
      merchants: [ada.userId],
      products: [product_id],
      values: {
        payments: {
          payer_wallet: most('p', 'wallet'),
          email: most('p', 'email'),
          customer_ref: most('p', 'ref'),
          product_id: uuids,
          late_grace_seconds: '120',
        },
        receipts: {
          id: "printf('01900000-%04d-7000-8000-%012d', n % 10000, n)",
          tx_signature: `substr('ABCDEFGHJKLMNPQRSTUVWXYZ', 1 + n % 20, 4) || replace(n, '0', 'o') || 'xxxxxxxxxxxxxxxxxxxx'`,
          product_id: uuids,
          document: `'{}'`,
          product_name: "'Crowd ' || CASE WHEN n = 5 THEN 'unique' WHEN n % 3 > 0 THEN 'usual' ELSE 'other' END",
        },
        entitlements: { wallet_address: most('e', 'wallet'), customer_ref: most('e', 'ref'), product_id: uuids },
        subscription_authorizations: { product_id: uuids, status: "'active'" },
        memberships: { wallet_address: most('m', 'wallet'), customer_ref: "'ref-' || n", status: "'active'", email: most('m', 'email') },
        acts: {
          rare_type: "CASE WHEN n % 3 = 2 THEN 'payout.changed' END",
          payment_id: ofOne(0),
          membership_id: ofOne(1),
          ...oneEvent({
            type: "CASE n % 3 WHEN 0 THEN 'payment.created' WHEN 1 THEN 'receipt.created' ELSE 'payout.changed' END",
            paymentId: ofOne(0),
            membershipId: ofOne(1),
          }),
        },
        // No plan allows many endpoints.
        webhook_deliveries: { endpoint_id: uuidsOf('n % 48'), event_id: "'events-id-' || n" },
        webhook_endpoints: { merchant_id: `'${ada.userId}'`, status: "'disabled'", event_types: "'[]'", product_ids: "'[]'" },
        endpoint_hours: { hour: '(1 + n) * 3600000' },
        api_keys: { permissions: `'["read"]'`, revoked_at: 'CASE WHEN n > 20 THEN n END' },
      },
    });
    // Receipts belong to the paid payments, in the same order.
    await w.env.DB.prepare(
      "UPDATE payments SET receipt_id = (SELECT id FROM receipts WHERE receipts.rowid = payments.rowid) WHERE status = 'CONFIRMED'",
    ).run();
  }, 60_000);

  it.each([
    ['payments', ''],
    ['payments', 'status=CONFIRMED'],
    ['payments', 'status=FAILED'],
    ['payments', 'customer_ref=p-ref-most'],
    ['payments', 'customer_ref=p-ref-1'],
    ['payments', 'wallet=p-wallet-most'],
    ['payments', 'wallet=p-wallet-1'],
    ['payments', `product_id=${UUID_OF_MOST}`],
    ['payments', `product_id=${UUID_OF_ONE}`],
    ['payments', 'customer_ref=nobody'],
    ['payments', 'q=p-email-9999'],
    ['receipts', ''],
    ['receipts', 'wallet=p-wallet-most'],
    ['receipts', 'wallet=p-wallet-1'],
    ['receipts', `product_id=${UUID_OF_MOST}`],
    ['receipts', `product_id=${UUID_OF_ONE}&wallet=p-wallet-3`],
    ['receipts', 'q=usual'],
    ['receipts', 'q=crowd'],
    ['receipts', 'q=Crowd+Unique'],
    ['receipts', 'q=nothing+of+the+kind'],
    ['receipts', `q=usual&product_id=${UUID_OF_MOST}`],
    ['receipts', 'q=m-email-9999'],
    ['receipts', 'q=01900000-0007'],
    ['receipts', 'q=01900000-0007-7000-8000-000000000007'],
    ['memberships', ''],
    ['memberships', 'q=m-email-9999'],
    ['access/entitlements', ''],
    ['access/entitlements', 'status=active'],
    ['access/entitlements', 'wallet_address=e-wallet-most'],
    ['access/entitlements', 'customer_ref=e-ref-most'],
    ['access/entitlements', `product_id=${UUID_OF_MOST}`],
    ['access/entitlements', `product_id=${UUID_OF_MOST}&status=active`],
    ['memberships', 'wallet_address=m-wallet-most'],
    ['memberships', 'wallet_address=m-wallet-most&status=active'],
    ['payments', `status=CONFIRMED&product_id=${UUID_OF_MOST}`],
    ['access/native-subscriptions', ''],
    ['access/native-subscriptions', 'status=active'],
    ['access/native-subscriptions', `product_id=${UUID_OF_MOST}`],
    ['products', ''],
    ['webhooks/endpoints', ''],
    ['webhooks/deliveries', ''],
    ['webhooks/deliveries', 'status=failed'],
    ['webhooks/deliveries', `endpoint_id=${UUID_OF_MOST}`],
    ['webhooks/deliveries', `endpoint_id=${UUID_OF_ONE}&status=pending`],
    ['webhooks/events', ''],
    ['webhooks/events', 'event_type=payout.changed'],
  ])('%s?%s reads only its page and its count', async (path, query) => {
    const { status, pages, counts, body } = await read(`/v1/${path}?${query}`);
    expect([status, body.code]).toEqual([200, undefined]);
    // All receipts of a direction are numbered without gaps, so none are counted.
    const isNumbered = path === 'receipts' && query === '';
    const isMerged = path === 'webhooks/deliveries' && query === '';
    const rowsMax = isNumbered ? NUMBERED_PAGE_ROWS_MAX : isMerged ? MERGED_PAGE_ROWS_MAX : PAGE_ROWS_MAX;
    expect(rowsOf(pages), worstOf(pages)).toBeLessThanOrEqual(rowsMax);
    expect(counts.length > 0).toBe(!isNumbered);
    expect(rowsOf(counts), worstOf(counts)).toBeLessThanOrEqual(roundsOf(path, query) * COUNT_ROWS_MAX);
    expect(body.items.length).toBe(Math.min(20, body.total));
    if (body.total === 10_000) expect([body.total_exact ?? true, body.has_more]).toEqual([false, true]);
  });

  it.each([
    ['webhooks/events', 'event_type=payout.changed'],
    ['integrations/events', 'event_type=payout.changed'],
    ['receipts', 'q=usual'],
    ['access/entitlements', 'status=active'],
    ['access/entitlements', `product_id=${UUID_OF_MOST}`],
    ['access/entitlements', `product_id=${UUID_OF_MOST}&status=active`],
    ['memberships', 'wallet_address=m-wallet-most&status=active'],
    ['payments', `status=CONFIRMED&product_id=${UUID_OF_MOST}`],
    ['access/native-subscriptions', `product_id=${UUID_OF_MOST}&status=active`],
  ])('%s?%s counts to 2,000 and reads little more', async (path, query) => {
    const { counts, body } = await read(`/v1/${path}?${query}&per_page=100`);
    expect([body.total, body.total_exact, body.has_more]).toEqual([2_000, false, true]);
    const factor = /&|^q=/.test(query) ? LEFT_OUT_FACTOR : roundsOf(path, query);
    expect(rowsOf(counts), worstOf(counts)).toBeLessThanOrEqual(factor * FILTERED_COUNT_ROWS_MAX + NAMES_ROWS);
    const beyond = await read(`/v1/${path}?${query}&per_page=100&page=21`);
    expect([beyond.body.items.length, beyond.body.total, beyond.body.has_more]).toEqual([100, 2_000, true]);
  });

  it.each([
    ['webhooks/events', 'payment.created', 6_666],
    ['integrations/events', 'receipt.created', 6_667],
    ['webhooks/events', 'payment.confirmed', 0],
  ])(
    '%s: a search for the common type %s reads a bounded number of acts, and names the one to continue after',
    async (path, type, matches) => {
      let found = 0;
      for (let after = ''; ; ) {
        const { pages, counts, body } = await read(`/v1/${path}?event_type=${type}&per_page=100${after}`);
        expect(rowsOf([...pages, ...counts]), worstOf(pages)).toBeLessThanOrEqual(SEARCH_ROWS_MAX);
        found += body.items.length;
        if (!body.has_more) break;
        after = `&after=${body.next ?? (body.items.at(-1) as { id: string }).id}`;
      }
      expect(found).toBe(matches);
    },
  );

  it.each([
    ['payments', ''],
    ['payments', 'status=CONFIRMED'],
    ['payments', `product_id=${UUID_OF_MOST}`],
    ['payments', 'customer_ref=p-ref-most'],
    ['receipts', `product_id=${UUID_OF_MOST}`],
    ['memberships', 'wallet_address=m-wallet-most'],
    ['access/entitlements', 'customer_ref=e-ref-most'],
    ['webhooks/events', ''],
  ])('%s?%s counts beyond 2,000', async (path, query) => {
    expect((await read(`/v1/${path}?${query}`)).body.total).toBeGreaterThan(2_000);
  });

  it.each([
    ['/v1/keys'],
    [`/v1/webhooks/timeline?payment_id=${UUID_OF_ONE}&limit=120`],
    [`/v1/webhooks/timeline?membership_id=${UUID_OF_ONE}`],
    ['/v1/memberships/lookup?wallet_address=m-wallet-3'],
    ['/v1/memberships/lookup?email=m-email-3'],
  ])('%s has no count and reads only its page', async (path) => {
    const { status, pages, counts } = await read(path);
    expect(status).toBe(200);
    expect(rowsOf([...pages, ...counts]), worstOf(pages)).toBeLessThanOrEqual(PAGE_ROWS_MAX);
  });

  it('integration health reads only the summary columns of endpoints', async () => {
    const { pages, counts, body } = await read('/v1/integrations/health');
    expect(rowsOf(pages), worstOf(pages)).toBeLessThanOrEqual(PAGE_ROWS_MAX);
    expect(rowsOf(counts), worstOf(counts)).toBeLessThanOrEqual(COUNT_ROWS_MAX);
    expect(body).toMatchObject({ status: 'ok', endpoints: { enabled: 0, disabled: 10_001, failing: 0 } });
    expect('success_rate_24h' in body).toBe(false);
  });

  it('page access ends at row 10,000 with 422, also for larger page numbers', async () => {
    const last = await read('/v1/payments?per_page=100&page=100');
    expect([last.status, last.body.items.length, last.body.has_more]).toEqual([200, 100, true]);
    for (const query of ['per_page=100&page=101', 'page=501', 'page=999999999']) {
      const beyond = await read(`/v1/payments?${query}`);
      expect([beyond.status, beyond.body.code, beyond.body.detail[0]?.loc]).toEqual([422, 'validation_error', ['query', 'page']]);
    }
  });

  async function read(path: string) {
    const { env, readings } = withRowCount(w.env);
    // Generated ids have no valid form, so the answers are not checked against the published description.
    const execution = createExecutionContext();
    const headers = { 'X-Svc-Key': ada.key };
    const response = await worker.fetch(new Request(`https://svc.test${path}`, { headers }), env, execution);
    const body = (await response.json()) as Listed;
    await waitOnExecutionContext(execution);
    const isCount = ({ sql }: { sql: string }) => /^select count\(\*\)/i.test(sql);
    return { status: response.status, body, counts: readings.filter(isCount), pages: readings.filter((reading) => !isCount(reading)) };
  }
});
