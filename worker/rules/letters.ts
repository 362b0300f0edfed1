import type { MoneyResource } from '#core/money.ts';

/** Facts of each letter, by its name: no words and no secrets. A new letter is one line here and one row in letters/letters.ts. */
export interface LetterFacts {
  verify_email: { account: string; created_at: string };
  reset_password: Record<never, never>;
  password_changed: { at: string };
  account_claimed: { at: string; keys: number; endpoints: number; providers: number; wallets: number };
  /** `paid_for`: the product or rail. */
  payout_changed: { wallet: string | null; previous: string | null; paid_for: string; at: string };
  security_alert: { change: SecurityChange; at: string; named?: string };
  plan_due: { plan: string; through: string };
  plan_renews: { plan: string; through: string };
  endpoint_failing: { url: string; since: string; disables_at: string };
  endpoint_disabled: { url: string };
  payment_unmatched: { amount: MoneyResource; payment_id: string };
  payment_refunded: { amount: MoneyResource; payment_id: string };
  /** `platform`: where the buyer gets access, as its people call it. The invitation itself is no fact of a letter. */
  buyer_receipt: {
    receipt_id: string;
    product: string;
    seller: string;
    amount: MoneyResource;
    platform?: string;
    authorization_id?: string;
    paid_at: string;
    access_until?: string;
    /** Page or address where the seller helps. */
    help?: string;
    /** Brand colour of the seller. */
    accent?: string;
  };
  receipt_proof: { receipt_id: string; product: string; seller: string; amount: MoneyResource; name?: string; message?: string };
  /** To the buyer; `slug` leads to the product's page, `authorization_id` to where the subscription can be ended. */
  subscription_renews: Omit<SubscriptionFacts, 'slug'> & { amount: MoneyResource; at: string };
  subscription_past_due: SubscriptionFacts & { amount: MoneyResource };
  subscription_reapprove: SubscriptionFacts & { amount: MoneyResource };
  subscription_cancelled: SubscriptionFacts & { through: string };
  /** Ended by the merchant, not on the chain. */
  subscription_stopped: Omit<SubscriptionFacts, 'slug'> & { through: string };
  ticket_asked: { ticket_id: string };
  ticket_answered: { ticket_id: string; subject: string; message: string };
  /** Staff are told no subject: it is the merchant's, and is erased with them. */
  ticket_resolved: { ticket_id: string; subject?: string };
  /** The same. */
  ticket_closed: { ticket_id: string; subject?: string };
}

/** Change that the owner hears of whatever they switched off. */
export type SecurityChange = 'email' | 'provider_linked' | 'provider_unlinked' | 'live_key' | 'endpoint_added';

interface SubscriptionFacts {
  slug: string;
  authorization_id: string;
  product: string;
  seller: string;
}
export type LetterName = keyof LetterFacts;

/** Providers of mail. Their clients: platform/providers/mail/. */
export const MAIL_PROVIDERS = ['cloudflare', 'resend', 'local'] as const;
export type MailProviderName = (typeof MAIL_PROVIDERS)[number];

/** Letters that a person can switch off. */
export const NOTIFICATION_PREFS = ['webhooks', 'payouts', 'renewals', 'buyer_receipts', 'product_news'] as const;
export type NotificationPref = (typeof NOTIFICATION_PREFS)[number];
export type NotificationPrefs = Record<NotificationPref, boolean>;
/** All are on until they are switched off. */
export const prefsOf = (stored: Partial<Record<string, boolean>>): NotificationPrefs =>
  Object.fromEntries(NOTIFICATION_PREFS.map((name) => [name, stored[name] ?? true])) as NotificationPrefs;
