import fc from 'fast-check';

/** Change to a valid body. `at` selects the position. */
export interface Spoiling {
  at: number;
  how: 'replace' | 'remove' | 'add' | 'rename' | 'wrap';
  value: unknown;
}

const nested = (depth: number): unknown => {
  let value: unknown = 'x';
  for (let i = 0; i < depth; i++) value = i % 2 === 0 ? [value] : { a: value };
  return value;
};

const WRONG_TYPES: unknown[] = [null, true, false, [], {}, [[]], [null], { toString: 1 }, { length: -1 }, ''];
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
  '../../etc/passwd',
  '<script>alert(1)</script>',
  '{{7*7}}',
  '👩‍👩‍👧‍👦'.repeat(20),
  'é',
  'é',
];

/** Mostly small values. Large ones cost time and find their failures at once. */
const hostile: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom<unknown>(...WRONG_TYPES) },
  { weight: 6, arbitrary: fc.constantFrom<unknown>(...NUMBERS) },
  { weight: 6, arbitrary: fc.constantFrom<unknown>(...NUMERALS) },
  { weight: 8, arbitrary: fc.constantFrom<unknown>(...TEXTS) },
  { weight: 3, arbitrary: fc.string({ unit: 'binary', maxLength: 60 }) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.constantFrom(40, 400, 4000).map(nested) },
  { weight: 1, arbitrary: fc.constantFrom(181, 501, 5001, 20_000, 66_000).map((length) => 'x'.repeat(length)) },
  { weight: 1, arbitrary: fc.constantFrom(101, 2000).map((length) => Array.from({ length }, () => 1)) },
);

export const hostileTexts = fc.oneof(fc.constantFrom(...NUMERALS, ...TEXTS), fc.string({ unit: 'binary', maxLength: 60 }));

export const spoilings: fc.Arbitrary<Spoiling[]> = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Spoiling[]>([]) },
  {
    weight: 6,
    arbitrary: fc.array(
      fc.record({
        at: fc.nat(),
        how: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'add', 'rename', 'wrap'),
        value: hostile,
      }),
      { minLength: 1, maxLength: 3 },
    ),
  },
);

type Holder = Record<string, unknown>;

function positionsIn(root: Holder): [Holder, string][] {
  const positions: [Holder, string][] = [];
  const rest: Holder[] = [root];
  for (let holder = rest.pop(); holder && positions.length < 500; holder = rest.pop())
    for (const name of Object.keys(holder)) {
      positions.push([holder, name]);
      const inner = holder[name];
      if (typeof inner === 'object' && inner !== null) rest.push(inner as Holder);
    }
  return positions;
}

/** Applies all changes to a copy of the body. */
export function spoil(body: unknown, done: Spoiling[]): unknown {
  const root: Holder = { body: structuredClone(body) };
  for (const { at, how, value: given } of done) {
    // The next change may spoil an inserted value. Copied through JSON, because some are nested too deep for structuredClone.
    const value: unknown = typeof given === 'object' ? JSON.parse(JSON.stringify(given)) : given;
    const positions = positionsIn(root);
    const [holder, name] = positions[at % positions.length]!;
    const target = holder[name];
    const isOpen = typeof target === 'object' && target !== null && !Array.isArray(target);
    if (how === 'remove' && holder !== root) delete holder[name];
    else if (how === 'rename' && holder !== root && !Array.isArray(holder)) {
      delete holder[name];
      holder[`${name}s`] = target;
    } else if (how === 'add' && isOpen) (target as Holder)[typeof value === 'string' ? value.slice(0, 40) : 'nobody_knows'] = value;
    else if (how === 'wrap') holder[name] = [target];
    else holder[name] = value;
  }
  return root.body;
}

const JSON_TYPE = 'application/json';

/** Encoding of a body on the wire, mostly correct. */
export interface Wire {
  bytes: (text: string) => BodyInit | null;
  contentType: string | null;
}

const utf16 = (text: string): Uint8Array => new Uint8Array(Uint16Array.from(text, (char) => char.charCodeAt(0)).buffer);
const latin1 = (text: string): Uint8Array => Uint8Array.from(text, (char) => char.charCodeAt(0) & 0xff);
const twice = (text: string) => text.replace(/^\{("[^"]{1,40}":)/, '{$1null,$1');

const DEEP = '['.repeat(15_000) + ']'.repeat(15_000);

export const asIs: Wire = { bytes: (text) => text, contentType: JSON_TYPE };
const ODD: [string, Wire][] = [
  ['every name twice', { bytes: twice, contentType: JSON_TYPE }],
  ['a number too large for a float', { bytes: (text) => text.replace(/:\s*-?\d+/, ':1e999'), contentType: JSON_TYPE }],
  ['a number with more digits than a float', { bytes: (text) => text.replace(/:\s*-?\d+/, ':9007199254740993'), contentType: JSON_TYPE }],
  ['a byte order mark', { bytes: (text) => `\ufeff${text}`, contentType: JSON_TYPE }],
  ['UTF-16', { bytes: utf16, contentType: 'application/json; charset=utf-16' }],
  ['UTF-16 that is not said', { bytes: utf16, contentType: JSON_TYPE }],
  ['Latin-1 with a letter that is no UTF-8', { bytes: (text) => latin1(text.replace(/[a-z]/, 'é')), contentType: JSON_TYPE }],
  ['half of it', { bytes: (text) => text.slice(0, text.length >> 1), contentType: JSON_TYPE }],
  ['something behind it', { bytes: (text) => `${text}x`, contentType: JSON_TYPE }],
  ['a comment in it', { bytes: (text) => `/**/${text}`, contentType: JSON_TYPE }],
  ['nothing', { bytes: () => null, contentType: JSON_TYPE }],
  ['an empty text', { bytes: () => '', contentType: JSON_TYPE }],
  ['a lot of space around it', { bytes: (text) => `${' '.repeat(60_000)}${text}`, contentType: JSON_TYPE }],
  ['ten thousand open brackets', { bytes: () => '['.repeat(10_000), contentType: JSON_TYPE }],
  ['fifteen thousand brackets, all closed', { bytes: (text) => text.replace('{', `{"deep":${DEEP},`), contentType: JSON_TYPE }],
  ['nothing but fifteen thousand brackets', { bytes: () => DEEP, contentType: JSON_TYPE }],
  ['text', { bytes: (text) => text, contentType: 'text/plain' }],
  ['a form', { bytes: (text) => text, contentType: 'application/x-www-form-urlencoded' }],
  ['a form of parts', { bytes: (text) => text, contentType: 'multipart/form-data' }],
  ['a dialect of JSON', { bytes: (text) => text, contentType: 'application/vnd.api+json' }],
  ['no type at all', { bytes: (text) => text, contentType: null }],
  ['the type in capitals, with parameters', { bytes: (text) => text, contentType: 'APPLICATION/JSON ; charset="utf-8"' }],
];

export const wires: fc.Arbitrary<[string, Wire]> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<[string, Wire]>(['as it should be', asIs]) },
  { weight: 2, arbitrary: fc.constantFrom(...ODD) },
);
