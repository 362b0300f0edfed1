import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import type { PaymentSessionId, ReceiptId } from '#core/ids.ts';
import { getSessionListing } from '#features/checkout/sessions/session.ts';
import { getListing } from '#features/products/product.ts';
import { hasSlug } from '#features/products/store.ts';
import { getReceiptWithFate } from '#features/receipts/receipt.ts';
import { hasReceipt } from '#features/receipts/store.ts';
import { type AppEnv, router } from '#platform/http/openapi.ts';
import { hitBucket } from '#platform/http/rate-limit.ts';
import { enterShard } from '#platform/http/shard.ts';
import { sendCheckout } from './checkout/page.tsx';
import { openPage, type PageContext, sendRefusal } from './document.tsx';
import { sendReceipt } from './receipt/page.tsx';

/** A person reads these: what goes wrong is a page too. A bug is the log's business and still ends in the one place. */
async function presentPage(c: Context<AppEnv>, make: (page: PageContext) => Promise<Response>): Promise<Response> {
  const page = await openPage(c);
  try {
    return await make(page);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    c.set('errorCode', error.code);
    const status = error.status === 404 || error.status === 429 || error.status === 503 ? error.status : 500;
    return sendRefusal(page, status, error.options.retryAfterSeconds);
  }
}

const SLUG = /^[a-z0-9-]{1,80}$/;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

const PAGE = /^\/(?:p\/[a-z0-9-]{1,80}|r\/[0-9a-f-]{36})$/;

/** The longest address that is put right: one of a page, with a few slashes too many. */
const PATH_MAX = 120;

/** A page has one address: to it lead a slash too many and capital letters, with all that was asked. */
const redirectToCanonical = createMiddleware<AppEnv>(async (c, next) => {
  const { pathname, search } = new URL(c.req.url);
  if (pathname.length > PATH_MAX) return next();
  const address = pathname.toLowerCase().replace(/\/+$/, '');
  return address !== pathname && PAGE.test(address) ? c.redirect(`${address}${search}`, 308) : next();
});

/** The hosted pages; not operations of the API. */
export const pageRoutes = router();
for (const path of ['/p/*', '/r/*']) pageRoutes.get(path, redirectToCanonical);

pageRoutes.get('/p/:slug', (c) =>
  presentPage(c, async (page) => {
    await hitBucket(c, 'payload', '');
    const slug = c.req.param('slug');
    if (!SLUG.test(slug)) throw new ApiError('not_found');
    const ctx = await enterShard(c, ({ db }) => hasSlug(db, slug));
    const ps = c.req.query('ps');
    if (ps === undefined) return sendCheckout(page, { listing: await getListing(ctx.db, slug) });
    if (!UUID.test(ps)) throw new ApiError('not_found');
    return sendCheckout(page, await getSessionListing(ctx, slug, ps as PaymentSessionId));
  }),
);

pageRoutes.get('/r/:receipt_id', (c) =>
  presentPage(c, async (page) => {
    await hitBucket(c, 'receipt', '');
    const receiptId = c.req.param('receipt_id');
    if (!UUID.test(receiptId)) throw new ApiError('not_found');
    const { receipt, isOrphaned } = await getReceiptWithFate(
      await enterShard(c, ({ db }) => hasReceipt(db, receiptId as ReceiptId)),
      receiptId as ReceiptId,
    );
    return sendReceipt(page, receipt, isOrphaned);
  }),
);

/** Nothing else is below these two, and a page says so. */
for (const path of ['/p', '/p/*', '/r', '/r/*'])
  pageRoutes.get(path, (c) => presentPage(c, async () => Promise.reject(new ApiError('not_found'))));
