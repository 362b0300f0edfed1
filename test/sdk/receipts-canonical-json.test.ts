import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toCanonicalJson } from '../../sdk/src/verify/receipt.ts';

describe('toCanonicalJson', () => {
  it('any JSON has the text that the package of the service makes', () => {
    const names = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.integer({ min: -20, max: 200 }).map(String),
      fc.constantFrom('__proto__', 'constructor', 'toString', '', 'é', 'e\u0301', '\ufb33', '😂', '\r', '1'),
    );
    const json = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        fc.constantFrom(null, true, false, -0),
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        fc.integer(),
        fc.string({ unit: 'binary' }),
        fc.array(tie('value')),
        fc.dictionary(names, tie('value')),
      ),
    })).value;
    fc.assert(
      fc.property(json, (made) => {
        const value = JSON.parse(JSON.stringify(made));
        expect(toCanonicalJson(value)).toBe(canonicalize(value));
      }),
      { numRuns: 500 },
    );
  });

  it('the examples of RFC 8785 have the published text', () => {
    const numbers =
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}';
    expect(toCanonicalJson(JSON.parse(numbers))).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
    const members =
      '{"\\u20ac":"Euro Sign","\\r":"Carriage Return","\\ufb33":"Hebrew Letter Dalet With Dagesh","1":"One","\\ud83d\\ude00":"Emoji: Grinning Face","\\u0080":"Control","\\u00f6":"Latin Small Letter O With Diaeresis"}';
    expect(Object.values(JSON.parse(toCanonicalJson(JSON.parse(members)).replace('"1"', '"01"')))).toEqual([
      'Carriage Return',
      'One',
      'Control',
      'Latin Small Letter O With Diaeresis',
      'Euro Sign',
      'Emoji: Grinning Face',
      'Hebrew Letter Dalet With Dagesh',
    ]);
  });

  it('members without a value are left out, as in JSON', () => {
    expect(toCanonicalJson({ b: undefined, a: [undefined, 1], c: {} })).toBe('{"a":[null,1],"c":{}}');
  });

  it('a lone surrogate is escaped, so that no signed text equals it', () => {
    expect(toCanonicalJson(JSON.parse('{"a":"\\ud800"}'))).toBe('{"a":"\\ud800"}');
  });

  it('a cycle and a bigint throw TypeError', () => {
    const cycle: { self?: object } = {};
    cycle.self = cycle;
    for (const value of [cycle, { slot: 1n }]) expect(() => toCanonicalJson(value)).toThrow(TypeError);
  });
});
