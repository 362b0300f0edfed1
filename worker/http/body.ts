import { validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { isSecretKey } from '../core/crypto.ts';
import { base58Bytes, base64, hex } from '../core/encoding.ts';

/** What a body may not hold, wherever it stands in it. */
export type Unacceptable = 'secret_refused' | 'not_unicode';

/** Each suspicious value costs a curve multiplication, so a body of nothing else is not looked at to its end. */
const SUSPECTS_MAX = 32;

/**
 * Private keys and seed phrases must never be sent to us (spec): a body that holds one is refused before anything reads,
 * stores or logs it. Judged exactly: a secret key by its own public half, a phrase by its checksum. Text that is not Unicode
 * (a lone surrogate) is refused too, because no database gives it back as it was.
 */
export function findUnacceptable(body: unknown): Unacceptable | null {
  const rest: unknown[] = [body];
  let suspects = 0;
  while (rest.length > 0) {
    const value = rest.pop();
    if (typeof value === 'string') {
      if (!value.isWellFormed()) return 'not_unicode';
      if (isSeedPhrase(value)) return 'secret_refused';
      const bytes = secretBytes(value);
      if (bytes && suspects++ < SUSPECTS_MAX && isSecretKey(bytes)) return 'secret_refused';
    } else if (Array.isArray(value)) {
      if (isByteList(value) && suspects++ < SUSPECTS_MAX && isSecretKey(Uint8Array.from(value))) return 'secret_refused';
      for (const item of value) rest.push(item);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) rest.push(name, member);
    }
  }
  return null;
}

/** The 64 bytes a text may stand for: base58 as wallets export it, hex, base64, or the list of numbers key files hold. */
function secretBytes(text: string): Uint8Array | null {
  if (text.length < 86 || text.length > 512) return null;
  const value = text.trim();
  if (/^[0-9a-f]{128}$/i.test(value)) return hex.decode(value.toLowerCase());
  if (/^[A-Za-z0-9+/]{86}==$/.test(value)) return base64.decode(value);
  if (!value.startsWith('[')) return base58Bytes(value, 64);
  const numbers = value.slice(1, -1).split(',').map(Number);
  return isByteList(numbers) ? Uint8Array.from(numbers) : null;
}

const isByteList = (list: unknown[]): list is number[] =>
  list.length === 64 && list.every((byte) => typeof byte === 'number' && Number.isInteger(byte) && byte >= 0 && byte < 256);

function isSeedPhrase(text: string): boolean {
  if (text.length > 512) return false;
  const phrase = text.trim().toLowerCase();
  return /^(?:[a-z]{3,8}\s+){11,23}[a-z]{3,8}$/.test(phrase) && validateMnemonic(phrase.split(/\s+/).join(' '), wordlist);
}
