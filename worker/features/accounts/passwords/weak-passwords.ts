/**
 * The 100,000 commonest passwords, of which those of fewer than eight characters are left out. The list is exact: each word is stored as the
 * number of characters that it shares with the word before, and the rest. Written by `local/assets/weak-passwords.ts`.
 * @module
 */

import { ApiError } from '#core/errors.ts';

const PASSWORD_LENGTH = { min: 8, max: 128 };

/** Form in which passwords are compared: lower case, NFKC. */
export const foldPassword = (password: string): string => password.normalize('NFKC').toLowerCase();

const SHARED_MAX = 9;

function sharedLength(one: string, other: string): number {
  let length = 0;
  while (length < SHARED_MAX && length < one.length && one[length] === other[length]) length++;
  return length;
}

/** Packs sorted words into one text. */
export const packWords = (words: readonly string[]): string =>
  words
    .map((word, i) => [word, sharedLength(word, words[i - 1] ?? '')] as const)
    .map(([word, shared]) => shared + word.slice(shared))
    .join('\n');

/** Reads packed words, in their order. */
export function* unpackWords(packed: string): Generator<string> {
  let word = '';
  for (const line of packed.split('\n')) {
    word = word.slice(0, Number(line[0])) + line.slice(1);
    yield word;
  }
}

async function isCommon(password: string): Promise<boolean> {
  const { words } = (await import('./weak-passwords.json')).default;
  const folded = foldPassword(password);
  for (const word of unpackWords(words)) if (word === folded) return true;
  return false;
}

/** Throws 422 password_too_short, or 422 password_too_common for one of the 100,000 commonest passwords. Makes no call. */
export async function requireGoodPassword(password: string): Promise<void> {
  const { length } = [...password];
  if (length < PASSWORD_LENGTH.min || length > PASSWORD_LENGTH.max) throw new ApiError('password_too_short');
  if (await isCommon(password)) throw new ApiError('password_too_common');
}
