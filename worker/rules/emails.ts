import type { MoneyResource } from '#core/money.ts';
import type { GivenRole } from './access/roles.ts';

export interface EmailFacts {
  verify_email: { account: string; created_at: string };
  reset_password: Record<never, never>;
  /** `ip`: address from which the right password came. */
  sign_in_link: { at: string; ip: string };
  many_wrong_passwords: { at: string; failed: number };
  /** To an address that purchases name. */
  buyer_link: Record<never, never>;
  /** `buyer`: wallet or address that proved itself, or the customer's own name. `customer_id`: first of those to erase. */
  buyer_erasure: { buyer: string; customer_id: string; at: string };
  invitation: { account: string; inviter: string; role: GivenRole; expires_at: string };
  /** `expires_at`: end of the offer. Without it, the account was handed over. */
  ownership_transfer: { account: string; from: string; to: string; at: string; expires_at?: string };
  account_claimed: { at: string; keys: number; endpoints: number; providers: number; wallets: number };
  payout_changed: { wallet: string | null; previous: string | null; paid_for: string; at: string };
  /** `ip`, `country`, `user_agent`: caller who made the change. */
  security_alert: {
    change: SecurityChange;
    at: string;
    named?: string;
    ip?: string;
    country?: string;
    user_agent?: string;
    session_id?: string;
    /** The hour allows no further one about such a change. */
    is_final?: true;
  };
  /** `ends_at`: time at which the factors end, not later than `at` once they have. */
  factors_reset: { change: 'factors_reset'; at: string; ends_at: string };
  passkey_suspect: { named: string; at: string };
  plan_due: { plan: string; through: string };
  plan_renews: { plan: string; through: string };
  endpoint_failing: { url: string; since: string; disables_at: string };
  endpoint_disabled: { url: string };
  payment_unmatched: { amount: MoneyResource; payment_id: string };
  payment_refunded: { amount: MoneyResource; payment_id: string };
  /** `platform`: platform that delivers access, by its common name. The invitation itself is not part of an email's facts. */
  buyer_receipt: {
    receipt_id: string;
    product: string;
    seller: string;
    amount: MoneyResource;
    platform?: string;
    authorization_id?: string;
    paid_at: string;
    access_until?: string;
    /** Absent if nothing further is charged. */
    next_charge_at?: string;
    help?: string;
    accent?: string;
  };
  /** `is_to_stranger`: no buyer of the receipt gave the address. Such emails have a limit of their own. */
  receipt_proof: {
    receipt_id: string;
    product: string;
    seller: string;
    amount: MoneyResource;
    name?: string;
    message?: string;
    is_to_stranger?: true;
  };
  /** To the buyer. `slug` links to the product's page, `authorization_id` to the cancellation page. */
  subscription_renews: Omit<SubscriptionFacts, 'slug'> & { amount: MoneyResource; at: string };
  subscription_past_due: SubscriptionFacts & { amount: MoneyResource };
  subscription_reapprove: SubscriptionFacts & { amount: MoneyResource };
  subscription_cancelled: SubscriptionFacts & { through: string };
  /** Ended by the merchant, not on the chain. */
  subscription_stopped: Omit<SubscriptionFacts, 'slug'> & { through: string };
  ticket_asked: { ticket_id: string };
  ticket_answered: { ticket_id: string; subject: string; message: string };
  /** Staff get no subject: the subject belongs to the merchant and is erased with the account. */
  ticket_resolved: { ticket_id: string; subject?: string };
  ticket_closed: { ticket_id: string; subject?: string };
}

/** Change that a link of an email takes back. */
export type DisputedChange = SecurityChange | 'payout' | 'factors_reset' | 'transfer';

/** Change that the owner is notified of regardless of preferences. */
export type SecurityChange =
  | 'email'
  | 'password'
  | 'provider_linked'
  | 'provider_unlinked'
  | 'passkey_added'
  | 'passkey_removed'
  | 'totp_added'
  | 'totp_removed'
  | 'recovery_codes'
  | 'recovery_code_used'
  | 'live_key'
  | 'live_key_widened'
  | 'endpoint_added'
  | 'new_sign_in'
  | 'admin_added';

interface SubscriptionFacts {
  slug: string;
  authorization_id: string;
  product: string;
  seller: string;
}
export type EmailTemplate = keyof EmailFacts;

/** True for an email to an address that a stranger may have named. A complaint about one counts against its merchant. */
export const isCounted = (template: EmailTemplate): boolean => template === 'buyer_receipt' || template === 'receipt_proof';

export const MAIL_PROVIDERS = ['cloudflare', 'resend', 'local'] as const;
export type MailProviderName = (typeof MAIL_PROVIDERS)[number];

export const NOTIFICATION_PREFS = ['webhooks', 'payouts', 'renewals', 'buyer_receipts', 'product_news'] as const;
export type NotificationPref = (typeof NOTIFICATION_PREFS)[number];
export type NotificationPrefs = Record<NotificationPref, boolean>;
/** All are on by default. */
export const prefsOf = (stored: Partial<Record<string, boolean>>): NotificationPrefs =>
  Object.fromEntries(NOTIFICATION_PREFS.map((name) => [name, stored[name] ?? true])) as NotificationPrefs;
