import { validateDiscoveryExtension } from '@x402/extensions/bazaar';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkSchema } from '../../../worker/protocols/json-schema/check.ts';
import { satisfies } from '../../../worker/protocols/json-schema/validate.ts';

const object = (schema: object) => ({ type: 'object', ...schema });
const property = (schema: unknown) => object({ properties: { a: schema } });
const nested = (levels: number): object => (levels === 1 ? { type: 'object' } : property(nested(levels - 1)));
const pathsOf = (schema: unknown) => checkSchema(schema).map(({ path }) => path.join('/'));

/** The reference judges a value as the body of an example. */
function referenceAccepts(body: unknown, value: unknown): boolean {
  const properties = { type: { const: 'http' }, bodyType: { const: 'json' }, body };
  const input = { type: 'object', properties };
  const info = { input: { type: 'http', bodyType: 'json', body: value } };
  return validateDiscoveryExtension({ info, schema: { type: 'object', properties: { input } } } as never).valid;
}

describe('checkSchema', () => {
  it.each<[string, object]>([
    ['8 levels', nested(8)],
    ['a reference', object({ $defs: { city: { type: 'string' } }, properties: { a: { $ref: '#/$defs/city' } } })],
    ['an escaped reference', object({ $defs: { 'a b/c': { type: 'string' } }, properties: { a: { $ref: '#/$defs/a%20b~1c' } } })],
    ['a tree', object({ properties: { a: { type: 'array', items: { $ref: '#' } } } })],
    ['keywords as names of properties', object({ properties: { pattern: { type: 'string' }, type: {}, $anchor: true } })],
    ['an unknown keyword', property({ example: 3, 'x-note': ['b'] })],
    ['a pattern of 200 characters', property({ pattern: 'a'.repeat(200) })],
    ['patternProperties in allOf', object({ allOf: [{ patternProperties: { a: {} } }, { if: {}, else: { properties: {} } }] })],
    ['its dialect', object({ $schema: 'https://json-schema.org/draft/2020-12/schema', $id: '#' })],
  ])('checkSchema accepts %s', (_, schema) => expect(checkSchema(schema)).toEqual([]));

  it.each<[string, unknown, string]>([
    ['no object', [], ''],
    ['another type', { type: 'string' }, 'type'],
    ['9 levels', nested(9), 'properties/a/'.repeat(8).slice(0, -1)],
    ['an unknown type', property({ type: 'strnig' }), 'properties/a/type'],
    ['an external reference', property({ $ref: 'https://example.com/s.json' }), 'properties/a/$ref'],
    ['an external id', object({ $id: 'https://example.com/s.json' }), '$id'],
    ['an id that the reference refuses', object({ $id: '#city' }), '$id'],
    ['a property with the name of a reference', object({ properties: { $ref: { type: 'string' } } }), 'properties/$ref'],
    ['an external reference in a value', property({ const: { $id: 'x' } }), 'properties/a/const/$id'],
    ['a reference to nothing', property({ $ref: '#/$defs/none' }), 'properties/a/$ref'],
    ['a reference to itself', property({ $ref: '#/properties/a' }), 'properties/a'],
    ['$dynamicRef', property({ $dynamicRef: '#a' }), 'properties/a/$dynamicRef'],
    ['$anchor', property({ $anchor: 'a' }), 'properties/a/$anchor'],
    ['another dialect', object({ $schema: 'http://json-schema.org/draft-07/schema#' }), '$schema'],
    ['a pattern of 201 characters', property({ pattern: 'a'.repeat(201) }), 'properties/a/pattern'],
    ['an invalid pattern', property({ pattern: '[' }), 'properties/a/pattern'],
    ['a pattern with a lookaround', property({ pattern: '(?=a)' }), 'properties/a/pattern'],
    ['an invalid name of patternProperties', property({ patternProperties: { '(': true } }), 'properties/a/patternProperties/('],
    [
      'patternProperties with a choice of properties',
      property({ patternProperties: { a: {} }, if: {}, else: { properties: {} } }),
      'properties/a/patternProperties',
    ],
    ['patternProperties with a reference', object({ $defs: { d: {} }, patternProperties: {}, $ref: '#/$defs/d' }), 'patternProperties'],
    ['a list as items', property({ items: [true] }), 'properties/a/items'],
    ['an empty enum', property({ enum: [] }), 'properties/a/enum'],
    ['an empty allOf', property({ allOf: [] }), 'properties/a/allOf'],
    ['a name that is required twice', object({ required: ['a', 'a'] }), 'required'],
    ['nullable', property({ type: 'string', nullable: true }), 'properties/a/nullable'],
    ['a number beyond the largest', property({ maximum: Number.POSITIVE_INFINITY }), 'properties/a/maximum'],
    ['a name of every object', object({ properties: { constructor: {} } }), 'properties/constructor'],
    ['a name with half of a character', property({ properties: { '\ud800': {} } }), 'properties/a/properties/\ud800'],
    ['a text with half of a character', property({ const: '\ud800' }), 'properties/a/const'],
    ['a value of 21 levels', JSON.parse(`{"type":"object","default":${'['.repeat(20)}${']'.repeat(20)}}`), `default${'/0'.repeat(19)}`],
    ['a negation that nothing satisfies', { type: 'object', if: { not: {}, anyOf: [{ items: {} }] } }, 'if/not'],
    ['a condition without a consequence', object({ if: { properties: { b: {} } }, else: {}, unevaluatedProperties: false }), 'if'],
    ['a negation of a text', { type: 'object', not: { title: 'a' } }, 'not'],
  ])('checkSchema refuses %s', (_, schema, path) => expect(pathsOf(schema)).toContain(path));

  const keyword = fc.oneof(
    fc.record({ type: fc.constantFrom('string', 'integer', 'object', ['null', 'number'], 'wrong') }),
    fc.record({ enum: fc.array(fc.constantFrom<unknown>('a', 1, null), { maxLength: 2 }) }),
    fc.record({ pattern: fc.constantFrom('^a', '[', '(a+)+$') }),
    fc.record({ multipleOf: fc.constantFrom(0.1, 2, 0, -1) }),
    fc.record({ minLength: fc.constantFrom(0, 1, -1, 1.5) }),
    fc.record({ const: fc.constantFrom<unknown>('a', [1], { b: 1 }) }),
    fc.record({ required: fc.constantFrom(['a'], ['a', 'a'], 'a') }),
    fc.record({ format: fc.constant('email') }),
    fc.record({ $ref: fc.constantFrom('#', '#/$defs/d', '#/properties/a', 'x', '#/nothing') }),
    fc.record({ uniqueItems: fc.boolean() }),
    fc.record({ patternProperties: fc.constantFrom<object>({ '^a': { type: 'string' }, '^.$': { minLength: 1 } }, { '(': true }) }),
    fc.record({ unevaluatedProperties: fc.boolean() }),
    fc.record({ dependentRequired: fc.constantFrom<unknown>({ a: ['b'] }, { a: 'b' }) }),
    fc.record({ id: fc.constant('x') }),
    fc.record({ nullable: fc.boolean() }),
  );
  const { schema } = fc.letrec<{ schema: object }>((tie) => ({
    schema: fc
      .array(
        fc.oneof(
          { depthSize: 'small' },
          keyword,
          fc.record({ properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }) }),
          fc.record({ items: tie('schema') }),
          fc.record({ not: tie('schema') }),
          fc.record({ additionalProperties: fc.oneof(fc.boolean(), tie('schema')) }),
          fc.record({ anyOf: fc.array(tie('schema'), { maxLength: 2 }) }),
          fc.record({ allOf: fc.array(tie('schema'), { maxLength: 2 }) }),
          fc.record({ if: tie('schema'), else: tie('schema') }),
        ),
        { maxLength: 3 },
      )
      .map((parts) => Object.assign({}, ...parts)),
  }));
  const root = schema.map((made) => ({ $defs: { d: { type: ['string', 'object'] } }, ...made, type: 'object' }));
  const value = fc.dictionary(fc.constantFrom('a', 'b', 'ab'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 2 });

  it('checkSchema accepts nothing that the reference cannot evaluate, and both judge a value alike', () => {
    let evaluated = 0;
    fc.assert(
      fc.property(root, value, (made, instance) => {
        if (checkSchema(made).length > 0) return;
        // References of the reference start at the root of its document.
        if (JSON.stringify(made).includes('"$ref"')) return;
        evaluated += 1;
        expect([made, instance, satisfies(made, instance)]).toEqual([made, instance, referenceAccepts(made, instance)]);
      }),
      { numRuns: 1_000 },
    );
    expect(evaluated).toBeGreaterThan(100);
  });
});

