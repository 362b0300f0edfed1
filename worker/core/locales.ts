export const LOCALES = {
  en: 'English',
  es: 'Español',
  de: 'Deutsch',
  fr: 'Français',
  'pt-BR': 'Português',
  ja: '日本語',
} as const;
export type Locale = keyof typeof LOCALES;
export const LOCALE_NAMES = Object.keys(LOCALES) as [Locale, ...Locale[]];

const languageOf = (tag: string): string => tag.toLowerCase().split(/[-_]/)[0]!;

/** Supported locale of a tag: `de-AT` maps to German, `pt-PT` to Brazilian Portuguese rather than English. */
export const findLocale = (tag: string): Locale | null => LOCALE_NAMES.find((known) => languageOf(known) === languageOf(tag)) ?? null;

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
