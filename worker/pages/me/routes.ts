import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import { ApiError } from '#core/errors.ts';
import { type AppEnv, router } from '#platform/http/openapi.ts';
import { hitBucket } from '#platform/http/rate-limit.ts';
import { type OperationId, Operations, type Refusal, readFile } from '../dashboard/frame/operations.ts';
import { sendRefusal } from '../document.tsx';
import { fromOwnPage, readForm } from '../forms.ts';
import { saveDetails, sendDetails } from './details.tsx';
import { openMe, pathIn, sayMe } from './frame.tsx';
import { DONE, sendPurchases } from './purchases.tsx';
import { type BuyerToken, dropBuyer, readBuyer, storeBuyer } from './session.ts';
import { NOTICES, type Notice, sendLinkGone, sendLinkPage, sendSignIn } from './sign-in.tsx';

const refusedForm = async (c: Context<AppEnv>): Promise<Response> => {
  const page = await openMe(c);
  const detail = (await sayMe(page.locale))('fromElsewhere');
  const refusal: Refusal = {
    ok: false,
    ...{ status: 403, code: 'invalid_authorization', detail, problems: [], meta: {} },
    ...{ requestId: c.var.requestId, retryAfter: null },
  };
  return sendSignIn(page, { refusal });
};

/** Counts pages and forms of a caller. */
const countPage = createMiddleware<AppEnv>(async (c, next) => {
  try {
    await hitBucket(c, c.req.method === 'POST' ? 'forms' : 'pages', 'me');
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'rate_limited') throw error;
    return sendRefusal(await openMe(c), 429, error.options.retryAfterSeconds);
  }
  return next();
});

/** Pages of a buyer. They call the published API with the session's token, and nothing else. */
export const meRoutes = router();
meRoutes.use('/me', countPage);
meRoutes.use('/me/*', countPage);
meRoutes.post('/me/*', fromOwnPage(refusedForm));

const toMe = async (c: Context<AppEnv>, query: Record<string, string> = {}): Promise<Response> =>
  c.redirect(pathIn(await openMe(c), '/me', query), 303);

/** Stores the token of a new session. Ends the session that it replaces, because nothing else holds that token. */
async function replaceBuyer(c: Context<AppEnv>, issued: BuyerToken): Promise<void> {
  const replaced = readBuyer(c);
  if (replaced !== null) await new Operations(c, replaced).call('endBuyerSession');
  storeBuyer(c, issued);
}

meRoutes.get('/me', async (c) => {
  const token = readBuyer(c);
  const notice = c.req.query('why');
  const said = DONE.find((one) => one === notice);
  if (token !== null) return sendPurchases(c, token, said ? { said } : {});
  return sendSignIn(await openMe(c), NOTICES.includes(notice ?? '') ? { notice: notice as Notice } : {});
});

meRoutes.post('/me/wallet', async (c) => {
  const { wallet_address = '', signed_message = '', message_nonce = '' } = await readForm(c);
  const body = { wallet_address, signed_message, message_nonce };
  const answer = await new Operations(c, null).call<BuyerToken>('signInBuyer', { body });
  if (!answer.ok) return sendSignIn(await openMe(c), { refusal: answer });
  await replaceBuyer(c, answer.value);
  return toMe(c);
});

meRoutes.post('/me/email', async (c) => {
  const { email = '' } = await readForm(c);
  const page = await openMe(c);
  const answer = await new Operations(c, null).call('sendBuyerLink', { body: { email: email.trim(), locale: page.locale } });
  return answer.ok ? toMe(c, { why: 'linkSent' }) : sendSignIn(page, { refusal: answer, email });
});

/** Status of a link's page: 410 for a used or old link, 404 for one that was never sent. */
const goneStatus = ({ status, meta }: Refusal): number => (status !== 401 ? status : meta.reason === 'expired' ? 410 : 404);

meRoutes.get('/me/link', async (c) => sendLinkPage(await openMe(c), c.req.query('token') ?? ''));
meRoutes.post('/me/link', async (c) => {
  const { token = '' } = await readForm(c);
  const answer = await new Operations(c, null).call<BuyerToken>('redeemBuyerLink', { body: { token } });
  if (!answer.ok) return sendLinkGone(await openMe(c), goneStatus(answer), 'linkGoneHelp');
  await replaceBuyer(c, answer.value);
  return toMe(c);
});

/** Opening the link is enough: it is of the seller’s own page, and works as often as needed in its time. */
meRoutes.get('/me/enter', async (c) => {
  const answer = await new Operations(c, null).call<BuyerToken>('redeemPortalLink', { body: { token: c.req.query('token') ?? '' } });
  if (!answer.ok) return sendLinkGone(await openMe(c), answer.status, 'portalGoneHelp');
  await replaceBuyer(c, answer.value);
  const { flow } = answer.value;
  const at = flow === undefined ? '' : flow === 'cancel' ? '#subscriptions' : '#receipts';
  return c.redirect(`/me${at}`, 303);
});

/** Answers with the session's token, or leads to the ways in. */
const signedIn = (answer: (c: Context<AppEnv>, token: string) => Promise<Response>) => async (c: Context<AppEnv>) => {
  const token = readBuyer(c);
  return token === null ? toMe(c, { why: 'ended' }) : answer(c, token);
};

meRoutes.post(
  '/me/deliver',
  signedIn(async (c, token) => {
    const { membership_id = '' } = await readForm(c);
    const answer = await new Operations(c, token).call('retryBuyerDelivery', { params: { membership_id } });
    return answer.ok ? toMe(c, { why: 'tryingAgain' }) : sendPurchases(c, token, { refusal: answer });
  }),
);

meRoutes.get(
  '/me/details',
  signedIn((c, token) => sendDetails(c, token, c.req.query('account_id') ?? '', { isSaved: c.req.query('why') === 'saved' })),
);
meRoutes.post(
  '/me/details',
  signedIn(async (c, token) => saveDetails(c, token, await readForm(c))),
);

meRoutes.post(
  '/me/erasure',
  signedIn(async (c, token) => {
    const { account_id = '' } = await readForm(c);
    const answer = await new Operations(c, token).call('requestErasure', { body: { account_id } });
    return answer.ok ? toMe(c, { why: 'erasureAsked' }) : sendPurchases(c, token, { refusal: answer });
  }),
);

/** Files as the API answers them. A refusal is a page. */
const sendFile = async (c: Context<AppEnv>, token: string, call: [OperationId, Record<string, string>]): Promise<Response> => {
  const [id, params] = call;
  const file = await readFile(c, new Operations(c, token), id, { params });
  return file instanceof Response ? file : sendPurchases(c, token, { refusal: file });
};
meRoutes.get(
  '/me/export',
  signedIn((c, token) => sendFile(c, token, ['exportBuyer', {}])),
);
meRoutes.get(
  '/me/receipts/:receipt_id/pdf',
  signedIn((c, token) => sendFile(c, token, ['getBuyerReceiptPdf', { receipt_id: c.req.param('receipt_id') ?? '' }])),
);

/** Ends the session for real, because nothing else holds its token. */
meRoutes.post('/me/sign-out', async (c) => {
  const token = readBuyer(c);
  if (token !== null) await new Operations(c, token).call('endBuyerSession');
  dropBuyer(c);
  return toMe(c, { why: 'signedOut' });
});
