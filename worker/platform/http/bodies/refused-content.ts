import { validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { isSecretKey } from '#core/crypto.ts';
import { base58Bytes, base64Bytes, hex } from '#core/encoding.ts';

/** What a body may not hold, wherever it stands in it. */
export type Unacceptable = 'secret_refused' | 'not_unicode';

/** How many suspected secrets of a body are verified: each costs a curve multiplication or a checksum, which bounds what a request costs. */
const SUSPECTS_MAX = 4;
/** How many texts that are long enough to hold a secret are searched for one. */
const LONG_TEXTS_MAX = 256;
const PHRASE_CHARS = { min: 47, max: 512 };
const WORDS: ReadonlySet<string> = new Set(wordlist);

/**
 * Private keys and seed phrases must never be sent to us: a body that holds one is refused before anything reads,
 * stores or logs it. Judged exactly: a secret key by its own public half, a phrase by its checksum. Text that is not Unicode
 * (a lone surrogate) is refused too, because no database gives it back as it was.
 */
export function findUnacceptable(body: unknown): Unacceptable | null {
  const rest: unknown[] = [body];
  let [suspects, longTexts] = [0, 0];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') {
      if (!value.isWellFormed()) return 'not_unicode';
      if (value.length < PHRASE_CHARS.min || value.length > PHRASE_CHARS.max || suspects >= SUSPECTS_MAX) continue;
      if (longTexts++ >= LONG_TEXTS_MAX) continue;
      const phrase = phraseOf(value);
      const bytes = phrase === null ? secretBytes(value) : null;
      if (phrase === null && bytes === null) continue;
      suspects++;
      if (phrase === null ? isSecretKey(bytes!) : validateMnemonic(phrase, wordlist)) return 'secret_refused';
    } else if (Array.isArray(value)) {
      if (isByteList(value) && suspects++ < SUSPECTS_MAX && isSecretKey(Uint8Array.from(value))) return 'secret_refused';
      for (const item of value) rest.push(item);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) rest.push(name, member);
    }
  }
  return null;
}

interface Place {
  key: string | number;
  within: Place | null;
}

/** Where a text that is not Unicode stands; one that is a name is told by the object it is in. Not recursive, because bodies nest deeply. */
export function notUnicodeAt(body: unknown): (string | number)[] {
  const rest: { value: unknown; place: Place | null }[] = [{ value: body, place: null }];
  for (let next = rest.pop(); next; next = rest.pop()) {
    const { value, place } = next;
    if (typeof value === 'string' && !value.isWellFormed()) return pathTo(place);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      if (!name.isWellFormed()) return pathTo(place);
      rest.push({ value: member, place: { key: Array.isArray(value) ? Number(name) : name, within: place } });
    }
  }
  return [];
}

function pathTo(place: Place | null): (string | number)[] {
  const path: (string | number)[] = [];
  for (let step = place; step; step = step.within) path.push(step.key);
  return path.reverse();
}

/** The 64 bytes a text may stand for: base58 as wallets export it, hex, base64, or the list of numbers key files hold. */
function secretBytes(text: string): Uint8Array | null {
  if (text.length < 86) return null;
  const value = text.trim();
  if (/^[0-9a-f]{128}$/i.test(value)) return hex.decode(value.toLowerCase());
  if (/^[A-Za-z0-9+/]{86}==$/.test(value)) return base64Bytes(value);
  if (!value.startsWith('[')) return base58Bytes(value, 64);
  const numbers = value.slice(1, -1).split(',').map(Number);
  return isByteList(numbers) ? Uint8Array.from(numbers) : null;
}

const isByteList = (list: unknown[]): list is number[] =>
  list.length === 64 && list.every((byte) => typeof byte === 'number' && Number.isInteger(byte) && byte >= 0 && byte < 256);

/** A text in the words of seed phrases alone, as many as one has; the first other word ends the look. */
function phraseOf(text: string): string | null {
  const words = text.trim().toLowerCase().split(/\s+/, 25);
  return words.length >= 12 && words.length <= 24 && words.every((word) => WORDS.has(word)) ? words.join(' ') : null;
}
