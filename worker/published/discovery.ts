import {
  BODY_KB,
  COUNTED_FILTERED_MAX,
  COUNTED_ROWS_MAX,
  IDEMPOTENCY_KEY,
  LIFE,
  METADATA,
  OWN_NAME_MAX,
  PER_PAGE,
  TIMELINE,
} from '#core/limits.ts';
import { parseAmount } from '#core/money.ts';
import { activationPath } from '#features/agent-setup/next-actions.ts';
import { feePayersOf } from '#platform/chain/fee-payer.ts';
import { type Ctx, hasX402 } from '#platform/context.ts';
import { CHALLENGE_SECONDS } from '#protocols/x402/challenge.ts';
import { COMPUTE_CAPS } from '#protocols/x402/exact.ts';
import { type PaymentRequirements, X402_VERSION } from '#protocols/x402/wire.ts';
import {
  ADDRESS_CEILINGS,
  OPEN_SESSIONS_WITHOUT_WALLET,
  PAID_PLANS,
  PAYER_LIMITS,
  PLAN_NAMES,
  PLANS,
  PUBLIC_BUCKETS,
  type PublicBucket,
} from '#rules/plans.ts';
import { servedRails } from '#rules/product-rails.ts';
import { RAILS } from '#rules/rails.ts';

/** Machine-readable discovery of prices and limits, derived from the published document and the plans. */
export interface PublishedDocument {
  paths?: Record<string, object>;
  tags?: { name: string; externalDocs?: { url: string } }[];
}

/** `x-payment-info` of an operation, advisory: the protocol that its 402 answer speaks. The 402 answer decides. */
interface PaymentInfo {
  price: { mode: 'fixed'; currency: 'USD'; amount: string } | { mode: 'dynamic'; currency: 'USD' };
  protocols: ({ x402: Record<string, never> } | { mpp: MppTerms })[];
  offers?: (MppTerms & { amount: null })[];
}
interface MppTerms {
  method: 'solana';
  intent: 'session';
  /** Mint of USDC. */
  currency: string;
}

export interface PublishedOperation {
  operationId: string;
  summary?: string;
  description?: string;
  tags?: string[];
  responses: Record<string, unknown>;
  'x-payment-info'?: PaymentInfo;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

export const operationsOf = ({ paths = {} }: PublishedDocument): { method: string; path: string; operation: PublishedOperation }[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, PublishedOperation>)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );

const fixedPrices = new Map(PAID_PLANS.map((plan) => [activationPath(plan), PLANS[plan].priceUsdc]));

