import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import { type IdentitySessionId, isAuthorizationId, type PaymentSessionId, type ReceiptId } from '#core/ids.ts';
import { findVerifiedDomain } from '#features/accounts/domain/store.ts';
import { findAccount } from '#features/accounts/store.ts';
import { findAuthorization, findCollectedBy } from '#features/authorizations/store.ts';
import { getSessionListing } from '#features/checkout/sessions/session.ts';
import { loadBuyersAccess } from '#features/payments/buyers-access.ts';
import { findPayment } from '#features/payments/store.ts';
import { getActiveListing, getListing } from '#features/products/product.ts';
import { getReceiptWithOutcome } from '#features/receipts/receipt.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Shard } from '#platform/context.ts';
import { forReading, homeOf, readNear } from '#platform/db/directory.ts';
import { homeOfSlug } from '#platform/db/names/names.ts';
import { type AppEnv, router } from '#platform/http/openapi.ts';
import { hitBucket, underCeiling } from '#platform/http/rate-limit.ts';
import { sendEmailLink, sendLogin } from './account/pages.tsx';
import { sendCheckout } from './checkout/page.tsx';
import { posterCode, sendPoster } from './checkout/print/poster.tsx';
import { openPage, type PageContext, sendPage, sendRefusal } from './document.tsx';
import { Mark } from './parts/parts.tsx';
import { sendReceipt } from './receipt/page.tsx';
import { sendSigning } from './signing/page.tsx';
import { sendSubscription } from './subscribing/page.tsx';

/** Renders an API error as a page. Any other error is rethrown, so that it is logged as a bug. */
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

const BUYERS_PAGE = /^\/(?:p\/[a-z0-9-]{1,80}|r\/[0-9a-f-]{36})$/;
const isPage = (address: string): boolean => BUYERS_PAGE.test(address) || Object.hasOwn(MERCHANT_PAGES, address);

/** Longest path that is redirected: a page's path with some extra slashes. */
const PATH_MAX = 120;

/** Redirects trailing slashes and uppercase paths to the canonical path with 308. The query is retained. */
const redirectToCanonical = createMiddleware<AppEnv>(async (c, next) => {
  const { pathname, search } = new URL(c.req.url);
  if (pathname.length > PATH_MAX) return next();
  const address = pathname.toLowerCase().replace(/\/+$/, '');
  return address !== pathname && isPage(address) ? c.redirect(`${address}${search}`, 308) : next();
});

/** Hosted pages. They are not operations of the API. */
export const pageRoutes = router();
for (const path of ['/p/*', '/r/*']) pageRoutes.get(path, redirectToCanonical);

pageRoutes.get('/p/:slug', (c) =>
  presentPage(c, async (page) => {
    const send = async (shard: Shard, sold: Parameters<typeof sendCheckout>[2]) =>
      sendCheckout(page, await inMode(shard, sold.listing.product), sold);
    await hitBucket(c, 'payload', '');
    const slug = c.req.param('slug');
    if (!SLUG.test(slug)) throw new ApiError('not_found');
    const ps = c.req.query('ps');
    if (ps !== undefined && !UUID.test(ps)) throw new ApiError('not_found');
    const shard = await homeOfSlug(c.var.ctx, slug, readNear);
    // The page of a payment session shows its payment, which a replica may not have yet.
    if (ps !== undefined) return send(shard, await getSessionListing(shard, slug, ps as PaymentSessionId));
    return send(forReading(shard), { listing: await readNear(shard, ({ db }) => getListing(db, slug)) });
  }),
);

/** Throws 404 not_found if the product is not on sale. */
async function findOnSale(c: Context<AppEnv>) {
  await hitBucket(c, 'payload', '');
  const slug = c.req.param('slug') ?? '';
  if (!SLUG.test(slug)) throw new ApiError('not_found');
  const ctx = await homeOfSlug(c.var.ctx, slug, readNear);
  return { ctx, listing: await readNear(ctx, ({ db }) => getActiveListing(db, slug)) };
}
pageRoutes.get('/p/:slug/qr', (c) =>
  presentPage(c, async (page) => {
    const { ctx, listing } = await findOnSale(c);
    return sendPoster(page, ctx, listing);
  }),
);
pageRoutes.get('/p/:slug/qr.svg', async (c) => {
  const { ctx, listing } = await findOnSale(c);
  return c.body(posterCode(ctx, listing), 200, { 'Content-Type': 'image/svg+xml', 'Content-Security-Policy': "default-src 'none'" });
});

