import { ApiError } from '#core/errors.ts';
import type { Asset } from '#core/money.ts';
import type { Handoff, PaymentSession } from '#platform/db/tables/checkout.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { PaymentTerms, ProvenIdentity } from '#rules/payment-terms.ts';
import { acceptedAssetsOf, checkoutRailIn } from '#rules/product-rails.ts';
import type { RailId } from '#rules/rails.ts';

/** What a buyer says of themselves, as far as the merchant's server may know better. */
interface StatedBuyer {
  walletAddress?: string;
  email?: string;
  customerRef?: string;
}

/** Hand-off data wins over what the buyer typed, except the wallet: the buyer may pay from another. */
export const withHandoff = <T extends StatedBuyer>(input: T, handoff: Handoff): T => ({
  ...input,
  customerRef: handoff.customerRef ?? input.customerRef,
  email: handoff.email ?? input.email,
  walletAddress: input.walletAddress ?? handoff.walletAddress ?? undefined,
});

/** What is settled with a buyer before the payment begins; what is sold, and at which rate, is said by the product and the quote. */
export type BuyerTerms = Pick<
  PaymentTerms,
  'successUrl' | 'locale' | 'isRefTrusted' | 'identity' | 'identitySessionId' | 'handoffId' | 'authorizationId' | 'metadata'
>;

/**
 * The terms of a payment with what is known of its buyer, who alone it is sold to. What the payment session of the
 * merchant's server says goes before what its hand-off says.
 */
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

/** True where the merchant's server named the customer. What a buyer says at connect is not proven. */
const isRefTrusted = (handoff: Handoff | null, session: Pick<PaymentSession, 'customerRef'> | null): boolean =>
  (session?.customerRef ?? handoff?.customerRef ?? null) !== null;

/** 422 where a buyer claims a reference at a product that takes it from the merchant's server alone. */
export function requireTrusted({ trustedCustomerRef }: Product, claimed: string | undefined, known: Parameters<typeof isRefTrusted>): void {
  if (!trustedCustomerRef || claimed === undefined || isRefTrusted(...known)) return;
  const msg = 'The product accepts it only from the merchant’s server: by payment session or hand-off';
  throw new ApiError('validation_error', { problems: [{ loc: ['body', 'customer_ref'], msg, type: 'untrusted_customer_ref' }] });
}

/** The rail of the asset a buyer wants to pay in: that of the price, or another the merchant takes. 422. */
export function requireRail(product: Product, wanted: Asset): RailId {
  const accepted = acceptedAssetsOf(product);
  if (accepted.includes(wanted)) return checkoutRailIn(product, wanted);
  const problem = { loc: ['body', 'asset'], msg: `Expected ${accepted.join(' or ')}`, type: 'invalid_value' };
  throw new ApiError('validation_error', { problems: [problem] });
}
