/** Where a buyer can show who they are. */
export const IDENTITY_PROVIDERS = ['telegram', 'discord'] as const;
export type IdentityProvider = (typeof IDENTITY_PROVIDERS)[number];

/** Who a buyer proved to be, as the connector of the provider told us. */
export interface ProvenIdentity {
  provider: IdentityProvider;
  providerUserId: string;
  username: string | null;
}

/** The rate a price was converted at. The payment's own end is the quote's end. */
export interface PriceQuote {
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
  successUrl: string | null;
  /** What language the buyer reads (BCP 47), for letters to them. */
  locale?: string;
  /** The customer's reference came from the merchant's server, by a payment session or a hand-off; else it is a buyer's claim. */
  isRefTrusted?: true;
  /** Where the price was converted into the asset that is paid. */
  quote?: PriceQuote;
  /** Where the product asked for it; whether it still does is the product's to say. */
  identity?: ProvenIdentity;
  /** Of the payment session it was begun in, or of the hand-off the buyer came with. */
  metadata?: Record<string, string>;
}
