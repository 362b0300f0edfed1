import { MONEY_UNITS_MAX } from '#core/money.ts';
import { findKnownWallets } from '#features/accounts/store.ts';
import type { Sale } from '#features/products/product.ts';
import { type Fix, fixOf } from '#features/products/selling/fixes.ts';
import { type Obstacle, payoutOf, prospectOf } from '#features/products/selling/obstacles.ts';
import { checkX402Ready } from '#features/rails/x402.ts';
import { makeChallenge } from '#features/settlements/challenge.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import { describeCall } from '#protocols/x402/bazaar.ts';
import { isOnOrigin, moveToOrigin } from '#protocols/x402/origins.ts';
import type { PaymentRequired } from '#protocols/x402/wire.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { RESOURCE_URL_MAX, type Requested } from './resource.ts';
import { makeSignIn } from './sign-in.ts';

interface ChallengeRequest {
  /** Default: the page of the product. */
  resource?: Requested | undefined;
  units?: number;
  error?: string;
}

export type SaleChallenge =
  | { ok: true; required: PaymentRequired; header: string }
  | { ok: false; missing: Obstacle | 'units_too_many'; fix: string };

/** Builds a challenge for one purchase of a product, or the reasons why none is possible. Writes nothing. */
export async function makeSaleChallenge(
  ctx: Ctx,
  sale: Sale,
  { resource, units = 1, error }: ChallengeRequest = {},
): Promise<SaleChallenge> {
  const ready = await checkX402Ready(ctx, sale);
  if (!ready.ok) return { ...ready, fix: describeFix(fixOf(ready.missing, X402_RAIL, prospectOf(sale))) };
  const { product } = sale;
  const quantity = quantityFor(product, units);
  if (quantity === null) return { ok: false, missing: 'units_too_many', fix: UNITS_TOO_MANY };
  const sold = {
    livemode: product.livemode,
    merchantId: product.merchantId,
    productId: product.id,
    amount: (product.priceAmount * BigInt(quantity)).toString(),
    payTo: ready.payTo,
    quantity,
    units: product.usageUnits,
    days: product.accessPeriodDays,
  };
  const requested = onOrigin(ctx, sale, resource);
  const { method, toolName, ...info } = requested;
  const described = await describeCall({ url: info.url, method, toolName }, product.discovery);
  const shown = { description: product.name, ...described?.resource, ...info };
  const signIn = makeSignIn(ctx, sale, resource && requested);
  return { ok: true, ...makeChallenge(ctx, sold, shown, { error, bazaar: described?.bazaar ?? null, signIn }) };
}

const pageOf = ({ baseUrl }: Ctx, { product }: Sale): string => `${baseUrl}/p/${product.slug}`;

/** Returns the requested resource on the merchant's origins. Without one it is the page of the product. */
const onOrigin = (ctx: Ctx, sale: Sale, resource: Requested | undefined): Requested =>
  resource ? { ...resource, url: moveToOrigin(resource.url, sale.setting?.origins ?? []) } : { url: pageOf(ctx, sale) };

/** URL of a receipt: of the requested resource, else of the one that the payment echoes if it is the merchant's, else the product's page. */
export function paidUrlOf(ctx: Ctx, sale: Sale, resource: Requested | undefined, echoed: string | null): string {
  const isTheirs = echoed !== null && echoed.length <= RESOURCE_URL_MAX && isOnOrigin(echoed, sale.setting?.origins ?? []);
  return onOrigin(ctx, sale, resource ?? (isTheirs ? { url: echoed } : undefined)).url;
}

/**
 * True if the wallet of a challenge was removed with the account that it belonged to: within the minutes that a challenge lives, the account
 * may pass to another person. A wallet that the merchant replaced is still paid, as the challenge says.
 */
export async function isRevokedPayee({ db }: Shard, sale: Sale, payTo: string): Promise<boolean> {
  const { livemode, merchantId } = sale.product;
  if (!livemode || payTo === payoutOf(prospectOf(sale))) return false;
  return (await findKnownWallets(db, merchantId, payTo)) !== 'this_one';
}

const describeFix = ({ detail, method, path, body }: Fix): string =>
  method ? `${detail} ${method} ${path}${body ? ` ${JSON.stringify(body)}` : ''}` : detail;

const UNITS_TOO_MANY = 'One payment cannot buy that many units. Consume fewer at once, or sell larger packs.';
const PIECE_UNITS_MAX = 1_000_000_000;
const PIECE_DAYS_MAX = 36_600;

/** Returns how many purchases cover these units: a client pays once, so one payment must suffice. Null if that is impossible. */
function quantityFor({ usageUnits, accessPeriodDays, priceAmount }: Sale['product'], units: number): number | null {
  if (usageUnits === null) return 1;
  const quantity = Math.max(1, Math.ceil(units / usageUnits));
  const fits =
    priceAmount * BigInt(quantity) <= MONEY_UNITS_MAX &&
    (quantity === 1 || (usageUnits * quantity <= PIECE_UNITS_MAX && (accessPeriodDays ?? 0) * quantity <= PIECE_DAYS_MAX));
  return fits ? quantity : null;
}
