import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import { type AppEnv, router } from '#platform/http/openapi.ts';
import { hitBucket } from '#platform/http/rate-limit.ts';
import { fromOwnPage, readForm } from '../forms.ts';
import { type OperationId, Operations, readFile } from './frame/operations.ts';
import { type Definition, openScreen, runAct, sendBare, sendScreen } from './frame/screen.tsx';
import { claimsOf, dropToken, readToken, storeToken } from './frame/session.ts';
import { CONFIRM } from './screens/confirm.tsx';
import { DELIVERY, EVENT } from './screens/deliveries.tsx';
import { KEY, KEYS, NEW_KEY } from './screens/keys.tsx';
import { LOG } from './screens/log.tsx';
import { PAYOUTS } from './screens/office/payouts.tsx';
import { PLAN } from './screens/office/plan.tsx';
import { SANDBOX, SANDBOX_SESSION } from './screens/office/sandbox.tsx';
import { SETTINGS } from './screens/office/settings.tsx';
import { SUPPORT, TICKET } from './screens/office/support.tsx';
import { NEW_PASSKEY } from './screens/passkey.tsx';
import { PAYMENT, PAYMENTS, UNMATCHED } from './screens/payments.tsx';
import { RECEIPT, RECEIPTS } from './screens/receipts.tsx';
import { SECURITY } from './screens/security.tsx';
import { CUSTOMER, CUSTOMERS } from './screens/shop/customers.tsx';
import { HOME } from './screens/shop/home.tsx';
import { NEW_PRODUCT, PRODUCT, PRODUCTS } from './screens/shop/products.tsx';
import { SEARCH } from './screens/shop/search.tsx';
import { SUBSCRIPTION, SUBSCRIPTIONS } from './screens/shop/subscriptions.tsx';
import { TEAM } from './screens/team.tsx';
import { ENDPOINT, WEBHOOKS } from './screens/webhooks.tsx';
import { postInvitation, postSignIn } from './sign-in.ts';

export const SCREENS: Definition[] = [
  ...[HOME, PRODUCTS, NEW_PRODUCT, PRODUCT, CUSTOMERS, CUSTOMER, SUBSCRIPTIONS, SUBSCRIPTION],
  ...[PAYMENTS, PAYMENT, UNMATCHED, RECEIPTS, RECEIPT],
  ...[WEBHOOKS, DELIVERY, EVENT, ENDPOINT, KEYS, NEW_KEY, KEY],
  ...[SANDBOX, SANDBOX_SESSION, PAYOUTS, PLAN, SUPPORT, TICKET, SETTINGS],
  ...[SEARCH, TEAM, LOG, SECURITY, NEW_PASSKEY, CONFIRM],
];

const refuse = (c: Context<AppEnv>, status: number, code: string, detail: string, retryAfter: string | null = null) =>
  sendBare(c, { status, code, detail, requestId: c.var.requestId, retryAfter });

const ofOwnPage = fromOwnPage((c) =>
  refuse(c, 403, 'invalid_authorization', 'The form was not sent by a page of this site. Open the page and send it again.'),
);

/** Counts a page or form of the person, in a bucket that plans do not change. */
const countPage = createMiddleware<AppEnv>(async (c, next) => {
  try {
    await hitBucket(c, c.req.method === 'POST' ? 'forms' : 'pages', claimsOf(readToken(c) ?? '')?.sub ?? '');
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'rate_limited') throw error;
    return refuse(
      c,
      429,
      error.code,
      'Too many pages in a minute. Wait a moment.',
      String(Math.ceil(error.options.retryAfterSeconds ?? 1)),
    );
  }
  return next();
});

/** Pages of the dashboard. They call the published API with the session's token, and nothing else. */
export const dashboardRoutes = router();
for (const path of ['/login', '/invitation', '/dashboard/*']) dashboardRoutes.post(path, ofOwnPage, countPage);
dashboardRoutes.get('/dashboard/*', countPage);

dashboardRoutes.post('/login', async (c) => postSignIn(c, await readForm(c)));
dashboardRoutes.post('/invitation', async (c) => postInvitation(c, await readForm(c)));

for (const definition of SCREENS) {
  dashboardRoutes.get(definition.path, async (c) => {
    const screen = await openScreen(c, definition.acts);
    return screen instanceof Response ? screen : sendScreen(screen, definition);
  });
  dashboardRoutes.post(definition.path, async (c) => {
    const screen = await openScreen(c, definition.acts);
    return screen instanceof Response ? screen : runAct(screen, definition, await readForm(c));
  });
}

/** Files of operations, by their path. */
const FILES: Record<string, OperationId> = {
  '/dashboard/analytics.csv': 'exportAnalytics',
  '/dashboard/customers/:customer_id/export': 'exportCustomer',
  '/dashboard/log.csv': 'exportAuditLog',
  '/dashboard/receipts.csv': 'exportReceipts',
  '/dashboard/receipts/:receipt_id/pdf': 'getPrivateReceiptPdf',
};
for (const [path, id] of Object.entries(FILES))
  dashboardRoutes.get(path, async (c) => {
    const screen = await openScreen(c);
    if (screen instanceof Response) return screen;
    const file = await readFile(c, screen.operations, id, { params: c.req.param(), query: { ...c.req.query(), mode: screen.mode } });
    return file instanceof Response ? file : sendBare(c, file);
  });

/** Ends the session for real, because nothing else holds its token. */
dashboardRoutes.post('/dashboard/sign-out', async (c) => {
  const token = readToken(c);
  if (token !== null) await new Operations(c, token).call('logout', { body: { end: 'session' } });
  dropToken(c);
  return c.redirect('/login?why=out', 303);
});

dashboardRoutes.post('/dashboard/switch', async (c) => {
  const token = readToken(c);
  if (token === null) return c.redirect('/login', 303);
  const { account_id = '' } = await readForm(c);
  const switched = await new Operations(c, token).call<{ token: string }>('switchAccount', { body: { account_id } });
  if (!switched.ok) return sendBare(c, switched);
  storeToken(c, switched.value.token);
  return c.redirect('/dashboard', 303);
});
