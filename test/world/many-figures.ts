import { utcDayOf } from '#core/days.ts';
import { DAY, MINUTE } from '#core/time.ts';
import { multiply } from './multiply.ts';

const PAYMENTS = 100_000;
const DAYS = 100;
const QUARTER_MS = 15 * MINUTE;
/** Of each quarter of an hour; 1,152,000 altogether. */
export const SALES_PER_QUARTER = 120;
const UNITS = 5_000_000n;

const sumsOf = (sales: number) => ({
  sessions: String(sales),
  confirmed: String(sales),
  usdc_count: String(sales),
  usdc_gross: String(UNITS * BigInt(sales)),
});

/**
 * A merchant who has sold much: by default 100,000 payments like a confirmed one, and figures of 1,152,000 sales of 5 USDC over the hundred days before
 * today, as the fold stores them.
 */
export async function seedFigures(db: D1Database, paymentId: string, payments = PAYMENTS): Promise<void> {
  const { merchantId, productId } = (await db
    .prepare('SELECT merchant_id AS merchantId, product_id AS productId FROM payments WHERE id = ?')
    .bind(paymentId)
    .first<{ merchantId: string; productId: string }>())!;
  await multiply(db, 'payments', 'id', paymentId, payments, {
    id: "'many-' || i",
    nonce: "'nonce-' || i",
    reference: "'reference-' || i",
    tx_signature: "'signature-' || i",
    created_at: 'payments.created_at - i * 70000',
    confirmed_at: 'payments.confirmed_at - i * 70000',
  });
  const today = utcDayOf(Date.now());
  const byQuarter = JSON.stringify(Object.fromEntries(Array.from({ length: 96 }, (_, index) => [index, sumsOf(SALES_PER_QUARTER)])));
  const byProduct = (sales: number) => JSON.stringify({ [productId]: sumsOf(sales) });
  const many = (count: number) => `WITH RECURSIVE many(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < ${count})`;
  await db.batch([
    db
      .prepare(
        `${many(DAYS)} INSERT INTO analytics_days (merchant_id, livemode, day, quarters, products) SELECT ?, 1, ? - n * ${DAY}, ?, ? FROM many`,
      )
      .bind(merchantId, today, byQuarter, byProduct(SALES_PER_QUARTER * 96)),
    db
      .prepare(
        `${many(DAYS * 96)} INSERT INTO analytics_quarters (merchant_id, livemode, quarter, products) SELECT ?, 1, ? - n * ${QUARTER_MS}, ? FROM many`,
      )
      .bind(merchantId, today, byProduct(SALES_PER_QUARTER)),
  ]);
}