describe('satisfies', () => {
  it.each<[object, unknown, boolean]>([
    [property({ type: 'string', pattern: '^[a-z]+$' }), { a: 'paris' }, true],
    [property({ type: 'string', pattern: '^[a-z]+$' }), { a: 'Paris' }, false],
    [object({ patternProperties: { '^x-': { type: 'number' } }, additionalProperties: false }), { 'x-a': 1 }, true],
    [object({ patternProperties: { '^x-': { type: 'number' } }, additionalProperties: false }), { 'x-a': 'b' }, false],
    [object({ patternProperties: { '^x': { type: 'number' }, a$: { maximum: 1 } } }), { xa: 2 }, false],
    [object({ $defs: { n: { maximum: 3 } }, properties: { a: { $ref: '#/$defs/n' } } }), { a: 4 }, false],
    [object({ properties: { a: { type: 'array', items: { $ref: '#' } } } }), { a: [{ a: [{ a: 1 }] }] }, false],
    [property({ multipleOf: 0.25 }), { a: 0.5 }, true],
    [property({ multipleOf: 0.25, allOf: [{ maximum: 1 }] }), { a: 2 }, false],
    [property({ multipleOf: 2 }), { a: 3 }, false],
    [property({ multipleOf: 0.1 }), { a: -1e20 }, false],
    [property({ multipleOf: 2 }), { a: 1e21 }, true],
    [property({ format: 'email' }), { a: 'not an address' }, true],
    [property({ pattern: '^b$', allOf: [{ maxLength: 1 }] }), { a: 'b' }, true],
    [property({ pattern: '^b$' }), { a: 'a' }, false],
    [property({ not: { pattern: '^b$' } }), { a: 'a' }, true],
    [property({ propertyNames: { pattern: '^b$' } }), { a: { b: 1, c: 2 } }, false],
    [property({ uniqueItems: true }), { a: [1, '1', [1], ['1'], { b: 1 }, { b: '1' }, null, 'null'] }, true],
    [
      property({ uniqueItems: true }),
      {
        a: [
          { b: [1], c: 2 },
          { c: 2, b: [1] },
        ],
      },
      false,
    ],
    [property({ uniqueItems: true }), { a: [[1, 1], [1]] }, true],
    [property({ items: { uniqueItems: true } }), { a: [[1, 1], [1]] }, false],
    [property({ not: { uniqueItems: true } }), { a: [1, 1] }, true],
    [property({ uniqueItems: false }), { a: [1, 1] }, true],
    [object({ properties: { a: true, b: false } }), { a: 1 }, true],
    [object({ properties: { a: true, b: false } }), { a: 1, b: 1 }, false],
    [object({ properties: { a: true }, unevaluatedProperties: false }), { a: 1, b: 1 }, false],
    [object({ properties: { a: { $ref: '#/$defs/no' } }, $defs: { no: false } }), { a: 1 }, false],
    [object({ 'x-a': { id: 'http://[' }, 'x-b': { $anchor: 'a' } }), {}, true],
    [object({ 'x-a': { id: 'https://a.example' }, 'x-b': { id: 'https://a.example' } }), {}, true],
    [object({ __absolute_ref__: 'a', $ref: '#/$defs/b', $defs: { b: {} } }), {}, true],
  ])('satisfies judges %j', (schema, value, expected) => {
    expect(checkSchema(schema)).toEqual([]);
    expect(satisfies(schema as Record<string, unknown>, value)).toBe(expected);
  });

  it('satisfies ends where references multiply', () => {
    const steps = Array.from({ length: 30 }, (_, index) => [
      `s${index}`,
      { allOf: [{ $ref: `#/$defs/s${index + 1}` }, { $ref: `#/$defs/s${index + 1}` }] },
    ]);
    const schema = object({ $defs: { ...Object.fromEntries(steps), s30: {} }, $ref: '#/$defs/s0' });
    expect(checkSchema(schema)).toEqual([]);
    const started = performance.now();
    expect(satisfies(schema as Record<string, unknown>, {})).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });

  const times = <T>(count: number, make: (index: number) => T): T[] => Array.from({ length: count }, (_, index) => make(index));
  const levels = (count: number, value: object): object => (count === 0 ? value : { a: levels(count - 1, value) });
  /** Definitions that refer to the next one, each as `step` says. */
  const chained = (count: number, leaf: object, step: (next: object) => object) => ({
    $ref: '#/$defs/s0',
    $defs: Object.fromEntries([...times(count, (index) => [`s${index}`, step({ $ref: `#/$defs/s${index + 1}` })]), [`s${count}`, leaf]]),
  });
  const twice = (keyword: string) => (next: object) => ({ [keyword]: [next, next] });
  const names = Object.fromEntries(times(900, (index) => [index.toString(36), 1]));
  const atList = ({ $ref, $defs }: ReturnType<typeof chained>) => ({ $defs, properties: { a: { $ref } } });

  const { $ref, $defs } = chained(30, { allOf: times(20, () => ({ unevaluatedProperties: false })) }, (next) => ({ allOf: [next] }));
  const underChain = { $ref: '#/$defs/all', allOf: [{ $ref }], $defs: { ...$defs, all: { additionalProperties: {} } } };

  it.each<[string, object, unknown]>([
    [
      'items under doubling references',
      atList(chained(10, { allOf: times(50, () => ({ items: {} })) }, twice('allOf'))),
      { a: times(800, Number) },
    ],
    [
      'true items under doubling references',
      atList(chained(3, { allOf: times(10, () => ({ items: true })) }, twice('allOf'))),
      { a: times(1_600, Number) },
    ],
    ['names under doubling references', chained(12, {}, twice('oneOf')), names],
    ['a constant under doubling references', chained(12, { const: { ...names, z: 2 } }, twice('anyOf')), names],
    ['unevaluated names under a chain', chained(150, { unevaluatedProperties: {} }, (next) => ({ allOf: [next] })), names],
    [
      'long texts',
      { properties: { a: { allOf: times(250, () => ({ items: { minLength: 9 } })) } } },
      { a: times(8, () => 'x'.repeat(900)) },
    ],
    ['faults of many items', { properties: { a: { contains: { required: times(1_100, String) } } } }, { a: times(2_600, () => ({})) }],
    ['many multiples', { properties: { a: { allOf: times(280, () => ({ items: { multipleOf: 7 } })) } } }, { a: times(1_600, Number) }],
    [
      'lists in lists that repeat',
      { properties: { a: { allOf: times(280, () => ({ uniqueItems: true })) } } },
      { a: [times(2_000, () => []), 1] },
    ],
    [
      'lists that repeat for unused definitions',
      { $defs: Object.fromEntries(times(280, (index) => [index, { uniqueItems: true }])) },
      { a: times(2_000, () => []) },
    ],
    ['evaluated names under a chain', underChain, Object.fromEntries(times(200, (index) => [index.toString(36), 1]))],
    ['patterns of many steps', { properties: { a: { anyOf: times(250, () => ({ pattern: '(a{9}){99}b' })) } } }, { a: 'a'.repeat(5_000) }],
    ['patterns for a long text', { properties: { a: { allOf: times(280, () => ({ pattern: 'x*' })) } } }, { a: 'x'.repeat(7_900) }],
    ['names by patterns', { patternProperties: Object.fromEntries(times(500, (index) => [`^.{0,${index}}$`, {}])) }, names],
    ['a stack of references', chained(60, { additionalProperties: { $ref: '#/$defs/s0' } }, (next) => next), levels(400, {})],
  ])('satisfies gives up early for %s', (_, part, value) => {
    const schema = object(part);
    expect([JSON.stringify(schema).length < 8_500, JSON.stringify(value).length < 8_500]).toEqual([true, true]);
    expect(checkSchema(schema)).toEqual([]);
    const before = process.threadCpuUsage();
    expect(satisfies(schema as Record<string, unknown>, value)).toBe(false);
    // Counts the thread's own work alone, whatever else the machine does.
    expect(process.threadCpuUsage(before).user).toBeLessThan(500_000);
  });

  it('satisfies compares ten times the items in little more than ten times the work', () => {
    const schema = property({ uniqueItems: true, items: {} }) as Record<string, unknown>;
    const readsOf = (count: number): number => {
      let reads = 0;
      const get = (item: unknown[], name: string | symbol) => {
        reads++;
        return Reflect.get(item, name);
      };
      const items = times(count, (index) => new Proxy([[index]], { get }));
      expect(satisfies(schema, { a: items })).toBe(true);
      const readsOnce = reads;
      expect(satisfies(schema, { a: [...items, [[0]]] })).toBe(false);
      return readsOnce;
    };
    // Comparing each pair would read a hundred times as much.
    expect(readsOf(1_500) / readsOf(150)).toBeLessThan(11);
  });

  it('satisfies has steps for the largest routes and lists', () => {
    const city = {
      type: 'object',
      properties: { name: { type: 'string', pattern: '^[a-z-]{1,40}$' }, code: { $ref: '#/$defs/code' } },
      required: ['name'],
    };
    const schema = object({
      $defs: { code: { type: 'string', enum: times(60, (index) => `c${index}`) } },
      properties: {
        cities: { type: 'array', items: { oneOf: [city, { $ref: '#/$defs/code' }] }, uniqueItems: true, maxItems: 40 },
        id: { type: 'string', pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$' },
      },
      additionalProperties: false,
    });
    const value = {
      cities: times(20, (index) => (index % 2 ? `c${index}` : { name: 'paris', code: `c${index}` })),
      id: '0b2c4d6e-1111-4222-8333-0123456789ab',
    };
    expect(JSON.stringify({ schema, value }).length).toBeGreaterThan(1_200);
    expect(satisfies(schema as Record<string, unknown>, value)).toBe(true);
    expect(satisfies(schema as Record<string, unknown>, { ...value, cities: ['c60'] })).toBe(false);
    const tags = property({ type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true });
    expect(satisfies(tags as Record<string, unknown>, { a: times(1_300, String) })).toBe(true);
  });

  it('satisfies ends for a pattern that a backtracking engine does not', () => {
    const started = performance.now();
    expect(satisfies(property({ pattern: '^(a+)+$' }) as Record<string, unknown>, { a: `${'a'.repeat(900)}!` })).toBe(false);
    expect(performance.now() - started).toBeLessThan(1_000);
  });
});
