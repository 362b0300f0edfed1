import type { Locale } from '#core/locales.ts';
import type { LetterFacts, LetterName, NotificationPref, SecurityChange } from '#rules/letters.ts';
import { formatInstant, formatMoney, plainName } from '../pages/parts/text.ts';
import de from './words/de.json';
import en from './words/en.json';
import es from './words/es.json';
import fr from './words/fr.json';
import ja from './words/ja.json';
import ptBR from './words/pt-br.json';

/** A letter in one language; `{name}` is filled in from its values. */
export interface Words {
  subject: string;
  /** Before its lines, where it is told a `name`. */
  greeting?: string;
  lines: string[];
  /** After its lines, where it is told a `platform`. */
  entry?: string[];
  /** Names of its facts, in their order; each stands where its value is known. */
  rows?: Record<string, string>;
  /** What its link is called. */
  button?: string;
  /** Name of its second link. */
  also?: string;
}

/** Texts of every letter in one language. */
export type LetterWords = Readonly<Record<LetterName, Words>> & {
  /** `changes`: the sentence about each change; `{named}` is the provider, key or URL. */
  readonly security_alert: { readonly changes: Readonly<Record<SecurityChange, string>> };
};

/** One letter: its recipient, its links and the values of its texts. */
export interface Letter<F> {
  /** The preference of the account that switches it off; null: it is always sent. */
  pref: NotificationPref | null;
  /** `owner`: the account's address, once it is verified; `anyone`: the address that was given. */
  to: 'owner' | 'anyone';
  /** Goes to a buyer or to whom the merchant names, and counts against the ceilings of what merchants send. */
  isOfMerchant?: true;
  /** A proof that the address was reached, made when it is sent and stored nowhere; it goes to `path`. */
  token?: 'verify' | 'reset';
  /** Below the service's own address. */
  path?(facts: F, token: string): string;
  /** Path of a second link, which is no button. Null where there is none. */
  alsoPath?(facts: F): string | null;
  /** ISO 8601: from then on it tells of something to come that has passed, and is not sent. */
  until?(facts: F): string;
  values?(facts: F, locale: Locale): Record<string, string>;
  /** Colour of the sender's brand, for its button. */
  accent?(facts: F): string | undefined;
  /** What the sender wrote to the reader, line by line, shown as a quotation. */
  quoted?(facts: F): string | undefined;
}

/** Texts of all letters, by language. */
export const WORDS: Record<Locale, LetterWords> = { en, es, de, fr, 'pt-BR': ptBR, ja };

/** Registry of all letters, one row each. */
export const LETTERS: { readonly [N in LetterName]: Letter<LetterFacts[N]> } = {
  /** Names the account, so that the reader does not confirm their address for one that another person made with it. */
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
  password_changed: {
    pref: null,
    to: 'anyone',
    path: () => '/login',
    values: ({ at }, locale) => ({ at: formatInstant(locale, at, 'UTC') }),
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
  /** New payout wallet. No preference switches it off: a thief of the account would. */
  payout_changed: {
    pref: null,
    to: 'anyone',
    path: () => '/docs#not-you',
    values: ({ wallet, previous, paid_for, at }, locale) => ({
      wallet: wallet ?? '—',
      previous: previous ?? '—',
      paidFor: plainName(paid_for),
      at: formatInstant(locale, at, 'UTC'),
    }),
  },
  /** Change in how the account is opened or what acts for it. No preference switches it off: a thief of the account would. */
  security_alert: {
    pref: null,
    to: 'anyone',
    path: () => '/login',
    values: ({ change, named, at }, locale) => ({
      what: WORDS[locale].security_alert.changes[change].replace('{named}', () => plainName(named ?? '')),
      at: formatInstant(locale, at, 'UTC'),
    }),
  },
  plan_due: {
    pref: 'renewals',
    to: 'owner',
    path: () => '/docs#plan',
    until: ({ through }) => through,
    values: ({ plan, through }, locale) => ({ plan: plainName(plan), through: formatInstant(locale, through, 'UTC') }),
  },
  plan_renews: {
    pref: 'renewals',
    to: 'owner',
    path: () => '/docs#plan',
    until: ({ through }) => through,
    values: ({ plan, through }, locale) => ({ plan: plainName(plan), through: formatInstant(locale, through, 'UTC') }),
  },
  endpoint_failing: {
    pref: 'webhooks',
    to: 'owner',
    path: () => '/docs#endpoints',
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
    path: () => '/docs#endpoints',
    values: ({ url }) => ({ url: plainName(url) }),
  },
  payment_unmatched: {
    pref: 'payouts',
    to: 'owner',
    path: () => '/docs#unmatched',
    values: ({ amount, payment_id }, locale) => ({ amount: formatMoney(locale, amount), payment: payment_id }),
  },
  payment_refunded: {
    pref: 'payouts',
    to: 'owner',
    path: () => '/docs#refunded',
    values: ({ amount, payment_id }, locale) => ({ amount: formatMoney(locale, amount), payment: plainName(payment_id) }),
  },
  buyer_receipt: {
    pref: 'buyer_receipts',
    to: 'anyone',
    isOfMerchant: true,
    path: ({ receipt_id }) => `/r/${receipt_id}`,
    alsoPath: ({ authorization_id: id }) => (id === undefined ? null : `/s/${id}`),
    accent: ({ accent }) => accent,
    values: ({ product, seller, amount, platform, paid_at, access_until, help }, locale) => ({
      product: plainName(product),
      seller: plainName(seller),
      amount: formatMoney(locale, amount),
      ...(platform === undefined ? {} : { platform }),
      paidAt: formatInstant(locale, paid_at, 'UTC'),
      ...(access_until === undefined ? {} : { until: formatInstant(locale, access_until, 'UTC') }),
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
  /** The merchant ended it. The consent on the chain ends only by the buyer's own wallet, to which the link leads. */
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
    path: () => '/docs#tickets',
    values: ({ ticket_id }) => ({ ticket: plainName(ticket_id) }),
  },
  ticket_answered: {
    pref: null,
    to: 'owner',
    path: () => '/docs#tickets',
    values: ({ ticket_id, subject }) => ({ ticket: plainName(ticket_id), subject: plainName(subject) }),
    quoted: ({ message }) => message,
  },
  ticket_resolved: {
    pref: null,
    to: 'owner',
    path: () => '/docs#tickets',
    values: ({ ticket_id, subject }) => ({ ticket: plainName(ticket_id), subject: plainName(subject ?? ticket_id) }),
  },
  ticket_closed: {
    pref: null,
    to: 'owner',
    path: () => '/docs#tickets',
    values: ({ ticket_id, subject }) => ({ subject: plainName(subject ?? ticket_id) }),
  },
};