/** Names price and protocol of each operation that answers 402: plans by x402, metered sessions by MPP. */
export function withPaymentInfo<D extends PublishedDocument>(document: D, usdcMint: string): D {
  const priced = (path: string, operation: PublishedOperation): PublishedOperation =>
    operation.responses['402'] ? { ...operation, 'x-payment-info': paymentInfo(fixedPrices.get(path), usdcMint) } : operation;
  const paths = Object.entries(document.paths ?? {}).map(([path, methods]) => {
    const operations = Object.entries(methods as Record<string, PublishedOperation>);
    return [path, Object.fromEntries(operations.map(([method, operation]) => [method, priced(path, operation)]))];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

function paymentInfo(amount: string | undefined, usdcMint: string): PaymentInfo {
  if (amount !== undefined) return { price: { mode: 'fixed', currency: 'USD', amount }, protocols: [{ x402: {} }] };
  const terms: MppTerms = { method: 'solana', intent: 'session', currency: usdcMint };
  return { price: { mode: 'dynamic', currency: 'USD' }, protocols: [{ mpp: terms }], offers: [{ ...terms, amount: null }] };
}

/** Requirements of a fixed price's 402 answer, without the memo, which is new in every challenge. */
function acceptsOf({ config }: Ctx, amount: string): PaymentRequirements[] {
  const price = parseAmount('USDC', amount);
  if (!price.ok || config.TREASURY_WALLET === undefined || !hasX402(config)) return [];
  const { caip2: network, usdcMint: asset } = config.network;
  const extra = { feePayer: feePayersOf(config).current, ...COMPUTE_CAPS };
  const payTo = config.TREASURY_WALLET;
  return [{ scheme: 'exact', network, asset, amount: price.value.units.toString(), payTo, maxTimeoutSeconds: CHALLENGE_SECONDS, extra }];
}

/** `/.well-known/x402`: a convention without a standard, so only fields that readers agree on, and links. */
export function x402Discovery(ctx: Ctx, document: PublishedDocument) {
  const { baseUrl, config } = ctx;
  const operations = operationsOf(document);
  const resources = operations.flatMap(({ method, path, operation }) => {
    const amount = fixedPrices.get(path);
    if (amount === undefined) return [];
    const { price } = paymentInfo(amount, config.network.usdcMint);
    const accepts = acceptsOf(ctx, amount);
    const { summary = '' } = operation;
    return accepts.length === 0
      ? []
      : [{ resource: `${baseUrl}${path}`, type: 'http', method, x402Version: X402_VERSION, description: summary, price, accepts }];
  });
  const facilitator = '/v1/access/x402/facilitator';
  const hasFacilitator = hasX402(config) && operations.some(({ path }) => path === `${facilitator}/supported`);
  return {
    x402Version: X402_VERSION,
    name: 'Merchant payments and access on Solana',
    description: 'Sell access by the request and be paid in USDC on Solana. Plans of the service itself are sold by x402.',
    resources,
    ...(hasFacilitator
      ? {
          facilitator: {
            url: `${baseUrl}${facilitator}`,
            catalogue: `${baseUrl}${facilitator}/discovery/resources`,
            search: `${baseUrl}${facilitator}/discovery/search`,
            networks: [config.network.caip2],
            schemes: ['exact'],
            authentication: 'X-Svc-Key',
          },
        }
      : {}),
    rails: servedRails(config).map((railId) => ({
      rail_id: railId,
      name: RAILS[railId].name,
      asset: RAILS[railId].asset,
      network: config.network.caip2,
    })),
    start: { method: 'POST', url: `${baseUrl}/v1/access/agent-bootstrap` },
    notes: [
      'accepts is advisory: pay as the PAYMENT-REQUIRED header of the 402 says, which has a unique memo.',
      "Public x402 clients refuse more than $1 by default: setSpendControls({ maxAmountPerPayment: '$<price>' }).",
    ],
    docs: { openapi: `${baseUrl}/v1/openapi.json`, llms: `${baseUrl}/llms.txt`, reference: `${baseUrl}/v1/docs` },
  };
}

const toPublishedWindows = (buckets: Record<string, PublicBucket>) =>
  Object.fromEntries(Object.entries(buckets).map(([name, { max, windowSeconds }]) => [name, { max, window_seconds: windowSeconds }]));

/** `x-limits` of the document, from the values that the code enforces. Null: unlimited. */
export const publishedLimits = () => ({
  plans: Object.fromEntries(
    PLAN_NAMES.map((plan) => {
      const { activeProductsMax, ...rest } = PLANS[plan];
      return [
        plan,
        {
          price_usdc: rest.priceUsdc,
          active_keys: rest.activeKeysMax,
          active_products: Number.isFinite(activeProductsMax) ? activeProductsMax : null,
          open_sessions_per_product: rest.openSessionsMax,
          webhook_endpoints: rest.enabledEndpointsMax,
          requests_per_minute: rest.requestsPerMinute,
          metered_per_second: rest.meteredPerSecond,
          fee_paid_payments_per_day: rest.feesPerDay,
        },
      ];
    }),
  ),
  public_buckets: toPublishedWindows(PUBLIC_BUCKETS),
  address_ceilings: toPublishedWindows(ADDRESS_CEILINGS),
  payer: { open_payments: PAYER_LIMITS.open, failed_payments: PAYER_LIMITS.failed, window_minutes: PAYER_LIMITS.failedMinutes },
  open_sessions_without_wallet: OPEN_SESSIONS_WITHOUT_WALLET,
  per_page: PER_PAGE,
  timeline: TIMELINE,
  counted_rows: COUNTED_ROWS_MAX,
  counted_filtered_rows: COUNTED_FILTERED_MAX,
  idempotency_key_characters: IDEMPOTENCY_KEY,
  own_name_characters: OWN_NAME_MAX,
  metadata: { keys: METADATA.keysMax, key_characters: METADATA.keyMax, value_characters: METADATA.valueMax },
  body_kilobytes: BODY_KB,
  lifetimes: {
    payment_session_minutes: LIFE.paymentSessionMinutes,
    handoff_minutes: LIFE.handoffMinutes,
    identity_minutes: LIFE.identityMinutes,
    setup_hours: LIFE.setupHours,
    refund_hours: LIFE.refundHours,
  },
});
