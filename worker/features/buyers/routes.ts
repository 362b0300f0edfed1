import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import type { AccountId, MembershipId } from '#core/ids.ts';
import { findLocale, LOCALE_NAMES } from '#core/locales.ts';
import { iso } from '#core/time.ts';
import { NonceRequest, NonceResponse, toNonceResource, WalletLoginRequest } from '#features/accounts/wallets/bodies.ts';
import { issueLoginNonce, proveWallet } from '#features/accounts/wallets/proof.ts';
import { askBuyerLink, redeemBuyerLink } from '#features/buyer-sign-in/email-link.ts';
import { type BuyerSession, endBuyerSession, issueBuyerToken, requireBuyerSession } from '#features/buyer-sign-in/token.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { DetailResponse, idOf, idParam, PageQuery, pageOf, type RouteContext, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { AccessBody, BuyerSubscriptionBody, listHeld, listSubscribed, toAccessResource, toSubscriptionResource } from './access.ts';
import { deliverAgain } from './deliver-again.ts';
import { openPortalLink, PORTAL_FLOWS } from './portal.ts';
import { listPurchases, PurchaseBody, toPurchaseResource } from './purchases.ts';
import { listSellers, SellerBody } from './sellers.ts';

const SubjectBody = z
  .object({
    kind: z.enum(['wallet', 'email', 'customer']),
    wallet_address: z.string().optional(),
    email: z.string().optional(),
    account_id: z.uuid().optional(),
    customer_id: z.uuid().optional(),
    livemode: z.boolean().optional(),
  })
  .openapi('BuyerSubject');
const BuyerLinkBody = z.object({ token: z.string().max(4200).describe('Value of `token` in the link.') }).openapi('BuyerLinkToken');
const BuyerTokenBody = z
  .object({ token: z.string(), subject: SubjectBody, expires_at: Timestamp, flow: z.enum(PORTAL_FLOWS).optional() })
  .openapi('BuyerToken');
const BuyerBody = z
  .object({
    subject: SubjectBody,
    sellers: z.array(SellerBody),
    locale: z.enum(LOCALE_NAMES).optional(),
    expires_at: Timestamp,
    return_url: z.string().optional(),
  })
  .openapi('Buyer');

const toTokenBody = ({ token, subject, expiresAt }: Awaited<ReturnType<typeof issueBuyerToken>>) => ({
  token,
  subject,
  expires_at: iso(expiresAt),
});

const security = [{ buyer: [] }];
const codes = ['invalid_authorization'] as const;
const Listing = { ...PageQuery, account_id: idOf<AccountId>().optional().describe('Return only objects of this seller.') };
const asBuyer = { bucket: 'buyer' as const, security, check: ({ c }: { c: RouteContext }) => requireBuyerSession(c) };

type Asked = { ctx: Ctx; checked: BuyerSession; query: { page: number; per_page: number; account_id?: AccountId | undefined } };
/** Reads a list of the sellers that the subject opens. */
async function listing<T, R>(
  { ctx, checked, query }: Asked,
  read: (
    session: BuyerSession,
    sellers: Awaited<ReturnType<typeof listSellers>>,
    page: ReturnType<typeof pageRequest>,
  ) => Promise<{ items: T[]; total: number }>,
  present: (ctx: Ctx, item: T) => R,
) {
  const page = pageRequest(query);
  const sellers = await listSellers(ctx, checked.subject, query.account_id);
  return toPage(page, await read(checked, sellers, page), (item) => present(ctx, item));
}

