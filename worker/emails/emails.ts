import type { Locale } from '#core/locales.ts';
import type { MoneyResource } from '#core/money.ts';
import type { GivenRole } from '#rules/access/roles.ts';
import type { EmailFacts, EmailTemplate, NotificationPref, SecurityChange } from '#rules/emails.ts';
import { formatInstant, formatMoney, plainName } from '../pages/parts/text.ts';
import de from './texts/de.json';
import en from './texts/en.json';
import es from './texts/es.json';
import fr from './texts/fr.json';
import ja from './texts/ja.json';
import ptBR from './texts/pt-br.json';

/** Texts of one email in one language. `{name}` is replaced by its value. */
export interface TemplateTexts {
  subject: string;
  /** Before `lines`, if the values have a `name`. */
  greeting?: string;
  lines: string[];
  /** After `lines`, if the values have a `platform`. */
  entry?: string[];
  /** After `lines`, if the values have `is_final`. */
  more?: string;
  /** Labels of the fact table, in display order. A row without a value is left out. */
  rows?: Record<string, string>;
  button?: string;
  also?: string;
  /** Name of the link to all purchases of the reader. */
  purchases?: string;
}

export type EmailTexts = Readonly<Record<EmailTemplate, TemplateTexts>> & {
  /** `changes`: one sentence per change. `{named}` is the provider, key or URL. */
  readonly security_alert: { readonly changes: Readonly<Record<SecurityChange, string>> };
  readonly factors_reset: { readonly steps: Readonly<Record<'begun' | 'done', string>> };
  readonly ownership_transfer: { readonly states: Readonly<Record<'started' | 'completed', string>> };
  readonly invitation: { readonly roles: Readonly<Record<GivenRole, string>> };
};

export interface EmailDefinition<F> {
  /** Account preference that turns the email off. Null: always sent. */
  pref: NotificationPref | null;
  /** `owner`: the account's verified address. `anyone`: the given address. */
  to: 'owner' | 'anyone';
  /** Sent to a buyer, or to a recipient of the merchant's choice. Counts against the merchant's email limits. */
  isOfMerchant?: true;
  /** Address token for `path`, made while sending and never stored. */
  token?: 'verify' | 'reset' | 'sign_in' | 'invitation' | 'not_me' | 'buyer';
  path?(facts: F, token: string): string;
  alsoPath?(facts: F): string | null;
  /** ISO 8601. Announces a future event, so the email is skipped after this time. */
  until?(facts: F): string;
  values?(facts: F, locale: Locale): Record<string, string>;
  accent?(facts: F): string | undefined;
  /** Text written by the sender, shown line by line as a quotation. */
  quoted?(facts: F): string | undefined;
}

export const TEXTS: Record<Locale, EmailTexts> = { en, es, de, fr, 'pt-BR': ptBR, ja };

/** Page that takes back a change. Without a token, which an unproven address does not get, the page to sign in. */
const notMePath = (_facts: object, token: string): string => (token === '' ? '/login' : `/not-me#token=${token}`);

/** Email to the owner about the end of a paid period. */
const ABOUT_PLAN: EmailDefinition<{ plan: string; through: string }> = {
  pref: 'renewals',
  to: 'owner',
  path: () => '/dashboard/billing',
  until: ({ through }) => through,
  values: ({ plan, through }, locale) => ({ plan: plainName(plan), through: formatInstant(locale, through, 'UTC') }),
};

/** Email to the owner about money of a payment. */
const ABOUT_PAYMENT: EmailDefinition<{ amount: MoneyResource; payment_id: string }> = {
  pref: 'payouts',
  to: 'owner',
  path: ({ payment_id }) => `/dashboard/payments/${payment_id}`,
  values: ({ amount, payment_id }, locale) => ({ amount: formatMoney(locale, amount), payment: plainName(payment_id) }),
};

const replaceNames = (text: string, names: Record<string, string>): string =>
  text.replace(/\{(\w+)\}/g, (_, name: string) => names[name] ?? '');

