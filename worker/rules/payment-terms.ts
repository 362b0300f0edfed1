import type { HandoffId } from '#core/ids.ts';
import type { MoneyResource } from '#core/money.ts';

/**
 * Where a buyer can show who they are and get access: one row a platform, with the fields that tell one place of it from another. The first
 * of them names the chat or guild, which one account claims.
 */
export const PLATFORM_FIELDS = { telegram: ['chat_id'], discord: ['guild_id', 'role_id'] } as const;
export type IdentityProvider = keyof typeof PLATFORM_FIELDS;
export const IDENTITY_PROVIDERS = Object.keys(PLATFORM_FIELDS) as [IdentityProvider, ...IdentityProvider[]];

/** The chat or guild of a place, by the platform's own name. */
export const communityOf = (place: DeliveryPlace): string => place[PLATFORM_FIELDS[place.provider][0]]!;

/** Who renews what was bought: its buyer, by paying again, or the chain, with their consent. */
export const RENEWAL_MODES = ['ONE_OFF', 'AUTOMATIC'] as const;
export type RenewalMode = (typeof RENEWAL_MODES)[number];

/** Where members get access, by the names that its platform gives things. */
export type DeliveryPlace = { readonly provider: IdentityProvider } & Readonly<Record<string, string | undefined>>;

/** Who a buyer proved to be, as the connector of the provider told us. */
export interface ProvenIdentity {
  provider: IdentityProvider;
  providerUserId: string;
  username: string | null;
}

/** The rate a price was converted at. The payment's own end is the quote's end. */
export interface PriceQuote {
  /** The price before it was converted. */
  price: MoneyResource;
  rate: string;
  source: string;
  /** Milliseconds. */
  asOf: number;
}

/** What the buyer was promised when the session began; later edits of the product do not change it. */
export interface PaymentTerms {
  productName: string;
  accessPeriodDays: number | null;
  usageUnits: number | null;
  /** Hours that delivered access outlives paid time; absent where only what is used is sold. */
  graceHours?: number;
  successUrl: string | null;
  /** Vouchers of a metered session promised it, for what was used already: no access follows. */
  isMetered?: true;
  /** The authorization of a native subscription that it is paid by. */
  authorizationId?: string;
  /** A period on chain that it was collected for: the moment it ends, by which access is paid. Milliseconds. */
  periodEndsAt?: number;
  /** The plan’s owner collected it without us, so that its transaction carries no memo of ours. */
  isOwnersCollection?: true;
  /** The channel that paid it out where another party sent the transaction, so that it carries no memo of ours. */
  channelId?: string;
  /** What language the buyer reads (BCP 47), for letters to them. */
  locale?: string;
  /** The customer's reference came from the merchant's server, by a payment session or a hand-off; else it is a buyer's claim. */
  isRefTrusted?: true;
  /** Where the price was converted into the asset that is paid. */
  quote?: PriceQuote;
  /** Where the product asked for it; whether it still does is the product's to say. */
  identity?: ProvenIdentity;
  /** The session it was shown in, by which the buyer's page asks for the invitation. */
  identitySessionId?: string;
  /** The hand-off that it was begun with, which serves for one purchase. */
  handoffId?: HandoffId;
  /** Where the buyer gets access. */
  delivery?: DeliveryPlace;
  /** Of the payment session it was begun in, or of the hand-off the buyer came with. */
  metadata?: Record<string, string>;
}

/** Why a payment failed, in the words that its buyer and its merchant are told. */
export const PAYMENT_FAILURES = {
  session_expired: 'The session ended before a payment arrived.',
  underpaid: 'Less than the price arrived before the session ended.',
  transaction_failed: 'The transaction failed on chain. No money moved.',
  replaced: 'The buyer replaced this payment with another one before anything was signed.',
  collection_failed: 'The first period could not be collected in time. Nothing was charged, and the wallet can revoke its approval.',
} as const;
export type PaymentFailure = keyof typeof PAYMENT_FAILURES;

/** How a payment came about. */
export const PAYMENT_KINDS = ['checkout', 'x402', 'metered', 'renewal', 'recovered'] as const;
export type PaymentKind = (typeof PAYMENT_KINDS)[number];

interface Beginning {
  recoversPaymentId: string | null;
  /** The reference key of its own, of a checkout; what agents pay has none. */
  reference: string;
}

/** Begun as a checkout. A recovered payment has the reference key of the session it had missed. */
export const isSession = ({ recoversPaymentId, reference }: Beginning): boolean => recoversPaymentId === null && reference !== '';

export function kindOf(payment: Beginning & { terms: Pick<PaymentTerms, 'isMetered' | 'authorizationId'> }): PaymentKind {
  if (isSession(payment)) return 'checkout';
  if (payment.recoversPaymentId !== null) return 'recovered';
  if (payment.terms.authorizationId !== undefined) return 'renewal';
  return payment.terms.isMetered ? 'metered' : 'x402';
}
