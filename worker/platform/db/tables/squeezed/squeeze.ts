import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { utf8 } from '#core/encoding.ts';
import { DICTIONARIES } from './dictionary.ts';

/** First byte of bytes that are not squeezed, as an operator writes them by SQL. Other numbers name a dictionary. */
const PLAIN = 0;
const CURRENT = 1;

/** Throws if no dictionary has this number: a newer release has written the bytes. */
function dictionaryOf(number: number): Uint8Array {
  const dictionary = DICTIONARIES.get(number);
  if (dictionary === undefined) throw new Error(`squeezed text: no dictionary has number ${number}`);
  return dictionary;
}

/** Squeezes a text: the number of the dictionary, then the deflated UTF-8. */
export function squeeze(text: string): Uint8Array {
  const deflated = deflateRawSync(utf8(text), { dictionary: dictionaryOf(CURRENT), level: 9 });
  const bytes = new Uint8Array(1 + deflated.length);
  bytes[0] = CURRENT;
  bytes.set(deflated, 1);
  return bytes;
}

/** Returns a squeezed text, byte for byte. Throws if its dictionary is unknown or its bytes are damaged. */
export function unsqueeze(bytes: Uint8Array): string {
  const number = bytes[0] ?? PLAIN;
  const rest = bytes.subarray(1);
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
    number === PLAIN ? rest : inflateRawSync(rest, { dictionary: dictionaryOf(number) }),
  );
}
