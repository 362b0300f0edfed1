import { de } from './de.ts';
import { type Dictionary, en } from './en.ts';
import { es } from './es.ts';
import { fr } from './fr.ts';
import { ja } from './ja.ts';
import { ptBR } from './pt-br.ts';

/** The languages of the hosted pages: BCP 47 tag, dictionary, and the name its speakers know it by. */
export const LOCALES = {
  en: { text: en, name: 'English' },
  es: { text: es, name: 'Español' },
  de: { text: de, name: 'Deutsch' },
  fr: { text: fr, name: 'Français' },
  'pt-BR': { text: ptBR, name: 'Português' },
  ja: { text: ja, name: '日本語' },
} as const satisfies Record<string, { text: Dictionary; name: string }>;
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
