import { isSecretKey } from '#core/crypto.ts';
import { base58Bytes, base64Bytes, hex, isComparable } from '#core/encoding.ts';

export type Unacceptable = 'secret_refused' | 'not_unicode' | 'not_comparable';

/** Suspected secrets verified per body. Each costs a curve multiplication or a checksum, so this limits the cost of a request. */
const SUSPECTS_MAX = 4;
/** Texts searched that are long enough for a secret. */
const LONG_TEXTS_MAX = 256;
const PHRASE_CHARS = { min: 47, max: 512 };
/** 12 to 24 short words, as in a seed phrase: few bodies load the word list. */
const PHRASE = /^\s*(?:[a-z]{3,8}\s+){11,23}[a-z]{3,8}\s*$/i;

/**
 * Finds private keys and seed phrases, so that a body with one is refused before it is stored or logged. A secret key is verified by its
 * public half, a phrase by its checksum. Also finds text that is not Unicode (a lone surrogate), which no database returns unchanged, and a
 * `length` or `size` that throws when the schema compares it with a number.
 */
export async function findUnacceptable(body: unknown): Promise<Unacceptable | null> {
  const rest: unknown[] = [body];
  let [suspects, longTexts] = [0, 0];
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') {
      if (!value.isWellFormed()) return 'not_unicode';
      if (value.length < PHRASE_CHARS.min || value.length > PHRASE_CHARS.max || suspects >= SUSPECTS_MAX) continue;
      if (longTexts++ >= LONG_TEXTS_MAX) continue;
      const phrase = PHRASE.test(value) ? (await import('./seed-phrase.ts')).parsePhrase(value) : null;
      const bytes = phrase === null ? secretBytes(value) : null;
      if (phrase === null && bytes === null) continue;
      suspects++;
      if (phrase === null ? isSecretKey(bytes!) : phrase.isValid()) return 'secret_refused';
    } else if (Array.isArray(value)) {
      if (isByteList(value) && suspects++ < SUSPECTS_MAX && isSecretKey(Uint8Array.from(value))) return 'secret_refused';
      for (const item of value) rest.push(item);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) {
        if ((name === 'length' || name === 'size') && !isComparable(member)) return 'not_comparable';
        rest.push(name, member);
      }
    }
  }
  return null;
}

interface PathNode {
  key: string | number;
  within: PathNode | null;
}

/** Path of text that is not Unicode. For a field name, the path of its object. Not recursive, because bodies nest deeply. */
export function notUnicodeAt(body: unknown): (string | number)[] {
  const rest: { value: unknown; node: PathNode | null }[] = [{ value: body, node: null }];
  for (let next = rest.pop(); next; next = rest.pop()) {
    const { value, node } = next;
    if (typeof value === 'string' && !value.isWellFormed()) return pathTo(node);
    if (typeof value !== 'object' || value === null) continue;
    for (const [name, member] of Object.entries(value)) {
      if (!name.isWellFormed()) return pathTo(node);
      rest.push({ value: member, node: { key: Array.isArray(value) ? Number(name) : name, within: node } });
    }
  }
  return [];
}

function pathTo(node: PathNode | null): (string | number)[] {
  const path: (string | number)[] = [];
  for (let step = node; step; step = step.within) path.push(step.key);
  return path.reverse();
}

/** Decodes 64 bytes from base58 (wallet exports), hex, base64, or a list of numbers (key files). */
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
