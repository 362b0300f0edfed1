import type { Locale } from '#core/locales.ts';
import account from './account/en.json';
import en from './en.json';
import signing from './signing/en.json';
import subscribing from './subscribing/en.json';

/** Names of the texts of buyers' pages and of all pages together. `{name}` in a text stands for a value; every language has exactly these keys. */
export type TextKey = keyof typeof en;
export type Dictionary = Record<TextKey, string>;
type AccountKey = keyof typeof account;
export type AccountWords = Record<AccountKey, string>;
export type SubscribingKey = keyof typeof subscribing;
type SubscribingWords = Record<SubscribingKey, string>;
export type SigningKey = keyof typeof signing;
type SigningWords = Record<SigningKey, string>;

/** English comes with the pages. Each other language is a module of its own, loaded with the first page in it. */
type Dictionaries<Words> = Record<Exclude<Locale, 'en'>, () => Promise<{ default: Words }>>;

const load = async <Words>(locale: Locale, english: Words, others: Dictionaries<Words>): Promise<Words> =>
  locale === 'en' ? english : (await others[locale]()).default;

/** Returns the texts of buyers' pages in one language, and those that all pages share. */
export const loadDictionary = (locale: Locale): Promise<Dictionary> =>
  load<Dictionary>(locale, en, {
    es: () => import('./es.json'),
    de: () => import('./de.json'),
    fr: () => import('./fr.json'),
    'pt-BR': () => import('./pt-br.json'),
    ja: () => import('./ja.json'),
  });

/** Returns the texts of merchants' pages in one language. Buyers' pages do not carry them. */
export const loadAccountWords = (locale: Locale): Promise<AccountWords> =>
  load<AccountWords>(locale, account, {
    es: () => import('./account/es.json'),
    de: () => import('./account/de.json'),
    fr: () => import('./account/fr.json'),
    'pt-BR': () => import('./account/pt-br.json'),
    ja: () => import('./account/ja.json'),
  });

/** Returns the texts of subscribing and cancelling in one language. */
export const loadSubscribingWords = (locale: Locale): Promise<SubscribingWords> =>
  load<SubscribingWords>(locale, subscribing, {
    es: () => import('./subscribing/es.json'),
    de: () => import('./subscribing/de.json'),
    fr: () => import('./subscribing/fr.json'),
    'pt-BR': () => import('./subscribing/pt-br.json'),
    ja: () => import('./subscribing/ja.json'),
  });

/** Returns the texts for signing a prepared transaction in one language. */
export const loadSigningWords = (locale: Locale): Promise<SigningWords> =>
  load<SigningWords>(locale, signing, {
    es: () => import('./signing/es.json'),
    de: () => import('./signing/de.json'),
    fr: () => import('./signing/fr.json'),
    'pt-BR': () => import('./signing/pt-br.json'),
    ja: () => import('./signing/ja.json'),
  });
