import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { ActEvent } from '../tables/events.ts';
import { DICTIONARIES } from './dictionary.ts';

/** First byte of a body that is not squeezed, as an operator writes one by SQL. Other numbers name a dictionary. */
const PLAIN = 0;
const CURRENT = 1;

/** Throws if no dictionary has this number: a newer release has written the body. */
function dictionaryOf(number: number): Uint8Array {
  const dictionary = DICTIONARIES.get(number);
  if (dictionary === undefined) throw new Error(`body of an act: no dictionary has number ${number}`);
  return dictionary;
}

/** Squeezes the events of an act into a body: the number of the dictionary, then deflated JSON. */
export function encodeBody(events: readonly ActEvent[]): Uint8Array {
  const squeezed = deflateRawSync(JSON.stringify(events), { dictionary: dictionaryOf(CURRENT), level: 9 });
  const body = new Uint8Array(1 + squeezed.length);
  body[0] = CURRENT;
  body.set(squeezed, 1);
  return body;
}

/** Reads the events of a body. Throws if its dictionary is unknown or its bytes are damaged. */
export function decodeBody(body: Uint8Array): ActEvent[] {
  const number = body[0] ?? PLAIN;
  const rest = body.subarray(1);
  const text = number === PLAIN ? rest : inflateRawSync(rest, { dictionary: dictionaryOf(number) });
  return JSON.parse(new TextDecoder().decode(text)) as ActEvent[];
}