/** Test identity in the role of the platform's page: following the link identifies the buyer. */
pageRoutes.get('/p/:slug/test-identity/:identity_session_id', (c) =>
  presentPage(c, async (page) => {
    await hitBucket(c, 'payload', '');
    const sessionId = c.req.param('identity_session_id') as IdentitySessionId;
    if (!UUID.test(sessionId)) throw new ApiError('not_found');
    const shard = homeOf(c.var.ctx, sessionId);
    const { identifyAtPage } = await import('#features/sandbox/page-identity.ts');
    await identifyAtPage(shard, sessionId);
    return sendTestIdentity(page);
  }),
);

pageRoutes.get('/r/:receipt_id', (c) =>
  presentPage(c, async (page) => {
    await hitBucket(c, 'receipt', '');
    const receiptId = c.req.param('receipt_id');
    if (!UUID.test(receiptId)) throw new ApiError('not_found');
    return readNear(homeOf(c.var.ctx, receiptId), async (ctx) => {
      const { receipt, isOrphaned } = await getReceiptWithOutcome(ctx, receiptId as ReceiptId);
      const [sellerDomain, authorizationId, account, payment] = await Promise.all([
        findVerifiedDomain(ctx.db, receipt.merchantId),
        findCollectedBy(ctx.db, receipt.paymentId),
        findAccount(ctx.db, receipt.merchantId),
        findPayment(ctx, receipt.paymentId),
      ]);
      const access = payment && (await loadBuyersAccess(ctx, payment, undefined));
      return sendReceipt(page, receipt, {
        isOrphaned,
        sellerDomain,
        authorizationId,
        accessUntil: access?.access_until ?? null,
        brand: account?.merchantSettings ?? {},
      });
    });
  }),
);

pageRoutes.get('/s/:authorization_id', (c) =>
  presentPage(c, async (page) => {
    await hitBucket(c, 'receipt', '');
    const authorizationId = c.req.param('authorization_id');
    if (!isAuthorizationId(authorizationId)) throw new ApiError('not_found');
    const { db } = homeOf(c.var.ctx, authorizationId);
    const row = await findAuthorization(db, authorizationId);
    if (row === null) throw new ApiError('not_found');
    return sendSubscription(page, row);
  }),
);

/** Pages for merchants. They contain no account data: their scripts load it with the browser's session. */
const MERCHANT_PAGES = {
  '/login': sendLogin,
  '/sign': sendSigning,
  '/verify-email': sendEmailLink('verify'),
  '/reset-password': sendEmailLink('reset'),
  '/sign-in': sendEmailLink('sign_in'),
  '/invitation': sendEmailLink('invitation'),
  '/not-me': sendEmailLink('not_me'),
};
for (const [path, send] of Object.entries(MERCHANT_PAGES)) {
  pageRoutes.get(`${path}/*`, redirectToCanonical);
  pageRoutes.get(path, underCeiling, (c) => presentPage(c, send));
}

/** Every other path below these prefixes answers 404 as a page. */
for (const path of ['/p', '/p/*', '/r', '/r/*', '/s', '/s/*'])
  pageRoutes.get(path, (c) => presentPage(c, async () => Promise.reject(new ApiError('not_found'))));

function sendTestIdentity(page: PageContext): Response {
  const title = page.say('testIdentity');
  return sendPage(
    page,
    { title, layout: 'receipt' },
    <main class="panel test-frame">
      <p class="test-mark">{page.say('testPage')}</p>
      <Mark kind="done" />
      <h1>{title}</h1>
      <p>{page.say('testIdentityHelp')}</p>
    </main>,
  );
}