export const buyerRoutes = routes('Buyers')
  .public({
    path: 'POST /buyer/wallet/nonce',
    id: 'createBuyerNonce',
    sdk: 'buyer.createNonce',
    idempotency: 'natural',
    summary: 'Create a sign-in message',
    description: 'Creates the message by which a wallet sees what it bought. Valid once, for five minutes.',
    bucket: 'nonce',
    body: NonceRequest,
    returns: NonceResponse,
    codes: ['invalid_wallet_address'],
    answer: async ({ ctx, body }) => toNonceResource(await issueLoginNonce(ctx, 'buyer', body.wallet_address), ctx.wallNow),
  })
  .public({
    path: 'POST /buyer/wallet',
    id: 'signInBuyer',
    sdk: 'buyer.signIn',
    idempotency: 'natural',
    summary: 'Sign in as a buyer',
    description: 'Signs a buyer in by the whole signed message, for 24 hours. Makes no account.',
    bucket: 'wallet-login',
    body: WalletLoginRequest,
    returns: BuyerTokenBody,
    codes: ['invalid_credentials', 'invalid_wallet_address'],
    answer: async ({ ctx, body: { wallet_address, signed_message, message_nonce } }) => {
      const login = { walletAddress: wallet_address, signature: signed_message, nonce: message_nonce };
      const proof = await proveWallet(ctx, 'buyer', login);
      // Any site can have a bare nonce signed.
      if (proof?.method !== 'siws') {
        const detail = 'The signature does not match the message, or its nonce was used or has expired. Request a new one.';
        throw new ApiError('invalid_credentials', { detail });
      }
      return toTokenBody(await issueBuyerToken(ctx, { kind: 'wallet', wallet_address }));
    },
  })
  .public({
    path: 'POST /buyer/email-link',
    id: 'sendBuyerLink',
    sdk: 'buyer.sendLink',
    summary: 'Email a link to a buyer',
    description: 'Emails a link to the purchases that name the address. The response is the same for every address.',
    bucket: 'emails',
    body: z
      .object({ email: z.email().max(254), locale: z.string().max(35).optional().describe('Language of the email, such as `en`.') })
      .openapi('BuyerLinkRequest'),
    returns: { 202: { description: 'Accepted', content: { 'application/json': { schema: DetailResponse } } } },
    codes: ['mail_not_configured'],
    shard: ({ ctx }) => globalOf(ctx),
    once: ({ ctx, body: { email, locale } }, storeAnswer) =>
      askBuyerLink(ctx, { email, locale: findLocale(locale ?? '') ?? undefined }, storeAnswer),
    present: () => ({ detail: 'If a purchase names this address, an email was sent to it.' }),
  })
  .public({
    path: 'POST /buyer/email-link/redeem',
    id: 'redeemBuyerLink',
    sdk: 'buyer.redeemLink',
    idempotency: 'none',
    summary: 'Sign in by an emailed link',
    description: 'Signs a buyer in by the link from the email, once, for an hour.',
    bucket: 'email-proof',
    body: BuyerLinkBody,
    returns: BuyerTokenBody,
    codes: ['invalid_credentials'],
    answer: async ({ ctx, body }) =>
      toTokenBody(await issueBuyerToken(ctx, { kind: 'email', email: await redeemBuyerLink(ctx, body.token) })),
  })
  .public({
    path: 'POST /buyer/portal-link/redeem',
    id: 'redeemPortalLink',
    sdk: 'buyer.redeemPortalLink',
    idempotency: 'natural',
    summary: 'Sign in by a portal link',
    description: 'Signs a customer in by the `token` of a portal session’s `url`, for an hour.',
    bucket: 'email-proof',
    body: BuyerLinkBody,
    returns: BuyerTokenBody,
    codes: ['not_found', 'link_expired'],
    answer: async ({ ctx, body }) => {
      const { account: account_id, customer: customer_id, livemode, back, locale, flow } = await openPortalLink(ctx, body.token);
      const subject = { kind: 'customer', account_id, customer_id, livemode } as const;
      const around = { ...(locale && { locale }), ...(back && { return_url: back }) };
      return { ...toTokenBody(await issueBuyerToken(ctx, subject, around)), ...(flow && { flow }) };
    },
  })
  .public({
    path: 'POST /buyer/logout',
    id: 'endBuyerSession',
    sdk: 'buyer.logout',
    idempotency: 'natural',
    summary: 'End the session of a buyer',
    description: 'Ends the session.',
    ...asBuyer,
    returns: DetailResponse,
    codes,
    answer: async ({ ctx, checked }) => {
      await endBuyerSession(ctx, checked);
      return { detail: 'The session has ended.' };
    },
  })
  .public({
    path: 'GET /buyer',
    id: 'getBuyer',
    sdk: 'buyer.get',
    summary: 'Get the session of a buyer',
    description: 'Returns who signed in, and the sellers that the session opens.',
    ...asBuyer,
    returns: BuyerBody,
    codes,
    answer: async ({ ctx, checked: { subject, expiresAt, locale, return_url } }) => ({
      subject,
      sellers: (await listSellers(ctx, subject)).map(({ shown }) => shown),
      ...(locale && { locale }),
      expires_at: iso(expiresAt),
      ...(return_url && { return_url }),
    }),
  })
  .public({
    path: 'GET /buyer/purchases',
    id: 'listBuyerPurchases',
    sdk: 'buyer.listPurchases',
    summary: 'List purchases of a buyer',
    description:
      'Lists confirmed purchases, newest first. A first purchase at a seller appears within a minute, with `account_id` at once.',
    ...asBuyer,
    query: Listing,
    returns: pageOf(PurchaseBody, 'BuyerPurchasePage'),
    codes,
    answer: (call) => listing(call, listPurchases, toPurchaseResource),
  })
  .public({
    path: 'GET /buyer/access',
    id: 'listBuyerAccess',
    sdk: 'buyer.listAccess',
    summary: 'List access of a buyer',
    description: 'Lists what the buyer may use, and what has ended.',
    ...asBuyer,
    query: Listing,
    returns: pageOf(AccessBody, 'BuyerAccessPage'),
    codes,
    answer: (call) => listing(call, listHeld, toAccessResource),
  })
  .public({
    path: 'GET /buyer/subscriptions',
    id: 'listBuyerSubscriptions',
    sdk: 'buyer.listSubscriptions',
    summary: 'List subscriptions of a buyer',
    description: 'Lists native subscriptions, newest first.',
    ...asBuyer,
    query: Listing,
    returns: pageOf(BuyerSubscriptionBody, 'BuyerSubscriptionPage'),
    codes,
    answer: (call) => listing(call, listSubscribed, toSubscriptionResource),
  })
  .public({
    path: 'POST /buyer/memberships/{membership_id}/retry-delivery',
    id: 'retryBuyerDelivery',
    sdk: 'buyer.retryDelivery',
    idempotency: 'natural',
    summary: 'Retry delivery for a buyer',
    description: 'Retries the delivery of access.',
    ...asBuyer,
    params: idParam('membership_id', idOf<MembershipId>()),
    returns: DetailResponse,
    codes: ['invalid_authorization', 'not_found', 'state_conflict'],
    answer: async ({ ctx, checked, params }) => {
      await deliverAgain(ctx, checked, params.membership_id);
      return { detail: 'The delivery is tried again now.' };
    },
  });
