/** A character as a reader sees it, with all that belongs to it: the smallest piece of text that is set. */
export interface Cluster {
  /** What is read back from the PDF: the characters of the source, or their escape. */
  text: string;
  /** What is drawn: a base character and its combining marks in NFC, a contextual form, or the escape. */
  shown: string;
  isEscape?: boolean;
  /** A zero-width non-joiner follows: the next Arabic letter does not join this one. */
  breaksJoin?: boolean;
}

/** More combining marks than this on one character would be drawn over the lines around it. */
const MARKS_MAX = 2;
const ZERO_WIDTH_NON_JOINER = '\u200c';
const ZERO_WIDTH_JOINER = '\u200d';

const WHITE_SPACE = /^(?!\ufeff)\s$/u;
/** Controls, format characters, surrogates, private use, what is not assigned, and letters that are blank. */
const INVISIBLE = /^[\p{C}\p{Default_Ignorable_Code_Point}\u2800\ufffc]$/u;
const MARK = /^\p{M}$/u;
/** Scripts whose combining marks the base font places. */
const TAKES_MARKS = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;
const PICTOGRAPH = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
const EMOJI_VARIATION = /^[\ufe0e\ufe0f]$/u;
const IDEOGRAPH = /^\p{Ideographic}/u;
const IDEOGRAPH_VARIATION = /^[\ufe00-\ufe0d\u{e0100}-\u{e01ef}]$/u;
const ARABIC_LETTER = /^(?=\p{L})\p{Script=Arabic}/u;

/** `\u{202E}`: shows what cannot be shown, or must not act. */
export const escapeOf = (text: string): Cluster[] =>
  [...text].map((character) => {
    const text = `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`;
    return { text, shown: text, isEscape: true };
  });

const isSpace = ({ shown }: Cluster): boolean => shown === ' ';
const countOf = (text: string): number => [...text].length;

/** Invisible characters that mean something where they stand are kept with the character before them; others would only hide. */
function staysUnseen(before: Cluster, character: string, next: string): boolean {
  if (EMOJI_VARIATION.test(character)) return PICTOGRAPH.test(before.shown);
  if (IDEOGRAPH_VARIATION.test(character)) return IDEOGRAPH.test(before.shown);
  if (character === ZERO_WIDTH_JOINER) return PICTOGRAPH.test(before.shown) && PICTOGRAPH.test(next);
  return character === ZERO_WIDTH_NON_JOINER && ARABIC_LETTER.test(before.shown) && ARABIC_LETTER.test(next);
}

/** The cluster with one more character on it, where the two make one; else null. */
function joined(before: Cluster, character: string, next: string): Cluster | null {
  if (before.isEscape || isSpace(before)) return null;
  const text = before.text + character;
  if (staysUnseen(before, character, next)) return { ...before, text, breaksJoin: character === ZERO_WIDTH_NON_JOINER };
  const shown = (before.shown + character).normalize('NFC');
  // Also what is written in parts: Hangul in jamo, kana and its voicing mark.
  if (countOf(shown) <= countOf(before.shown)) return { ...before, text, shown };
  const isMark = MARK.test(character) && !INVISIBLE.test(character);
  return isMark && TAKES_MARKS.test(before.shown) && countOf(shown) <= 1 + MARKS_MAX ? { ...before, text, shown } : null;
}

/**
 * Text as clusters in logical order. White space is one space wherever it stands; what is invisible, a control character or
 * turns the reading direction is shown as its escape, so that a name hides nothing and nothing acts. Pure.
 */
export function clustersOf(text: string): Cluster[] {
  const characters = [...text];
  const clusters: Cluster[] = [];
  for (const [index, character] of characters.entries()) {
    const before = clusters.at(-1);
    if (WHITE_SPACE.test(character)) {
      if (before && !isSpace(before)) clusters.push({ text: ' ', shown: ' ' });
      continue;
    }
    const longer = before && joined(before, character, characters[index + 1] ?? '');
    if (longer) clusters[clusters.length - 1] = longer;
    else if (INVISIBLE.test(character) || MARK.test(character)) clusters.push(...escapeOf(character));
    else clusters.push({ text: character, shown: character.normalize('NFC') });
  }
  if (clusters.length > 0 && isSpace(clusters.at(-1)!)) clusters.pop();
  return clusters;
}
