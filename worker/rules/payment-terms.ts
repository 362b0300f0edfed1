import type { HandoffId } from '#core/ids.ts';
import type { MoneyResource } from '#core/money.ts';

/**
 * Platforms for proven identities and delivered access, with the fields that identify a delivery target. The first field names the chat or
 * guild, which one account claims.
 */
export const PLATFORM_FIELDS = { telegram: ['chat_id'], discord: ['guild_id', 'role_id'] } as const;
export type IdentityProvider = keyof typeof PLATFORM_FIELDS;
export const IDENTITY_PROVIDERS = Object.keys(PLATFORM_FIELDS) as [IdentityProvider, ...IdentityProvider[]];

/** Platform id of the target's chat or guild. */
export const communityOf = (target: DeliveryTarget): string => target[PLATFORM_FIELDS[target.provider][0]]!;

/** Renewal by the buyer (another payment) or by the chain (with the buyer's consent). */
export const RENEWAL_MODES = ['ONE_OFF', 'AUTOMATIC'] as const;
export type RenewalMode = (typeof RENEWAL_MODES)[number];

export type DeliveryTarget = { readonly provider: IdentityProvider } & Readonly<Record<string, string | undefined>>;

export interface ProvenIdentity {
  provider: IdentityProvider;
  providerUserId: string;
  username: string | null;
}

/** Rate of the price conversion. The payment expires with the quote. */
export interface PriceQuote {
  price: MoneyResource;
  rate: string;
  source: string;
  asOf: number;
}

/** Terms fixed when the session began. Later edits of the product do not change them. */
export interface PaymentTerms {
  productName: string;
  accessPeriodDays: number | null;
  usageUnits: number | null;
  /** Grace hours of delivered access. Absent if only use is sold. */
  graceHours?: number;
  successUrl: string | null;
  /** Paid by vouchers of a metered session, for past use: no access follows. */
  isMetered?: true;
  authorizationId?: string;
  /** End of the collected period on chain, in ms. Determines the paid access. */
  periodEndsAt?: number;
  /** Collected by the plan's owner without the service: the transaction carries no memo of the service. */
  isOwnersCollection?: true;
  /** Channel of the payout if another party sent the transaction, which then carries no memo of the service. */
  channelId?: string;
  /** Buyer's language (BCP 47) for emails. */
  locale?: string;
  /** The customer reference came from the merchant's server (payment session or hand-off). Otherwise it is the buyer's claim. */
  isRefTrusted?: true;
  quote?: PriceQuote;
  /** Set if the product required an identity at the time. The product may have changed since. */
  identity?: ProvenIdentity;
  identitySessionId?: string;
  /** Hand-off that started the purchase. Valid for one purchase. */
  handoffId?: HandoffId;
  /** Index of the service's reference key in the transaction. Absent for the first one. */
  referenceKey?: number;
  delivery?: DeliveryTarget;
  metadata?: Record<string, string>;
  /** Set by an erasure of the customer: the payment gives no access again. */
  isErased?: true;
  /** Name that the client of an x402 payment gave it. */
  paymentIdentifier?: string;
}

export const PAYMENT_FAILURES = {
  session_expired: 'The session ended before a payment arrived.',
  underpaid: 'Less than the price arrived before the session ended.',
  transaction_failed: 'The transaction failed on chain. No money moved.',
  replaced: 'The buyer replaced this payment with another one before anything was signed.',
  collection_failed: 'The first period could not be collected in time. Nothing was charged, and the wallet can revoke its approval.',
} as const;
export type PaymentFailure = keyof typeof PAYMENT_FAILURES;

export const PAYMENT_KINDS = ['checkout', 'x402', 'metered', 'renewal', 'recovered'] as const;
export type PaymentKind = (typeof PAYMENT_KINDS)[number];

interface Beginning {
  recoversPaymentId: string | null;
  /** Reference key of a checkout. Payments by agents have none. */
  reference: string;
}

/** True for a checkout. A recovered payment has the reference key of the session it missed. */
export const isSession = ({ recoversPaymentId, reference }: Beginning): boolean => recoversPaymentId === null && reference !== '';

export function kindOf(payment: Beginning & { terms: Pick<PaymentTerms, 'isMetered' | 'authorizationId'> }): PaymentKind {
  if (isSession(payment)) return 'checkout';
  if (payment.recoversPaymentId !== null) return 'recovered';
  if (payment.terms.authorizationId !== undefined) return 'renewal';
  return payment.terms.isMetered ? 'metered' : 'x402';
}
