import { describe, expect, it } from 'vitest';
import { LOCALE_NAMES, type Locale } from '#core/locales.ts';
import { WORDS } from '#letters/letters.ts';
import { loadAccountWords, loadDictionary } from '../../worker/pages/locales/dictionaries.ts';

const wordsOf = (words: string): RegExp => new RegExp(`(?<!\\p{L})(?:${words})(?!\\p{L})`, 'iu');

const textsIn = (words: unknown): string[] =>
  typeof words === 'string' ? [words] : Object.values(words as object).flatMap((part) => textsIn(part));

/** How a friend is addressed, in the languages that have two forms; pages and letters use the other one. */
const FAMILIAR: Partial<Record<Locale, RegExp>> = {
  es: wordsOf('tú|tu|tus|te|ti|tuy[oa]s?|has|eres|puedes|quieres'),
  de: wordsOf('du|dir|dich|dein\\w*|ihr euch|euch|euer|eure\\w*'),
  fr: wordsOf('tu|toi|ton|ta|tes|tien(?:ne)?s?'),
  'pt-BR': wordsOf('tu|ti|teus?|tuas?|contigo'),
};

describe('whoever reads', () => {
  it.each(LOCALE_NAMES.filter((locale) => FAMILIAR[locale]))('is addressed in one form by every page and letter in %s', async (locale) => {
    const texts = textsIn([await loadDictionary(locale), await loadAccountWords(locale), WORDS[locale]]);
    expect(texts.length).toBeGreaterThan(300);
    expect(texts.filter((text) => FAMILIAR[locale]!.test(text))).toEqual([]);
  });
});
