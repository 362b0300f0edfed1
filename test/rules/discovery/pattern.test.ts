import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BudgetExceeded, compilePattern, matchesPattern } from '../../../worker/protocols/json-schema/pattern.ts';

const matches = (pattern: string, text: string, left = 1_000_000): boolean => matchesPattern(compilePattern(pattern)!, text, { left });

const atom = fc.oneof(
  fc.constantFrom(
    'a',
    'b',
    '-',
    '.',
    '\\d',
    '\\w',
    '\\s',
    '[ab]',
    '[^a]',
    '[0-9-]',
    '\\u{1F600}',
    '\\uD83D\\uDE00',
    '😀',
    '\\.',
    '\\x61',
    '\\p{L}',
    '[]',
    '[^]',
  ),
  fc.constantFrom('^', '$', '\\b', ''),
);
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{2}', '{0}', '{1,}', '{0,2}', '*?', '{1,2}?');
const isQuantified = (text: string) => /^(?:\^|\$|\\b|\\B|)$/.test(text);
const { pattern } = fc.letrec<{ pattern: string; term: string }>((tie) => ({
  term: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.tuple(atom, quantifier).map(([text, sign]) => (isQuantified(text) ? text : text + sign)),
    fc.tuple(fc.constantFrom('(', '(?:', '(?<name>'), tie('pattern'), quantifier).map(([open, inner, sign]) => `${open}${inner})${sign}`),
  ),
  pattern: fc
    .array(fc.array(tie('term'), { maxLength: 3 }), { minLength: 1, maxLength: 2 })
    .map((alternatives) => alternatives.map((terms) => terms.join('')).join('|')),
}));

const isAccepted = (text: string): boolean => {
  try {
    return new RegExp(text, 'u') instanceof RegExp;
  } catch {
    return false;
  }
};

describe('matchesPattern', () => {
  it('matchesPattern agrees with the engine for any pattern and text', () => {
    const texts = fc.string({ unit: fc.constantFrom('a', 'b', '-', '1', ' ', '\n', '😀', 'é', '\ud800'), maxLength: 6 });
    fc.assert(
      fc.property(pattern, texts, (source, text) => {
        fc.pre(isAccepted(source));
        const compiled = compilePattern(source);
        // Repetitions of repetitions may exceed the limit.
        fc.pre(compiled !== null);
        expect([source, text, matchesPattern(compiled!, text, { left: 1_000_000 })]).toEqual([
          source,
          text,
          new RegExp(source, 'u').test(text),
        ]);
      }),
      { numRuns: 5_000 },
    );
  });

  it.each(['(a+)+$', '^(a|a)*$', '(.*)*(.*)*x', '(?:a?){20}a{20}$', '.*.*.*.*.*.*x'])(
    'matchesPattern takes linear time for %s',
    (source) => {
      const text = `${'a'.repeat(1_000)}!`;
      const started = performance.now();
      expect(matches(source, text)).toBe(false);
      expect(performance.now() - started).toBeLessThan(1_000);
    },
  );

  it.each<[string, boolean]>([
    ['ab', true],
    ['a', false],
    ['', false],
  ])('matchesPattern finds a position inside a word of %j', (text, expected) => expect(matches('\\w\\B\\w', text)).toBe(expected));

  it('matchesPattern stops when the budget is used up', () => {
    expect(() => matches('(a+)+$', 'a'.repeat(1_000), 500)).toThrow(BudgetExceeded);
  });
});

describe('compilePattern', () => {
  it.each([
    '(?=a)',
    '(?!a)',
    '(?<=a)',
    '(?<!a)',
    '(a)\\1',
    '(?<n>a)\\k<n>',
    'a{2000}',
    '((a{100}){100}){100}',
    '(?:a{1000}){1000}',
    'a{99999999999999999999}',
    `a{${'9'.repeat(190)}}`,
    'a{1,99999999999999999999}',
    'a{99999999999999999999,}',
    '(?:){1000000000}',
    '(?:){0,99999999999999999999}',
    `(?:(?:){9}){${'9'.repeat(180)}}`,
    '(?i:a)',
    '[',
    '\\-',
    'a**',
  ])('compilePattern refuses %s', (source) => expect(compilePattern(source)).toBeNull());

  it.each([
    '(){2}',
    '(?:){1000}',
    '(?:(?:){9}){9}',
    '(?:a{0}){1000}',
    '(?:(?:(?:){900}){900}){900}',
    '()*',
    '(?:){2,}',
    '(?:(?:){0,9}){0,999}',
  ])('compilePattern needs no steps to repeat the empty text %s', (source) => {
    expect(compilePattern(source)).toEqual([{ kind: 'match' }]);
    expect(matches(source, '')).toBe(true);
  });
});
