import { z } from '@hono/zod-openapi';
import { isMeteredSessionId } from '#core/ids.ts';
import { toMoneyResource } from '#core/money.ts';
import { iso, unixSeconds } from '#core/time.ts';
import { CustomerBody } from '#features/entitlements/resource.ts';
import { productRef } from '#features/products/product-ref.ts';
import type { Ctx } from '#platform/context.ts';
import { DecimalAmount } from '#platform/http/bodies/own-fields.ts';
import { AssetName, given, Livemode, MoneyBody, ObjectVersion, PayerWallet, ProductUuid, Timestamp } from '#platform/http/openapi.ts';
import type { Reservation } from '#rules/metered/channel.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import { METERED_SESSION } from '#rules/states.ts';

export const sessionParam = z.object({
  session_id: z
    .string()
    .refine(isMeteredSessionId, 'Expected the id of a metered session')
    .openapi({ param: { name: 'session_id', in: 'path' } }),
});

export const UsdcInput = z
  .object({
    asset: AssetName,
    amount: DecimalAmount,
  })
  .openapi('UsdcInput', { example: { asset: 'USDC', amount: '1' } });

export const MeteredSessionRequest = z
  .object({
    ...productRef,
    customer: CustomerBody.optional().describe('Customer: a wallet, or your own name for the customer. Requests name exactly one.'),
    cap: UsdcInput.describe('Maximum deposit of the buyer.'),
    unit_price: UsdcInput.optional().describe('Price of one unit. Allows deliveries to be counted in units.'),
    min_voucher_delta: UsdcInput.optional().describe('Minimum increase from one voucher to the next; one base unit by default.'),
    idle_timeout_seconds: z
      .int()
      .min(60)
      .max(86_400)
      .optional()
      .describe('Seconds without use after which the session is closed, if nothing is reserved; 3600 by default.'),
    grace_period_seconds: z
      .int()
      .min(300)
      .max(86_400)
      .optional()
      .describe('Minimum time to settle after the payer asks to close the channel, in seconds; 900 by default.'),
    channel_program: z
      .string()
      .max(64)
      .optional()
      .describe('Address of the payment-channels program, if this deployment opens channels of it.'),
  })
  .openapi('MeteredSessionRequest', {
    example: { product_id: '01a1fc21-d414-7315-8bae-d95e4ff00293', cap: { asset: 'USDC', amount: '1' } },
  });

const NamedCustomer = z.object({
  wallet_address: z.string().optional(),
  customer_ref: z
    .string()
    .optional()
    .describe(
      'Your own name for the customer: 1 to 180 characters, no control characters, no leading or trailing space. Compared after Unicode NFC.',
    ),
});

export const MeteredSessionBody = z
  .object({
    session_id: z.string(),
    status: z.enum(METERED_SESSION.states),
    product_id: ProductUuid,
    customer: NamedCustomer.optional().describe('Customer: a wallet, or your own name for the customer. Requests name exactly one.'),
    channel_id: z.string().optional().describe('Address of the payment channel, once it exists.'),
    channel_program: z.string().describe('Address of the payment-channels program that owns the channel.'),
    authorize_url: z.string().describe('URL at which the buyer’s client opens, pays, tops up and closes the session.'),
    deliveries_url: z.string().describe('URL at which your server reserves an amount before it delivers.'),
    commits_url: z.string().describe('URL at which the buyer’s client pays for a delivery with a voucher.'),
    challenge: z
      .object({
        header: z.string().describe('Value of `WWW-Authenticate` that asks the buyer to open the channel.'),
        request: z.record(z.string(), z.unknown()),
      })
      .optional()
      .describe(
        'Challenge of the session: the value of `WWW-Authenticate` and its decoded request. Only in the response that creates the session.',
      ),
    cap: MoneyBody.describe('Maximum deposit of the channel.'),
    deposit: MoneyBody.describe('Deposit of the buyer, as recorded on the chain.'),
    cumulative: MoneyBody.describe('Highest amount that vouchers promise.'),
    reserved: MoneyBody.describe('Amount reserved by deliveries that are not paid yet.'),
    settled: MoneyBody.describe('Part of the promised amount that is settled on the chain.'),
    unit_price: MoneyBody.optional().describe('Price of one unit, for deliveries that are counted in units.'),
    min_voucher_delta: MoneyBody.describe('Minimum increase from one voucher to the next.'),
    idle_timeout_seconds: z.int().describe('Seconds without use after which the session is closed, unless an amount is reserved.'),
    grace_period_seconds: z.int().describe('Minimum time to settle after the payer asks to close the channel, in seconds.'),
    payer: PayerWallet.optional(),
    authorized_signer: z.string().optional().describe('Public key that signs the channel’s vouchers.'),
    expires_at: Timestamp.describe('Time until which the session can be opened.'),
    livemode: Livemode,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: ObjectVersion,
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
    amount: z.string().describe('Amount in base units.'),
    currency: z.string(),
    deliveryId: z.string(),
    expiresAt: z.int().describe('Time of expiry in Unix seconds.'),
    sequence: z.int(),
    sessionId: z.string(),
    commitUrl: z.string().describe('URL that accepts the voucher of this delivery.'),
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
    amount: z.string().describe('Amount of this delivery in base units.'),
    cumulative: z.string().describe('Cumulative amount of the voucher in base units.'),
    deliveryId: z.string(),
    sessionId: z.string().describe('Identifier of the session in the protocol: the address of the channel.'),
    status: z.enum(['committed', 'replayed']),
    session_id: z.string(),
  })
  .openapi('CommitReceipt');
export type CommitReceipt = z.infer<typeof CommitReceiptBody>;
