import type { Locale } from '#core/locales.ts';
import account from './account/en.json';
import en from './en.json';
import me from './me/en.json';
import signing from './signing/en.json';
import subscribing from './subscribing/en.json';

/** Text keys of buyers' pages and of all pages. `{name}` in a text is a value. Every language has exactly these keys. */
export type TextKey = keyof typeof en;
export type Dictionary = Record<TextKey, string>;
type AccountKey = keyof typeof account;
export type AccountTexts = Record<AccountKey, string>;
export type SubscribingKey = keyof typeof subscribing;
type SubscribingTexts = Record<SubscribingKey, string>;
export type SigningKey = keyof typeof signing;
type SigningTexts = Record<SigningKey, string>;

export type MeKey = keyof typeof me;
export type MeTexts = Record<MeKey, string>;

/** English is bundled. Every other language is a module loaded on first use. */
type Dictionaries<Texts> = Record<Exclude<Locale, 'en'>, () => Promise<{ default: Texts }>>;

const load = async <Texts>(locale: Locale, english: Texts, others: Dictionaries<Texts>): Promise<Texts> =>
  locale === 'en' ? english : (await others[locale]()).default;

export const loadDictionary = (locale: Locale): Promise<Dictionary> =>
  load<Dictionary>(locale, en, {
    es: () => import('./es.json'),
    de: () => import('./de.json'),
    fr: () => import('./fr.json'),
    'pt-BR': () => import('./pt-br.json'),
    ja: () => import('./ja.json'),
  });

export const loadAccountTexts = (locale: Locale): Promise<AccountTexts> =>
  load<AccountTexts>(locale, account, {
    es: () => import('./account/es.json'),
    de: () => import('./account/de.json'),
    fr: () => import('./account/fr.json'),
    'pt-BR': () => import('./account/pt-br.json'),
    ja: () => import('./account/ja.json'),
  });

export const loadSubscribingTexts = (locale: Locale): Promise<SubscribingTexts> =>
  load<SubscribingTexts>(locale, subscribing, {
    es: () => import('./subscribing/es.json'),
    de: () => import('./subscribing/de.json'),
    fr: () => import('./subscribing/fr.json'),
    'pt-BR': () => import('./subscribing/pt-br.json'),
    ja: () => import('./subscribing/ja.json'),
  });

export const loadSigningTexts = (locale: Locale): Promise<SigningTexts> =>
  load<SigningTexts>(locale, signing, {
    es: () => import('./signing/es.json'),
    de: () => import('./signing/de.json'),
    fr: () => import('./signing/fr.json'),
    'pt-BR': () => import('./signing/pt-br.json'),
    ja: () => import('./signing/ja.json'),
  });

export const loadMeTexts = (locale: Locale): Promise<MeTexts> =>
  load<MeTexts>(locale, me, {
    es: () => import('./me/es.json'),
    de: () => import('./me/de.json'),
    fr: () => import('./me/fr.json'),
    'pt-BR': () => import('./me/pt-br.json'),
    ja: () => import('./me/ja.json'),
  });
