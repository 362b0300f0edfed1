import type Stripe from 'stripe';
import { z } from 'zod';
import { secretRing } from '#core/crypto.ts';
import { ApiError, storyOf } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import type { Config, Ctx } from '#platform/context.ts';
import { missingForProcessor, PRICE_NAMES } from '#platform/providers/processor.ts';
import { PAID_PLANS, type PaidPlan } from '#rules/plans.ts';

/** The processor is asked no longer than this for one answer. */
const PATIENCE_MS = 8 * SECOND;
const SECRET_BYTES = 16;
/** A signature is good for so long, before and after its own time. */
const TOLERANCE_SECONDS = 300;

/**
 * 503 billing_not_configured, with what is missing. Selling needs all of it; what was sold is read with the key alone, so that a price that
 * was taken out stops no renewal.
 */
export function requireProcessor({ config }: Ctx, purpose: 'read' | 'sell' = 'read'): void {
  const missing = missingForProcessor(config);
  if (purpose === 'sell' ? missing.length > 0 : config.PROCESSOR_API_KEY === undefined)
    throw new ApiError('billing_not_configured', { meta: { missing } });
}

const pricesOf = (config: Config, plan: PaidPlan): string[] => config[PRICE_NAMES[plan]]?.split(',') ?? [];

/** The price that a plan is sold at. */
export const priceIdOf = (config: Config, plan: PaidPlan): string => pricesOf(config, plan)[0]!;

/**
 * Which plan a price of the processor buys: by its id, which may be one that was sold before, or by the lookup key that the setup gave it.
 * null: neither tells.
 */
export const planOfPrice = (config: Config, { id, lookup_key: key }: Pick<Stripe.Price, 'id' | 'lookup_key'>): PaidPlan | null =>
  PAID_PLANS.find((plan) => pricesOf(config, plan).includes(id)) ?? PAID_PLANS.find((plan) => key?.startsWith(`svc_${plan}_`)) ?? null;

/** The processor's own client, over fetch: loaded with the first call, because most deployments and invocations never need it. */
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

/** The processor knows no such customer: it was deleted there. */
export class CustomerGone extends Error {}

/** A rival was faster: the state this call was made from has changed. */
export class Outrun extends Error {}

/** Like `fromProcessor`, for reads: after a refusal nothing has changed, and the call may be made again. */
export const readProcessor = <T>(ctx: Ctx, call: (processor: Stripe) => Promise<T>): Promise<T> =>
  fromProcessor(ctx, call).catch((error: unknown) => {
    throw error instanceof ApiError && error.code === 'internal_error' ? processorAway() : error;
  });

/**
 * What a call of the processor answers. 503 temporarily_unavailable where it does not answer or cannot now; 503 billing_not_configured
 * where it refuses our key, sells no such price or has no such portal. Throws CustomerGone where it has no such customer, and Outrun where
 * the same idempotency key was used for another call. Every other refusal is 500 internal_error: such a call is a fault of ours, which no
 * repetition mends.
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

/** What the operator configured, and the processor does not know. */
const unusable = (reason: 'key_refused' | 'price_unknown' | 'portal_unknown'): ApiError =>
  new ApiError('billing_not_configured', {
    detail: 'The payment processor refuses the configuration of this deployment. Contact the operator.',
    meta: { reason, missing: [] },
  });

function refusalOf(ctx: Ctx, error: Stripe.errors.StripeError): Error {
  const { statusCode, code, param } = error;
  if (code === 'resource_missing' && param === 'customer') return new CustomerGone();
  if (error.type === 'StripeIdempotencyError') return new Outrun();
  ctx.note(`processor: ${storyOf(error)}`);
  if (statusCode === 401 || statusCode === 403) return unusable('key_refused');
  // One that is not sold any more is refused with other codes.
  if (param?.endsWith('[price]')) return unusable('price_unknown');
  // Without one of ours it takes its default, and says in words alone that there is none.
  if (param === 'configuration' || error.message.startsWith('No configuration provided')) return unusable('portal_unknown');
  // Its own faults and its lack of an answer pass; so do its limit of calls and a lock that another call holds.
  if (statusCode !== undefined && statusCode < 500 && statusCode !== 409 && statusCode !== 429)
    return new ApiError('internal_error', { retryable: false });
  return processorAway();
}

/** 503 temporarily_unavailable: what was to be told or read is as it was before. */
export const processorAway = (): ApiError =>
  new ApiError('temporarily_unavailable', {
    detail: 'The payment processor does not respond. Retry.',
    retryAfterSeconds: 5,
  });

const EventShape = z.object({ id: z.string(), type: z.string(), created: z.number(), data: z.object({ object: z.object({}) }) });
const isEvent = (value: unknown): value is Stripe.Event => EventShape.safeParse(value).success;

/** Whether what was signed is not of a time to come: its client refuses only what is too old. The last `t` is the one it reads. */
function isTimely({ wallNow }: Ctx, signature: string): boolean {
  const times = signature.split(',').flatMap((part) => (part.startsWith('t=') ? [Number.parseInt(part.slice(2), 10)] : []));
  return times.at(-1)! - wallNow / SECOND <= TOLERANCE_SECONDS;
}

/**
 * An event that the processor signed: over the raw bytes, with any of our secrets, within five minutes. 401 webhook_signature_failed
 * for every other one.
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
