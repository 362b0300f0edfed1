/**
 * Texts of the catalogue: words that find a listing, and foreign text as it is shown. Pure.
 * @module
 */

const WORD = /[\p{L}\p{N}]+/gu;
const WORD_CHARS_MAX = 40;
const WORDS_MAX = 100;

/** Words of a text: alphanumeric runs, in lower case and without accents. */
export const wordsOf = (text: string): string[] =>
  [...(text.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().match(WORD) ?? [])].map((word) => word.slice(0, WORD_CHARS_MAX));

/** Words of a listing with the weight of the best field that has them: service name, tags, summary, path and tool. */
export function weighWords(fields: { serviceName?: string; tags?: string[]; summary?: string; path?: string; tool?: string }) {
  const { serviceName = '', tags = [], summary = '', path = '', tool = '' } = fields;
  const weighed = new Map<string, number>();
  for (const [weight, text] of [
    [5, serviceName],
    [4, tags.join(' ')],
    [3, summary],
    [2, path],
    [1, tool],
  ] as const)
    for (const word of wordsOf(text)) if (!weighed.has(word) && weighed.size < WORDS_MAX) weighed.set(word, weight);
  return Object.fromEntries(weighed);
}

const CONTROLS = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const TEXT_CHARS_MAX = 200;

/** Text of a foreign server as it is shown: without control characters, cut. Undefined if nothing is left. */
export function shownText(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = [...value.slice(0, 4 * TEXT_CHARS_MAX).replace(CONTROLS, '')].slice(0, TEXT_CHARS_MAX).join('');
  return text === '' ? undefined : text;
}
