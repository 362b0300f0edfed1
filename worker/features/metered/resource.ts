import { z } from '@hono/zod-openapi';
import { isMeteredSessionId } from '#core/ids.ts';
import { ASSETS, toMoneyResource } from '#core/money.ts';
import { iso, unixSeconds } from '#core/time.ts';
import { CustomerBody } from '#features/entitlements/resource.ts';
import { productRef } from '#features/products/product-ref.ts';
import type { Ctx } from '#platform/context.ts';
import { given, MoneyBody, Timestamp } from '#platform/http/openapi.ts';
import type { Reservation } from '#rules/metered/channel.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import { METERED_SESSION } from '#rules/states.ts';

export const sessionParam = z.object({
  session_id: z
    .string()
    .refine(isMeteredSessionId, 'Not the id of a metered session')
    .openapi({ param: { name: 'session_id', in: 'path' } }),
});

export const UsdcInput = z
  .object({ asset: z.enum(ASSETS), amount: z.string().max(64) })
  .openapi('UsdcInput', { example: { asset: 'USDC', amount: '1' } });

export const MeteredSessionRequest = z
  .object({
    ...productRef,
    customer: CustomerBody.optional(),
    cap: UsdcInput.openapi({ description: 'The most that the buyer may lock up.' }),
    unit_price: UsdcInput.optional().openapi({ description: 'Lets deliveries name units instead of amounts.' }),
    min_voucher_delta: UsdcInput.optional().openapi({ description: 'The least step of a voucher; one base unit by default.' }),
    idle_timeout_seconds: z
      .int()
      .min(60)
      .max(86_400)
      .optional()
      .openapi({ description: 'Closed when it was not used for so long and nothing is reserved; 3600.' }),
    grace_period_seconds: z
      .int()
      .min(300)
      .max(86_400)
      .optional()
      .openapi({ description: 'The least that the channel gives us to settle after its payer asks to close; 900.' }),
    channel_program: z.string().max(64).optional().openapi({ description: 'Address of the payment-channels program, of those we open.' }),
  })
  .openapi('MeteredSessionRequest', {
    example: { product_id: '01a1fc21-d414-7315-8bae-d95e4ff00293', cap: { asset: 'USDC', amount: '1' } },
  });

const NamedCustomer = z.object({ wallet_address: z.string().optional(), customer_ref: z.string().optional() });

export const MeteredSessionBody = z
  .object({
    session_id: z.string(),
    status: z.enum(METERED_SESSION.states),
    product_id: z.uuid(),
    customer: NamedCustomer.optional(),
    channel_id: z.string().optional().openapi({ description: 'Address of the payment channel, once there is one.' }),
    channel_program: z.string(),
    authorize_url: z.string().openapi({ description: 'Where a buyer’s client opens the session, and where it may do all that follows.' }),
    deliveries_url: z.string(),
    commits_url: z.string(),
    challenge: z
      .object({ header: z.string(), request: z.record(z.string(), z.unknown()) })
      .optional()
      .openapi({
        description: 'In the answer that creates the session: the value of `WWW-Authenticate` and what it asks for.',
      }),
    cap: MoneyBody,
    deposit: MoneyBody.openapi({ description: 'What the buyer locked up, as the chain says.' }),
    cumulative: MoneyBody.openapi({ description: 'The highest amount that vouchers promise.' }),
    reserved: MoneyBody.openapi({ description: 'Kept free by deliveries of yours that are not committed.' }),
    settled: MoneyBody.openapi({ description: 'Of the promised amount, what the chain has accepted.' }),
    unit_price: MoneyBody.optional(),
    min_voucher_delta: MoneyBody,
    idle_timeout_seconds: z.int(),
    grace_period_seconds: z.int(),
    payer: z.string().optional(),
    authorized_signer: z.string().optional(),
    expires_at: Timestamp.openapi({ description: 'Until when it can be opened.' }),
    livemode: z.boolean(),
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z.int(),
  })
  .openapi('MeteredSession');
export type MeteredSessionResource = z.infer<typeof MeteredSessionBody>;

const usdc = (units: string) => toMoneyResource({ asset: 'USDC', units: BigInt(units) });
const urlOf = ({ baseUrl }: Pick<Ctx, 'baseUrl'>, sessionId: string, what: 'authorize' | 'deliveries' | 'commits'): string =>
  `${baseUrl}/v1/access/metered-sessions/${sessionId}/${what}`;

export function toMeteredResource(
  ctx: Pick<Ctx, 'baseUrl'>,
  session: MeteredSnapshot & { program: string },
  challenge: MeteredSessionResource['challenge'] | null = null,
): MeteredSessionResource {
  const { sessionId, customer, bound } = session;
  const named =
    customer && ('customerRef' in customer ? { customer_ref: customer.customerRef } : { wallet_address: customer.walletAddress });
  return {
    session_id: sessionId,
    status: session.stage,
    product_id: session.productId,
    ...given('customer', named),
    ...given('channel_id', bound?.channelId ?? null),
    channel_program: session.program,
    authorize_url: urlOf(ctx, sessionId, 'authorize'),
    deliveries_url: urlOf(ctx, sessionId, 'deliveries'),
    commits_url: urlOf(ctx, sessionId, 'commits'),
    ...given('challenge', challenge ?? null),
    cap: usdc(session.cap),
    deposit: usdc(session.deposit),
    cumulative: usdc(session.cumulative),
    reserved: usdc(session.reserved),
    settled: usdc(session.settled),
    ...given('unit_price', session.unitPrice === null ? null : usdc(session.unitPrice)),
    min_voucher_delta: usdc(session.minVoucherDelta),
    idle_timeout_seconds: session.idleSeconds,
    grace_period_seconds: session.gracePeriodSeconds,
    ...given('payer', bound?.payer ?? null),
    ...given('authorized_signer', bound?.authorizedSigner ?? null),
    expires_at: iso(session.expiresAt),
    livemode: session.livemode,
    created_at: iso(session.createdAt),
    updated_at: iso(session.updatedAt),
    version: session.version,
  };
}

/** Names are those of the public clients, except `session_id`. */
export const DirectiveBody = z
  .object({
    amount: z.string().openapi({ description: 'Base units.' }),
    currency: z.string().openapi({ description: 'Mint.' }),
    deliveryId: z.string(),
    expiresAt: z.int().openapi({ description: 'Unix seconds.' }),
    sequence: z.int(),
    sessionId: z.string().openapi({ description: 'Address of the channel.' }),
    commitUrl: z.string(),
    session_id: z.string(),
  })
  .openapi('MeteringDirective');

export const toDirective = (
  ctx: Ctx,
  { deliveryId, amount, sequence, expiresAt }: Omit<Reservation, 'holdsMoney'>,
  { mint, sessionId, bound }: MeteredSnapshot,
): z.infer<typeof DirectiveBody> => ({
  amount: amount.toString(),
  currency: mint,
  deliveryId,
  expiresAt: unixSeconds(expiresAt),
  sequence,
  sessionId: bound!.channelId,
  commitUrl: urlOf(ctx, sessionId, 'commits'),
  session_id: sessionId,
});

export const CommitReceiptBody = z
  .object({
    amount: z.string().openapi({ description: 'What this delivery was paid with, in base units.' }),
    cumulative: z.string(),
    deliveryId: z.string(),
    sessionId: z.string(),
    status: z.enum(['committed', 'replayed']),
    session_id: z.string(),
  })
  .openapi('CommitReceipt');
export type CommitReceipt = z.infer<typeof CommitReceiptBody>;
