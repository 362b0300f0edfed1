import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import type { IdentitySessionId, PaymentId, PaymentSessionId } from '#core/ids.ts';
import { findLocale, LOCALE_NAMES } from '#core/locales.ts';
import { ASSETS } from '#core/money.ts';
import { failureOf } from '#features/payments/confirm/verdict.ts';
import { loadWithProduct } from '#features/payments/payment.ts';
import { type IdentityRequirement, missingIdentity } from '#features/payments/required-identity.ts';
import { getPayment, listUnmatchedOf } from '#features/payments/store.ts';
import { requireNoSentInFlight } from '#features/payments/watch/candidates.ts';
import { slugParam } from '#features/products/resource.ts';
import { requireWallet } from '#platform/chain/payees.ts';
import type { Ctx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Answer } from '#platform/db/idempotency-record.ts';
import { answerLeased } from '#platform/db/lease.ts';
import { homeOfSlug } from '#platform/db/names/names.ts';
import { answerOnce, type StoreAnswer } from '#platform/db/once.ts';
import type { Unmatched } from '#platform/db/tables/payments.ts';
import { CustomerRef } from '#platform/http/bodies/own-fields.ts';
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
/** Returns the canonical BCP 47 tag of a supported language, also from POSIX form (`pt_BR.UTF-8`). Undefined for any other. */
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
  .openapi({ type: 'string', example: 'pt-BR' })
  .describe(
    `Language of the buyer, such as \`pt-BR\` (BCP 47) or \`pt_BR\`: one of ${LOCALE_NAMES.join(', ')}, in any region. Stored with the payment.`,
  );

const ConnectRequest = z
  .object({
    asset: z
      .enum(ASSETS)
      .optional()
      .describe('Asset that the buyer pays in: one of the product’s `accepted_assets`. Defaults to the asset of the price.'),
    wallet_address: z.string().max(64).optional().describe('Wallet of the buyer. With it, the response contains a transaction to sign.'),
    email: z.email().max(254).optional(),
    customer_ref: CustomerRef.optional().describe(
      'Your own name for the buyer; identifies membership and entitlement. Unverified: it extends a known membership and never changes its wallet or email address. Refused with `trusted_customer_ref`.',
    ),
    locale: Locale.optional(),
    handoff_token: z.string().max(2048).optional().describe('Token of a hand-off, from its link.'),
    identity_session_id: idOf<IdentitySessionId>().optional().describe('Identifier of the session in which a buyer proves their identity.'),
    payment_session_id: idOf<PaymentSessionId>()
      .optional()
      .describe(
        'Payment session from POST /v1/access/payment-sessions. Its price, customer and success URL take precedence. It is paid once.',
      ),
    replaces_payment_id: idOf<PaymentId>()
      .optional()
      .describe(
        'Unsigned payment of this product to replace, in `asset` or with a new expiry. Price, customer, identity, session and hand-off are copied; other fields are ignored. 409 `in_flight` while its transaction may land.',
      ),
  })
  .openapi('ConnectRequest');

const IdentityNeededResponse = z
  .object({
    identity: z.object({
      required: z.literal(true),
      provider: z.enum(IDENTITY_PROVIDERS),
    }),
  })
  .openapi('IdentityNeeded', {
    description:
      'Identity required before payment: call POST /v1/products/p/{slug}/identity, then connect again with its identity_session_id.',
  });

// Loose, because the protocol may add fields.
const SolanaPayRequest = z
  .looseObject({ account: z.string().max(64).describe('Wallet that will sign, as Solana Pay sends it.') })
  .openapi('SolanaPayRequest');

function requireOpen(ctx: Ctx, asked: IdentityRequirement): void {
  const { payment } = asked;
  if (payment.status === 'FAILED') throw failureOf(payment);
  if (payment.status === 'CONFIRMED')
    throw new ApiError('state_conflict', { detail: 'The payment is already confirmed.', meta: { reason: 'confirmed' } });
  if (ctx.now > payment.expiresAt) throw new ApiError('session_expired');
  if (payment.terms.authorizationId !== undefined)
    throw new ApiError('state_conflict', {
      detail: 'The product renews automatically. Use the subscription checkout.',
      meta: { reason: 'subscription' },
    });
  const unidentified = missingIdentity(asked);
  if (unidentified) throw unidentified;
}

export const checkoutRoutes = routes('Checkout', 'products')
  .public({
    path: 'POST /products/p/{slug}/connect',
    id: 'connectBuyer',
    sdk: 'checkout.connect',
    summary: 'Start a checkout',
    description:
      'Starts a checkout, in the first of the offer’s accepted_assets or over the rail of the payment session. A session with a payment in flight returns that payment; for another asset, 409 `other_asset`.',
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
    shard: ({ ctx, params }) => homeOfSlug(ctx, params.slug),
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
      const present = (checkout: Checkout | IdentityNeeded, unmatched: Unmatched[] = []): Answer =>
        'provider' in checkout
          ? { status: 200, body: { identity: { required: true, provider: checkout.provider } }, isFinished: false }
          : { status: 200, body: toConnectResource(shard, checkout, unmatched) };
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
    sdk: false,
    summary: 'Get a Solana Pay label',
    description: 'Returns the label of a Solana Pay transaction request.',
    bucket: 'status',
    by: 'payment_id',
    returns: z
      .object({
        label: z.string().describe('Name of the party that requests the payment.'),
        icon: z.url(),
      })
      .openapi('SolanaPayLabel'),
    codes: ['not_found'],
    shard: ({ ctx, params }) => homeOf(ctx, params.payment_id),
    answer: async ({ shard, params }) => {
      const payment = await getPayment(shard, params.payment_id);
      return { label: payment.terms.productName, icon: `${shard.baseUrl}${ICON_PATH}` };
    },
  })
  .public({
    path: 'POST /pay/{payment_id}/solana-pay',
    id: 'postSolanaPay',
    sdk: false,
    idempotency: 'natural',
    summary: 'Create a Solana Pay transaction',
    description: 'Creates the transaction of a Solana Pay transaction request.',
    bucket: 'confirm',
    by: 'payment_id',
    body: SolanaPayRequest,
    returns: z
      .object({
        transaction: z.string().describe('Solana transaction in base64. Unsigned if the service created it.'),
        message: z.string(),
      })
      .openapi('SolanaPayTransaction'),
    codes: [
      'not_found',
      'state_conflict',
      'payment_failed',
      'session_expired',
      'invalid_wallet_address',
      'identity_verification_required',
      'rpc_unavailable',
    ],
    shard: ({ ctx, params }) => homeOf(ctx, params.payment_id),
    check: ({ body: { account } }) => requireWallet(account, 'account'),
    load: ({ shard, params }) => loadWithProduct(shard, params.payment_id, null),
    owner: ({ payment }) => payment,
    answer: async ({ c, scope, row, body: { account } }) => {
      const { payment } = row;
      requireOpen(scope, row);
      requireBuyer(account, payment.recipientWallet);
      const [{ transaction }] = await Promise.all([prepareTransaction(scope, payment, account), requireNoSentInFlight(scope, payment.id)]);
      c.header('Cache-Control', 'no-store');
      return { transaction, message: payment.terms.productName };
    },
  });
