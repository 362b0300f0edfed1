import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import type { IdentitySessionId, PaymentId, PaymentSessionId } from '#core/ids.ts';
import { findLocale, LOCALE_NAMES } from '#core/locales.ts';
import { ASSETS } from '#core/money.ts';
import { failureOf } from '#features/payments/confirm/verdict.ts';
import { loadWithProduct } from '#features/payments/payment.ts';
import { type IdentityRequirement, missingIdentity } from '#features/payments/required-identity.ts';
import { getPayment, hasPayment, listUnmatchedOf } from '#features/payments/store.ts';
import { requireNoneInFlight } from '#features/payments/watch/candidates.ts';
import { slugParam } from '#features/products/resource.ts';
import { hasSlug } from '#features/products/store.ts';
import { requireWallet } from '#platform/chain/payees.ts';
import type { Ctx } from '#platform/context.ts';
import { locate } from '#platform/db/directory.ts';
import type { Answer } from '#platform/db/idempotency-record.ts';
import { answerLeased } from '#platform/db/lease.ts';
import { answerOnce, type StoreAnswer } from '#platform/db/once.ts';
import type { Unmatched } from '#platform/db/tables/payments.ts';
import { OwnName } from '#platform/http/bodies/own-fields.ts';
import { ICON_PATH } from '#platform/http/icon.ts';
import { keyedRequest, sendAnswer } from '#platform/http/idempotency-key.ts';
import { idOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { IDENTITY_PROVIDERS } from '#rules/payment-terms.ts';
import { type Checkout, type Connect, connectBuyer, type IdentityNeeded } from './connect.ts';
import { requireBuyer } from './plan-payment.ts';
import { prepareTransaction } from './prepare-transaction.ts';
import { replacePayment } from './replace.ts';
import { ConnectResponse, toConnectResource } from './resource.ts';
import { connectInSession } from './sessions/session.ts';

const LOCALE_MAX = 35;
/** The BCP 47 form of a tag of a language that pages and emails have, also of one in the form of POSIX (`pt_BR.UTF-8`); undefined for any other. */
function localeOf(text: string): string | undefined {
  try {
    const [tag] = Intl.getCanonicalLocales(
      text
        .trim()
        .replace(/[.@].*$/s, '')
        .replaceAll('_', '-'),
    );
    return tag && tag.length <= LOCALE_MAX && findLocale(tag) ? tag : undefined;
  } catch {
    return undefined;
  }
}
const Locale = z
  .string()
  .refine((text) => localeOf(text) !== undefined, `Expected a tag of one of these languages: ${LOCALE_NAMES.join(', ')}`)
  .transform(localeOf)
  .openapi({
    type: 'string',
    description: `The language the buyer reads, as \`pt-BR\` (BCP 47) or \`pt_BR\`: one of ${LOCALE_NAMES.join(', ')}, in any region. It is kept with the payment.`,
    example: 'pt-BR',
  });

const ConnectRequest = z
  .object({
    asset: z.enum(ASSETS).optional(),
    wallet_address: z.string().max(64).optional().openapi({ description: 'With it comes a transaction, ready to sign.' }),
    email: z.email().max(254).optional(),
    customer_ref: OwnName.optional().openapi({
      description:
        "The merchant's own name for the buyer; keys membership and entitlement. Said here it is a claim of the buyer's: it extends a known " +
        'membership and never changes its wallet or e-mail. 422 where the product has `trusted_customer_ref`.',
    }),
    locale: Locale.optional(),
    handoff_token: z.string().max(2048).optional(),
    identity_session_id: idOf<IdentitySessionId>().optional(),
    payment_session_id: idOf<PaymentSessionId>()
      .optional()
      .openapi({ description: 'From POST /v1/access/payment-sessions: its price, customer and success URL win, and it is paid once.' }),
    replaces_payment_id: idOf<PaymentId>()
      .optional()
      .openapi({
        description:
          'A payment of this product that nobody has signed: it fails (`replaced`), and the answer is another in its place, in `asset` or with its ' +
          'time anew. Price, customer, identity, session and hand-off are those of it, whatever else is said here. Money that comes for it all ' +
          'the same is unmatched. 409 `in_flight` while a transaction of it may land.',
      }),
  })
  .openapi('ConnectRequest');

const IdentityNeededResponse = z
  .object({ identity: z.object({ required: z.literal(true), provider: z.enum(IDENTITY_PROVIDERS) }) })
  .openapi('IdentityNeeded', {
    description:
      'The buyer has to show who they are first: POST /v1/products/p/{slug}/identity, then connect again with its identity_session_id.',
  });

// Of a protocol that may grow: it takes fields that we do not know.
const SolanaPayRequest = z.looseObject({ account: z.string().max(64) }).openapi('SolanaPayRequest');

/** Refuses to prepare what could not be paid in time, or whose buyer has not shown the identity the merchant requires. */
function requireOpen(ctx: Ctx, asked: IdentityRequirement): void {
  const { payment } = asked;
  if (payment.status === 'FAILED') throw failureOf(payment);
  if (payment.status === 'CONFIRMED')
    throw new ApiError('state_conflict', { detail: 'This payment is already confirmed.', meta: { reason: 'confirmed' } });
  if (ctx.now > payment.expiresAt) throw new ApiError('session_expired');
  if (payment.terms.authorizationId !== undefined)
    throw new ApiError('state_conflict', { detail: 'What renews itself is not paid by a transfer.', meta: { reason: 'subscription' } });
  const unidentified = missingIdentity(asked);
  if (unidentified) throw unidentified;
}

export const checkoutRoutes = routes('Checkout')
  .public({
    path: 'POST /products/p/{slug}/connect',
    id: 'connectBuyer',
    summary: 'Start a checkout',
    description:
      'Without an asset it begins in the first of accepted_assets of the offer, or over the rail of the payment session. A payment session ' +
      'with a payment under way returns that one. In another asset it is 409 `other_asset` with `payment_id`, unless `replaces_payment_id` names it.',
    bucket: 'connect',
    by: 'slug',
    key: 'optional',
    params: slugParam,
    body: ConnectRequest,
    isBodyOptional: true,
    returns: z.union([ConnectResponse, IdentityNeededResponse]),
    codes: [
      'handoff_secret_mismatch',
      'not_found',
      'setup_not_ready',
      'state_conflict',
      'payment_failed',
      'session_expired',
      'handoff_expired',
      'identity_expired',
      'invalid_wallet_address',
      'identity_verification_required',
      'plan_limit_reached',
      'fee_wallet_missing',
      'handoff_not_configured',
      'price_unavailable',
      'rpc_unavailable',
    ],
    check: ({ body: { wallet_address: wallet } }) => wallet !== undefined && requireWallet(wallet),
    shard: ({ ctx, params }) => locate(ctx, ({ db }) => hasSlug(db, params.slug)),
    respond: async ({ c, shard, params, body }) => {
      const { payment_session_id: sessionId, replaces_payment_id: replaced } = body;
      const buyer: Connect = {
        slug: params.slug,
        asset: body.asset,
        email: body.email,
        locale: body.locale,
        walletAddress: body.wallet_address,
        customerRef: body.customer_ref,
        handoffToken: body.handoff_token,
        identitySessionId: body.identity_session_id,
      };
      // Nothing was begun where a buyer has to show who they are first.
      const present = (checkout: Checkout | IdentityNeeded, unmatched: Unmatched[] = []): Answer =>
        'provider' in checkout
          ? { status: 200, body: { identity: { required: true, provider: checkout.provider } }, isFinished: false }
          : { status: 200, body: toConnectResource(shard, checkout, unmatched) };
      // A payment that a session holds already may have been paid in part.
      const presentHeld = async (checkout: Checkout | IdentityNeeded): Promise<Answer> =>
        present(checkout, 'provider' in checkout ? [] : await listUnmatchedOf(shard.db, [checkout.payment.id]));
      const request = await keyedRequest(c);
      if (sessionId && !replaced)
        return sendAnswer(c, await answerLeased(shard, request, () => connectInSession(shard, buyer, sessionId), presentHeld));
      const begin = (storeAnswer: StoreAnswer<Checkout>) =>
        replaced ? replacePayment(shard, buyer, replaced, storeAnswer) : connectBuyer(shard, buyer, storeAnswer);
      return sendAnswer(c, await answerOnce<Checkout | IdentityNeeded>(shard, request, begin, present));
    },
  })
  .public({
    path: 'GET /pay/{payment_id}/solana-pay',
    id: 'getSolanaPay',
    summary: 'Get a Solana Pay label',
    description: 'Solana Pay transaction request: who asks.',
    bucket: 'status',
    by: 'payment_id',
    returns: z.object({ label: z.string(), icon: z.url() }).openapi('SolanaPayLabel'),
    codes: ['not_found'],
    shard: ({ ctx, params }) => locate(ctx, (shard) => hasPayment(shard, params.payment_id)),
    answer: async ({ shard, params }) => {
      const payment = await getPayment(shard, params.payment_id);
      return { label: payment.terms.productName, icon: `${shard.baseUrl}${ICON_PATH}` };
    },
  })
  .public({
    path: 'POST /pay/{payment_id}/solana-pay',
    id: 'postSolanaPay',
    summary: 'Make a Solana Pay transaction',
    description: 'Solana Pay transaction request: the transaction to sign.',
    bucket: 'confirm',
    by: 'payment_id',
    body: SolanaPayRequest,
    returns: z.object({ transaction: z.string(), message: z.string() }).openapi('SolanaPayTransaction'),
    codes: [
      'not_found',
      'state_conflict',
      'payment_failed',
      'session_expired',
      'invalid_wallet_address',
      'identity_verification_required',
      'rpc_unavailable',
    ],
    shard: ({ ctx, params }) => locate(ctx, (shard) => hasPayment(shard, params.payment_id)),
    check: ({ body: { account } }) => requireWallet(account, 'account'),
    load: ({ shard, params }) => loadWithProduct(shard, params.payment_id, null),
    owner: ({ payment }) => payment,
    answer: async ({ c, scope, row, body: { account } }) => {
      const { payment } = row;
      requireOpen(scope, row);
      requireBuyer(account, payment.recipientWallet);
      const [{ transaction }] = await Promise.all([prepareTransaction(scope, payment, account), requireNoneInFlight(scope, payment.id)]);
      c.header('Cache-Control', 'no-store');
      return { transaction, message: payment.terms.productName };
    },
  });
