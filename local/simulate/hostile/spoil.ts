import type { Dice } from '../world/outside/dice.ts';

const nested = (depth: number): unknown => {
  let value: unknown = 'x';
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
};

const TYPES: unknown[] = [null, true, false, [], {}, [[]], [null], { toString: 1 }, { length: -1 }, ''];
const NUMBERS = [0, -0, -1, 1.5, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 2 ** 63, 2 ** 64, 1e21, 1e308, 5e-324];
const NUMERALS = [
  '0',
  '-1',
  '+1',
  '00',
  '1.0',
  '1.0000001',
  '1e5',
  '1,5',
  '0x10',
  '١٢',
  'NaN',
  'Infinity',
  '18446744073709551616',
  '9'.repeat(400),
];
const TEXTS = [
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  'a\udc00b',
  '\ufeffx',
  '\u202ex\u2066',
  'x\r\nSet-Cookie: a=b',
  '__proto__',
  'constructor',
  "' OR 1=1 --",
  '%00%ff',
  '%',
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '{{7*7}}',
  'svc:x',
  '👩‍👩‍👧‍👦'.repeat(20),
  'e\u0301',
  'ﬁ',
  'ı',
];
const LONG = [181, 501, 5_001, 20_000, 66_000];
const DEPTHS = [40, 400, 4_000];

/** Text that a parameter or a header rarely gets. */
export const hostileText = (dice: Dice): string =>
  dice.chance(0.8)
    ? dice.oneOf([...NUMERALS, ...TEXTS])
    : Array.from(dice.bytes(1 + dice.below(40)), (byte) => String.fromCharCode(byte)).join('');

/** Value that a field rarely gets: mostly small ones, because large ones find their failures at once. */
export function hostileValue(dice: Dice): unknown {
  const kind = dice.below(20);
  if (kind < 5) return structuredClone(dice.oneOf(TYPES));
  if (kind < 10) return dice.oneOf(NUMBERS);
  if (kind < 18) return hostileText(dice);
  return kind === 18 ? nested(dice.oneOf(DEPTHS)) : 'x'.repeat(dice.oneOf(LONG));
}

type Holder = Record<string, unknown>;
const SPOILED_MAX = 3;

function positionsIn(root: Holder): [Holder, string][] {
  const positions: [Holder, string][] = [];
  const rest: Holder[] = [root];
  for (let holder = rest.pop(); holder && positions.length < 300; holder = rest.pop())
    for (const [name, inner] of Object.entries(holder)) {
      positions.push([holder, name]);
      if (typeof inner === 'object' && inner !== null) rest.push(inner as Holder);
    }
  return positions;
}

/** Changes up to three fields of a body: other values, removed, added, renamed and wrapped fields. */
export function spoilBody(dice: Dice, body: unknown): unknown {
  const root: Holder = { body };
  for (let times = 1 + dice.below(SPOILED_MAX); times > 0; times--) {
    const [holder, name] = dice.oneOf(positionsIn(root));
    const target = holder[name];
    const how = dice.below(7);
    if (how === 0 && holder !== root) delete holder[name];
    else if (how === 1 && holder !== root && !Array.isArray(holder)) {
      delete holder[name];
      holder[`${name}s`] = target;
    } else if (how === 2 && typeof target === 'object' && target !== null)
      (target as Holder)[dice.oneOf(['__proto__', 'nobody_knows', 'livemode', 'merchant_id'])] = hostileValue(dice);
    else if (how === 3) holder[name] = [target];
    else holder[name] = hostileValue(dice);
  }
  return root.body;
}

interface Wire {
  type: string | null;
  encode(text: string): string | Uint8Array<ArrayBuffer>;
}

const JSON_TYPE = 'application/json';
const json = (encode: Wire['encode']): Wire => ({ type: JSON_TYPE, encode });
const as = (type: string | null): Wire => ({ type, encode: (text) => text });
const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0) & 0xff);
const DEEP = '['.repeat(15_000) + ']'.repeat(15_000);

/** Encodings that a client of the service never sends. */
const WIRES: readonly Wire[] = [
  json((text) => text.replace(/^\{("[^"]{1,40}":)/, '{$1null,$1')),
  json((text) => text.replace(/:\s*-?\d+/, ':1e999')),
  json((text) => text.replace(/:\s*-?\d+/, ':9007199254740993')),
  json((text) => `\ufeff${text}`),
  json((text) => Uint8Array.from(text, (char) => char.charCodeAt(0) >> 1)),
  json((text) => latin1(text.replace(/[a-z]/, 'é'))),
  json((text) => text.slice(0, text.length >> 1)),
  json((text) => `${text}x`),
  json((text) => `/**/${text}`),
  json(() => ''),
  json((text) => `${' '.repeat(60_000)}${text}`),
  json(() => '['.repeat(10_000)),
  json((text) => text.replace('{', `{"deep":${DEEP},`)),
  json(() => DEEP),
  as('text/plain'),
  as('application/x-www-form-urlencoded'),
  as('multipart/form-data'),
  as('application/vnd.api+json'),
  as('APPLICATION/JSON ; charset="utf-8"'),
  as('application/json; charset=utf-16'),
  as(''),
];

const PLAIN = json((text) => text);

export const wireOf = (dice: Dice): Wire => (dice.chance(0.8) ? PLAIN : dice.oneOf(WIRES));
