import type { Locale } from '#core/locales.ts';
import { type AccountWords, account } from './account/en.ts';
import { type Dictionary, en } from './en.ts';
import { type SigningWords, signing } from './signing/en.ts';
import { type SubscribingWords, subscribing } from './subscribing/en.ts';

/** English comes with the pages; the others are modules of their own, each loaded with the first page in that language. */
const DICTIONARIES: Record<Locale, () => Promise<Dictionary>> = {
  en: async () => en,
  es: async () => (await import('./es.dictionary.js')).es,
  de: async () => (await import('./de.dictionary.js')).de,
  fr: async () => (await import('./fr.dictionary.js')).fr,
  'pt-BR': async () => (await import('./pt-br.dictionary.js')).ptBR,
  ja: async () => (await import('./ja.dictionary.js')).ja,
};

/** The words of buyers' pages in one language, and what all pages share. */
export const loadDictionary = (locale: Locale): Promise<Dictionary> => DICTIONARIES[locale]();

const ACCOUNT_WORDS: Record<Locale, () => Promise<AccountWords>> = {
  en: async () => account,
  es: async () => (await import('./account/es.dictionary.js')).es,
  de: async () => (await import('./account/de.dictionary.js')).de,
  fr: async () => (await import('./account/fr.dictionary.js')).fr,
  'pt-BR': async () => (await import('./account/pt-br.dictionary.js')).ptBR,
  ja: async () => (await import('./account/ja.dictionary.js')).ja,
};

const SUBSCRIBING_WORDS: Record<Locale, () => Promise<SubscribingWords>> = {
  en: async () => subscribing,
  es: async () => (await import('./subscribing/es.dictionary.js')).es,
  de: async () => (await import('./subscribing/de.dictionary.js')).de,
  fr: async () => (await import('./subscribing/fr.dictionary.js')).fr,
  'pt-BR': async () => (await import('./subscribing/pt-br.dictionary.js')).ptBR,
  ja: async () => (await import('./subscribing/ja.dictionary.js')).ja,
};

const SIGNING_WORDS: Record<Locale, () => Promise<SigningWords>> = {
  en: async () => signing,
  es: async () => (await import('./signing/es.dictionary.js')).es,
  de: async () => (await import('./signing/de.dictionary.js')).de,
  fr: async () => (await import('./signing/fr.dictionary.js')).fr,
  'pt-BR': async () => (await import('./signing/pt-br.dictionary.js')).ptBR,
  ja: async () => (await import('./signing/ja.dictionary.js')).ja,
};

/** The words for signing a prepared transaction in one language. */
export const loadSigningWords = (locale: Locale): Promise<SigningWords> => SIGNING_WORDS[locale]();

/** The words of subscribing and cancelling in one language, beside those of buyers' pages. */
export const loadSubscribingWords = (locale: Locale): Promise<SubscribingWords> => SUBSCRIBING_WORDS[locale]();

/** The words of merchants' pages in one language; buyers' pages are not sent them. */
export const loadAccountWords = (locale: Locale): Promise<AccountWords> => ACCOUNT_WORDS[locale]();
