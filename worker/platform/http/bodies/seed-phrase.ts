import { validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';

const TERMS: ReadonlySet<string> = new Set(wordlist);

/** Returns the text as a phrase of the BIP-39 word list, null if a word is not in it. `isValid` verifies the checksum. */
export function parsePhrase(text: string): { isValid(): boolean } | null {
  const terms = text.trim().toLowerCase().split(/\s+/);
  return terms.every((term) => TERMS.has(term)) ? { isValid: () => validateMnemonic(terms.join(' '), wordlist) } : null;
}
