/** User-perceived character, the smallest unit of typesetting. */
export interface Cluster {
  /** Text extracted from the PDF: the source characters or their escape. */
  text: string;
  /** Text drawn: NFC with combining marks, a contextual form, or the escape. */
  shown: string;
  isEscape?: boolean;
  /** Followed by a zero-width non-joiner, so the next Arabic letter does not join. */
  breaksJoin?: boolean;
}

/** More combining marks on one character would overlap the neighbouring lines. */
const MARKS_MAX = 2;
const ZERO_WIDTH_NON_JOINER = '\u200c';
const ZERO_WIDTH_JOINER = '\u200d';

const WHITE_SPACE = /^(?!\ufeff)\s$/u;
/** Controls, format characters, surrogates, private use, unassigned characters and blank letters. */
const INVISIBLE = /^[\p{C}\p{Default_Ignorable_Code_Point}\u2800\ufffc]$/u;
const MARK = /^\p{M}$/u;
/** Scripts for which the base font positions combining marks. */
const TAKES_MARKS = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;
const PICTOGRAPH = /^[\p{Extended_Pictographic}\p{Emoji_Modifier}]/u;
const EMOJI_VARIATION = /^[\ufe0e\ufe0f]$/u;
const IDEOGRAPH = /^\p{Ideographic}/u;
const IDEOGRAPH_VARIATION = /^[\ufe00-\ufe0d\u{e0100}-\u{e01ef}]$/u;
const ARABIC_LETTER = /^(?=\p{L})\p{Script=Arabic}/u;

/** `\u{202E}`: visible form of a character that cannot be shown or must not act. */
export const escapeOf = (text: string): Cluster[] =>
  [...text].map((character) => {
    const text = `\\u{${character.codePointAt(0)!.toString(16).toUpperCase()}}`;
    return { text, shown: text, isEscape: true };
  });

const isSpace = ({ shown }: Cluster): boolean => shown === ' ';
const countOf = (text: string): number => [...text].length;

/** True for an invisible character with a meaning in its context, which joins the character before. Others could only hide something. */
function staysUnseen(before: Cluster, character: string, next: string): boolean {
  if (EMOJI_VARIATION.test(character)) return PICTOGRAPH.test(before.shown);
  if (IDEOGRAPH_VARIATION.test(character)) return IDEOGRAPH.test(before.shown);
  if (character === ZERO_WIDTH_JOINER) return PICTOGRAPH.test(before.shown) && PICTOGRAPH.test(next);
  return character === ZERO_WIDTH_NON_JOINER && ARABIC_LETTER.test(before.shown) && ARABIC_LETTER.test(next);
}

/** Returns the cluster extended by one character, or null if both do not form one. */
function joined(before: Cluster, character: string, next: string): Cluster | null {
  if (before.isEscape || isSpace(before)) return null;
  const text = before.text + character;
  if (staysUnseen(before, character, next)) return { ...before, text, breaksJoin: character === ZERO_WIDTH_NON_JOINER };
  const shown = (before.shown + character).normalize('NFC');
  // Also composes Hangul jamo and kana voicing marks.
  if (countOf(shown) <= countOf(before.shown)) return { ...before, text, shown };
  const isMark = MARK.test(character) && !INVISIBLE.test(character);
  return isMark && TAKES_MARKS.test(before.shown) && countOf(shown) <= 1 + MARKS_MAX ? { ...before, text, shown } : null;
}

/**
 * Splits text into clusters in logical order. White space collapses to one space. Invisible, control and bidirectional characters are shown
 * as escapes, so that a name can hide nothing. Pure.
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
