import { describe, expect, it } from 'vitest';
import { LOCALE_NAMES, type Locale } from '#core/locales.ts';
import { TEXTS } from '#emails/emails.ts';
import { loadAccountTexts, loadDictionary } from '../../worker/pages/locales/dictionaries.ts';

const termPattern = (terms: string): RegExp => new RegExp(`(?<!\\p{L})(?:${terms})(?!\\p{L})`, 'iu');

const textsIn = (terms: unknown): string[] =>
  typeof terms === 'string' ? [terms] : Object.values(terms as object).flatMap((part) => textsIn(part));

/** Familiar forms of address in the languages that have two. Pages and emails use the formal one. */
const FAMILIAR: Partial<Record<Locale, RegExp>> = {
  es: termPattern('tú|tu|tus|te|ti|tuy[oa]s?|has|eres|puedes|quieres'),
  de: termPattern('du|dir|dich|dein\\w*|ihr euch|euch|euer|eure\\w*'),
  fr: termPattern('tu|toi|ton|ta|tes|tien(?:ne)?s?'),
  'pt-BR': termPattern('tu|ti|teus?|tuas?|contigo'),
};

describe('form of address', () => {
  it.each(LOCALE_NAMES.filter((locale) => FAMILIAR[locale]))('every page and email in %s addresses the reader formally', async (locale) => {
    const texts = textsIn([await loadDictionary(locale), await loadAccountTexts(locale), TEXTS[locale]]);
    expect(texts.length).toBeGreaterThan(300);
    expect(texts.filter((text) => FAMILIAR[locale]!.test(text))).toEqual([]);
  });
});
