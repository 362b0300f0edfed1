import { ApiError } from '#core/errors.ts';
import type { Asset } from '#core/money.ts';
import type { Handoff, PaymentSession } from '#platform/db/tables/checkout.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { PaymentTerms, ProvenIdentity } from '#rules/payment-terms.ts';
import { acceptedAssetsOf, checkoutRailIn } from '#rules/product-rails.ts';
import type { RailId } from '#rules/rails.ts';

interface StatedBuyer {
  walletAddress?: string;
  email?: string;
  customerRef?: string;
}

/** Overrides buyer input with hand-off data, except the wallet: the buyer may pay from another. */
export const withHandoff = <T extends StatedBuyer>(input: T, handoff: Handoff): T => ({
  ...input,
  customerRef: handoff.customerRef ?? input.customerRef,
  email: handoff.email ?? input.email,
  walletAddress: input.walletAddress ?? handoff.walletAddress ?? undefined,
});

export type BuyerTerms = Pick<
  PaymentTerms,
  'successUrl' | 'locale' | 'isRefTrusted' | 'identity' | 'identitySessionId' | 'handoffId' | 'authorizationId' | 'metadata'
>;

/** Builds the terms of a payment. The payment session of the merchant's server wins over its hand-off. */
export const buyerTerms = (
  terms: BuyerTerms,
  known: {
    identity: ProvenIdentity | null;
    handoff: Handoff | null;
    session: Pick<PaymentSession, 'customerRef' | 'successUrl' | 'metadata'> | null;
  },
): BuyerTerms => {
  const { identity, handoff, session } = known;
  const metadata = Object.keys(session?.metadata ?? {}).length > 0 ? session!.metadata : handoff?.metadata;
  return {
    ...terms,
    successUrl: session?.successUrl ?? handoff?.successUrl ?? terms.successUrl,
    ...(isRefTrusted(handoff, session) ? { isRefTrusted: true } : {}),
    ...(identity ? { identity } : {}),
    ...(metadata ? { metadata } : {}),
  };
};

/** True if the merchant's server named the customer. A reference given at connect is not proven. */
const isRefTrusted = (handoff: Handoff | null, session: Pick<PaymentSession, 'customerRef'> | null): boolean =>
  (session?.customerRef ?? handoff?.customerRef ?? null) !== null;

/** Throws 422 if a buyer states a reference for a product that accepts it only from the merchant's server. */
export function requireTrusted({ trustedCustomerRef }: Product, claimed: string | undefined, known: Parameters<typeof isRefTrusted>): void {
  if (!trustedCustomerRef || claimed === undefined || isRefTrusted(...known)) return;
  const msg = 'The product accepts it only from the merchant’s server: by payment session or hand-off';
  throw new ApiError('validation_error', { problems: [{ loc: ['body', 'customer_ref'], msg, type: 'untrusted_customer_ref' }] });
}

/** Returns the rail of the asset that the buyer wants to pay in: the price's own, or another that the merchant accepts. Throws 422. */
export function requireRail(product: Product, wanted: Asset): RailId {
  const accepted = acceptedAssetsOf(product);
  if (accepted.includes(wanted)) return checkoutRailIn(product, wanted);
  const problem = { loc: ['body', 'asset'], msg: `Expected ${accepted.join(' or ')}`, type: 'invalid_value' };
  throw new ApiError('validation_error', { problems: [problem] });
}
