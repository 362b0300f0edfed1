import type Stripe from 'stripe';
import { z } from 'zod';
import { secretRing } from '#core/crypto.ts';
import { ApiError, formatErrorChain } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import type { Config, Ctx } from '#platform/context.ts';
import { missingForProcessor, PRICE_NAMES } from '#platform/providers/processor.ts';
import { PAID_PLANS, type PaidPlan } from '#rules/plans.ts';

const PATIENCE_MS = 8 * SECOND;
const SECRET_BYTES = 16;
const TOLERANCE_SECONDS = 300;

/**
 * Throws 503 billing_not_configured with the missing settings. Selling needs all. Reading needs the key alone, so that a removed price
 * stops no renewal.
 */
export function requireProcessor({ config }: Ctx, purpose: 'read' | 'sell' = 'read'): void {
  const missing = missingForProcessor(config);
  if (purpose === 'sell' ? missing.length > 0 : config.PROCESSOR_API_KEY === undefined)
    throw new ApiError('billing_not_configured', { meta: { missing } });
}

const pricesOf = (config: Config, plan: PaidPlan): string[] => config[PRICE_NAMES[plan]]?.split(',') ?? [];

export const priceIdOf = (config: Config, plan: PaidPlan): string => pricesOf(config, plan)[0]!;

/**
 * Returns the plan of a processor price, by id (also of formerly sold prices) or by the lookup key set at setup. Null for an unknown price.
 */
export const planOfPrice = (config: Config, { id, lookup_key: key }: Pick<Stripe.Price, 'id' | 'lookup_key'>): PaidPlan | null =>
  PAID_PLANS.find((plan) => pricesOf(config, plan).includes(id)) ?? PAID_PLANS.find((plan) => key?.startsWith(`svc_${plan}_`)) ?? null;

/** Loads the processor's client over fetch at the first call, because most invocations never need it. */
export async function openProcessor(ctx: Ctx): Promise<Stripe> {
  requireProcessor(ctx);
  const { default: Client } = await import('stripe');
  const { hostname, port, protocol } = new URL(ctx.config.PROCESSOR_API_URL);
  return new Client(ctx.config.PROCESSOR_API_KEY!, {
    host: hostname,
    protocol: protocol === 'http:' ? 'http' : 'https',
    port: port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port),
    httpClient: Client.createFetchHttpClient(),
    timeout: Math.max(1, Math.min(PATIENCE_MS, ctx.leftMs())),
    maxNetworkRetries: 1,
    telemetry: false,
  });
}

export class CustomerGone extends Error {}

/** A concurrent call changed the state that this call was made from. */
export class Outrun extends Error {}

/** Runs a read. After a refusal nothing has changed, and the call may be retried. */
export const readProcessor = <T>(ctx: Ctx, call: (processor: Stripe) => Promise<T>): Promise<T> =>
  fromProcessor(ctx, call).catch((error: unknown) => {
    throw error instanceof ApiError && error.code === 'internal_error' ? processorAway() : error;
  });

/**
 * Runs a processor call. Throws 503 temporarily_unavailable if the processor does not answer, 503 billing_not_configured for a refused key,
 * unknown price or portal, CustomerGone, Outrun if the idempotency key was used for another call. Any other refusal is a bug here: 500
 * internal_error, not retried.
 */
export async function fromProcessor<T>(ctx: Ctx, call: (processor: Stripe) => Promise<T>): Promise<T> {
  const processor = await openProcessor(ctx);
  try {
    return await call(processor);
  } catch (error) {
    const { StripeError } = (await import('stripe')).default.errors;
    if (!(error instanceof StripeError)) throw error;
    throw refusalOf(ctx, error);
  }
}

const unusable = (reason: 'key_refused' | 'price_unknown' | 'portal_unknown'): ApiError =>
  new ApiError('billing_not_configured', {
    detail: 'The payment processor refuses the configuration of this deployment. Contact the operator.',
    meta: { reason, missing: [] },
  });

function refusalOf(ctx: Ctx, error: Stripe.errors.StripeError): Error {
  const { statusCode, code, param } = error;
  if (code === 'resource_missing' && param === 'customer') return new CustomerGone();
  if (error.type === 'StripeIdempotencyError') return new Outrun();
  ctx.note(`processor: ${formatErrorChain(error)}`);
  if (statusCode === 401 || statusCode === 403) return unusable('key_refused');
  if (param?.endsWith('[price]')) return unusable('price_unknown');
  // Without a configuration the processor uses its default, and reports a missing default only in the message.
  if (param === 'configuration' || error.message.startsWith('No configuration provided')) return unusable('portal_unknown');
  // Retryable: server errors, no answer, rate limit (429) and lock conflict (409).
  if (statusCode !== undefined && statusCode < 500 && statusCode !== 409 && statusCode !== 429)
    return new ApiError('internal_error', { retryable: false });
  return processorAway();
}

export const processorAway = (): ApiError =>
  new ApiError('temporarily_unavailable', {
    detail: 'The payment processor does not respond. Retry.',
    retryAfterSeconds: 5,
  });

const EventShape = z.object({ id: z.string(), type: z.string(), created: z.number(), data: z.object({ object: z.object({}) }) });
const isEvent = (value: unknown): value is Stripe.Event => EventShape.safeParse(value).success;

/** True if the signature is not from the future: the client refuses only old ones. The client reads the last `t`. */
function isTimely({ wallNow }: Ctx, signature: string): boolean {
  const times = signature.split(',').flatMap((part) => (part.startsWith('t=') ? [Number.parseInt(part.slice(2), 10)] : []));
  return times.at(-1)! - wallNow / SECOND <= TOLERANCE_SECONDS;
}

/**
 * Verifies a processor event: signature over the raw bytes, any configured secret, within five minutes. Throws 401
 * webhook_signature_failed.
 */
export async function verifyEvent(ctx: Ctx, raw: Uint8Array, signature: string | undefined): Promise<Stripe.Event> {
  requireProcessor(ctx);
  const { default: Client } = await import('stripe');
  const crypto = Client.createSubtleCryptoProvider();
  for (const secret of secretRing(ctx.config.PROCESSOR_WEBHOOK_SECRETS ?? '', SECRET_BYTES)) {
    try {
      const { webhooks } = await openProcessor(ctx);
      const event: unknown = await webhooks.constructEventAsync(raw, signature ?? '', secret, TOLERANCE_SECONDS, crypto, ctx.wallNow);
      if (isEvent(event) && isTimely(ctx, signature ?? '')) return event;
      break;
    } catch (error) {
      if (!(error instanceof Client.errors.StripeSignatureVerificationError)) break;
    }
  }
  throw new ApiError('webhook_signature_failed');
}
