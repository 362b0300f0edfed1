import { type Dictionary, en } from './en.ts';

interface Language {
  /** As its speakers know it. */
  name: string;
  /** Its dictionary, a module of its own that is loaded with the first page in that language. */
  load(): Promise<Dictionary>;
}

/**
 * The languages of the hosted pages, by BCP 47 tag. English comes with the pages; the others are modules of their own, each loaded with the
 * first page in that language.
 */
export const LOCALES = {
  en: { name: 'English', load: async () => en },
  es: { name: 'Español', load: async () => (await import('./es.dictionary.js')).es },
  de: { name: 'Deutsch', load: async () => (await import('./de.dictionary.js')).de },
  fr: { name: 'Français', load: async () => (await import('./fr.dictionary.js')).fr },
  'pt-BR': { name: 'Português', load: async () => (await import('./pt-br.dictionary.js')).ptBR },
  ja: { name: '日本語', load: async () => (await import('./ja.dictionary.js')).ja },
} as const satisfies Record<string, Language>;
export type Locale = keyof typeof LOCALES;
export const LOCALE_NAMES = Object.keys(LOCALES) as Locale[];

const languageOf = (tag: string): string => tag.toLowerCase().split(/[-_]/)[0]!;

/** The language we have for a tag: `de-AT` is German, `pt-PT` is nearer to our Portuguese than to English. */
export const findLocale = (tag: string): Locale | null => LOCALE_NAMES.find((known) => languageOf(known) === languageOf(tag)) ?? null;

/** `?locale=` first, then what the browser prefers, then English. */
export function chooseLocale(asked: string | undefined, acceptLanguage: string | undefined): Locale {
  const wishes = (acceptLanguage ?? '')
    .slice(0, 200)
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(';');
      const quality = parameters.map((parameter) => /^\s*q=([01](?:\.\d{0,3})?)\s*$/.exec(parameter)?.[1]).find(Boolean) ?? '1';
      return { tag, quality: Number(quality) };
    })
    .filter(({ tag, quality }) => tag !== '' && quality > 0)
    .sort((a, b) => b.quality - a.quality);
  const tags = [...(asked ? [asked] : []), ...wishes.map(({ tag }) => tag)];
  for (const tag of tags) {
    const locale = findLocale(tag);
    if (locale) return locale;
  }
  return 'en';
}