export const EMAILS: { readonly [N in EmailTemplate]: EmailDefinition<EmailFacts[N]> } = {
  /** Names the account, so that a reader does not verify an address for an account that someone else created with it. */
  verify_email: {
    pref: null,
    to: 'anyone',
    token: 'verify',
    path: (_facts, token) => `/verify-email#token=${token}`,
    values: ({ account, created_at }, locale) => ({ account: plainName(account), created: formatInstant(locale, created_at, 'UTC') }),
  },
  reset_password: {
    pref: null,
    to: 'anyone',
    token: 'reset',
    path: (_facts, token) => `/reset-password#token=${token}`,
  },
  /** Sent for a right password only, after many wrong ones. */
  sign_in_link: {
    pref: null,
    to: 'anyone',
    token: 'sign_in',
    path: (_facts, token) => `/sign-in#token=${token}`,
    values: ({ at, ip }, locale) => ({ at: formatInstant(locale, at, 'UTC'), ip: plainName(ip) }),
  },
  /** No preference turns this email off, because it says that a stranger guesses. */
  many_wrong_passwords: {
    pref: null,
    to: 'anyone',
    path: () => '/login',
    values: ({ at, failed }, locale) => ({ at: formatInstant(locale, at, 'UTC'), failed: String(failed) }),
  },
  buyer_link: {
    pref: null,
    to: 'anyone',
    token: 'buyer',
    path: (_facts, token) => `/me/link?token=${token}`,
  },
  invitation: {
    pref: null,
    to: 'anyone',
    token: 'invitation',
    path: (_facts, token) => `/invitation#token=${token}`,
    until: ({ expires_at }) => expires_at,
    values: ({ account, inviter, role, expires_at }, locale) => ({
      account: plainName(account),
      inviter: plainName(inviter),
      role: TEXTS[locale].invitation.roles[role],
      until: formatInstant(locale, expires_at, 'UTC'),
    }),
  },
  /** No preference turns this email off, because an account thief would. */
  ownership_transfer: {
    pref: null,
    to: 'anyone',
    token: 'not_me',
    path: notMePath,
    values: ({ account, from, to, at, expires_at }, locale) => {
      const { started, completed } = TEXTS[locale].ownership_transfer.states;
      const names = { account: plainName(account), from: plainName(from), to: plainName(to) };
      return {
        account: names.account,
        what: replaceNames(expires_at === undefined ? completed : started, names),
        at: formatInstant(locale, at, 'UTC'),
        ...(expires_at === undefined ? {} : { until: formatInstant(locale, expires_at, 'UTC') }),
      };
    },
  },
  account_claimed: {
    pref: null,
    to: 'anyone',
    path: () => '/login',
    values: ({ at, keys, endpoints, providers, wallets }, locale) => ({
      at: formatInstant(locale, at, 'UTC'),
      keys: String(keys),
      endpoints: String(endpoints),
      providers: String(providers),
      wallets: String(wallets),
    }),
  },
  /** New payout wallet. No preference turns this email off, because an account thief would. */
  payout_changed: {
    pref: null,
    to: 'anyone',
    token: 'not_me',
    path: notMePath,
    values: ({ wallet, previous, paid_for, at }, locale) => ({
      wallet: wallet ?? '—',
      previous: previous ?? '—',
      paidFor: plainName(paid_for),
      at: formatInstant(locale, at, 'UTC'),
    }),
  },
  /** Change of sign-in or of acting credentials. No preference turns this email off, because an account thief would. */
  security_alert: {
    pref: null,
    to: 'anyone',
    token: 'not_me',
    path: notMePath,
    values: ({ change, named, is_final, at, ip, country, user_agent }, locale) => ({
      what: TEXTS[locale].security_alert.changes[change].replace('{named}', () => plainName(named ?? '')),
      ...(is_final ? { is_final: 'true' } : {}),
      at: formatInstant(locale, at, 'UTC'),
      ...(ip === undefined ? {} : { from: country === undefined ? ip : `${ip} (${country})` }),
      ...(user_agent ? { browser: plainName(user_agent) } : {}),
    }),
  },
  /** Removal of all factors by an operator: that it begins, and that it is done. */
  factors_reset: {
    pref: null,
    to: 'anyone',
    token: 'not_me',
    path: notMePath,
    values: ({ at, ends_at }, locale) => {
      const step = TEXTS[locale].factors_reset.steps[ends_at > at ? 'begun' : 'done'];
      return { step: step.replace('{at}', () => formatInstant(locale, ends_at, 'UTC')) };
    },
  },
  /** Counter of a passkey that went back. No preference turns this email off. */
  passkey_suspect: {
    pref: null,
    to: 'anyone',
    path: () => '/login',
    values: ({ named, at }, locale) => ({ named: plainName(named), at: formatInstant(locale, at, 'UTC') }),
  },
  /** A buyer's right, which no preference turns off. */
  buyer_erasure: {
    pref: null,
    to: 'owner',
    path: ({ customer_id }) => `/dashboard/customers/${customer_id}`,
    values: ({ buyer, at }, locale) => ({ buyer: plainName(buyer), at: formatInstant(locale, at, 'UTC') }),
  },
  plan_due: ABOUT_PLAN,
  plan_renews: ABOUT_PLAN,
  endpoint_failing: {
    pref: 'webhooks',
    to: 'owner',
    path: () => '/dashboard/webhooks',
    until: ({ disables_at }) => disables_at,
    values: ({ url, since, disables_at }, locale) => ({
      url: plainName(url),
      since: formatInstant(locale, since, 'UTC'),
      until: formatInstant(locale, disables_at, 'UTC'),
    }),
  },
  endpoint_disabled: {
    pref: 'webhooks',
    to: 'owner',
    path: () => '/dashboard/webhooks',
    values: ({ url }) => ({ url: plainName(url) }),
  },
  payment_unmatched: ABOUT_PAYMENT,
  payment_refunded: ABOUT_PAYMENT,
  buyer_receipt: {
    pref: 'buyer_receipts',
    to: 'anyone',
    isOfMerchant: true,
    path: ({ receipt_id }) => `/r/${receipt_id}`,
    alsoPath: ({ authorization_id: id }) => (id === undefined ? null : `/s/${id}`),
    accent: ({ accent }) => accent,
    values: ({ product, seller, amount, platform, paid_at, access_until, next_charge_at, help }, locale) => ({
      product: plainName(product),
      seller: plainName(seller),
      amount: formatMoney(locale, amount),
      ...(platform === undefined ? {} : { platform }),
      paidAt: formatInstant(locale, paid_at, 'UTC'),
      ...(access_until === undefined || access_until === next_charge_at ? {} : { until: formatInstant(locale, access_until, 'UTC') }),
      ...(next_charge_at === undefined ? {} : { renews: formatInstant(locale, next_charge_at, 'UTC') }),
      ...(help === undefined ? {} : { help: help.replace(/^mailto:/, '') }),
    }),
  },
  receipt_proof: {
    pref: null,
    to: 'anyone',
    isOfMerchant: true,
    path: ({ receipt_id }) => `/r/${receipt_id}`,
    values: ({ product, seller, amount, name = '' }, locale) => ({
      name,
      product: plainName(product),
      seller: plainName(seller),
      amount: formatMoney(locale, amount),
    }),
    quoted: ({ message }) => message,
  },
  subscription_renews: {
    pref: null,
    to: 'anyone',
    isOfMerchant: true,
    path: ({ authorization_id: id }) => `/s/${id}`,
    until: ({ at }) => at,
    values: ({ product, seller, amount, at }, locale) => ({
      product: plainName(product),
      seller: plainName(seller),
      amount: formatMoney(locale, amount),
      at: formatInstant(locale, at, 'UTC'),
    }),
  },
  subscription_past_due: {
    pref: null,
    to: 'anyone',
    isOfMerchant: true,
    path: ({ slug }) => `/p/${slug}`,
    alsoPath: ({ authorization_id: id }) => `/s/${id}`,
    values: ({ product, seller, amount }, locale) => ({
      product: plainName(product),
      seller: plainName(seller),
      amount: formatMoney(locale, amount),
    }),
  },
  subscription_reapprove: {
    pref: null,
    to: 'anyone',
    isOfMerchant: true,
    path: ({ slug }) => `/p/${slug}`,
    alsoPath: ({ authorization_id: id }) => `/s/${id}`,
    values: ({ product, seller, amount }, locale) => ({
      product: plainName(product),
      seller: plainName(seller),
      amount: formatMoney(locale, amount),
    }),
  },
  subscription_cancelled: {
    pref: null,
    to: 'anyone',
    isOfMerchant: true,
    path: ({ slug }) => `/p/${slug}`,
    values: ({ product, seller, through }, locale) => ({
      product: plainName(product),
      seller: plainName(seller),
      through: formatInstant(locale, through, 'UTC'),
    }),
  },
  /** Ended by the merchant. Only the buyer's own wallet can end the on-chain consent, so the link leads there. */
  subscription_stopped: {
    pref: null,
    to: 'anyone',
    isOfMerchant: true,
    path: ({ authorization_id }) => `/s/${authorization_id}`,
    values: ({ product, seller, through }, locale) => ({
      product: plainName(product),
      seller: plainName(seller),
      through: formatInstant(locale, through, 'UTC'),
    }),
  },
  ticket_asked: {
    pref: null,
    to: 'owner',
    path: ({ ticket_id }) => `/dashboard/support/${ticket_id}`,
    values: ({ ticket_id }) => ({ ticket: plainName(ticket_id) }),
  },
  ticket_answered: {
    pref: null,
    to: 'owner',
    path: ({ ticket_id }) => `/dashboard/support/${ticket_id}`,
    values: ({ ticket_id, subject }) => ({ ticket: plainName(ticket_id), subject: plainName(subject) }),
    quoted: ({ message }) => message,
  },
  ticket_resolved: {
    pref: null,
    to: 'owner',
    path: ({ ticket_id }) => `/dashboard/support/${ticket_id}`,
    values: ({ ticket_id, subject }) => ({ ticket: plainName(ticket_id), subject: plainName(subject ?? ticket_id) }),
  },
  ticket_closed: {
    pref: null,
    to: 'owner',
    path: ({ ticket_id }) => `/dashboard/support/${ticket_id}`,
    values: ({ ticket_id, subject }) => ({ subject: plainName(subject ?? ticket_id) }),
  },
};
