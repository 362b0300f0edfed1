import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { localPathOf } from '#core/local-path.ts';

const HERE = 'https://svc.test';

describe('localPathOf', () => {
  it.each([
    ['/', '/'],
    ['/dashboard?locale=de', '/dashboard?locale=de'],
    ['/r/one/../two', '/r/two'],
    ['/a?next=//evil.example', '/a?next=//evil.example'],
    ['/%2f/evil.example', '/%2f/evil.example'],
  ])('%s is accepted', (text, path) => {
    expect(localPathOf(text)).toBe(path);
  });

  it.each([
    '',
    'dashboard',
    '//evil.example',
    '///evil.example',
    '/\\evil.example',
    '\\\\evil.example',
    '/\t/evil.example',
    '\n//evil.example',
    '/..//evil.example',
    '/.//evil.example',
    '/a/..//evil.example',
    '/a\\..\\\\evil.example',
    'https://svc.test/dashboard',
    'javascript:alert(1)',
    '/dashboard#token=stolen',
    '/\u0085/evil.example',
    `/${'a'.repeat(2000)}`,
  ])('%j is refused', (text) => {
    expect(localPathOf(text)).toBeNull();
  });

  it('an accepted path stays on the site in every browser, and is accepted again unchanged', () => {
    const piece = fc.oneof(
      fc.constantFrom('/', '\\', '.', '..', '//', '\t', '\r', '@', ':', 'evil.example', '?', '#', '%2f', '%5c', ' '),
      fc.string(),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = localPathOf(`/${pieces.join('')}`);
        if (path === null) return;
        expect(new URL(path, HERE).origin).toBe(HERE);
        expect(path).toMatch(/^\/(?![/\\])/);
        expect(localPathOf(path)).toBe(path);
      }),
      { numRuns: 5000 },
    );
  });
});
