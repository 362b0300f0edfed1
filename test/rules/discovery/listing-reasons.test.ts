import { describe, expect, it } from 'vitest';
import { REASON_TEXTS } from '#features/catalogue/reasons.ts';
import { LISTING_REASONS } from '#rules/catalogue/listing.ts';
import page from '../../../docs/discovery.md?raw';

describe('reasons of listings', () => {
  it('the page of the catalogue has every reason with its meaning and fix, and no other', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, code, rest]) => [code, rest!.trim()]);
    const expected = Object.entries(REASON_TEXTS).map(([code, { message, fix }]) => [code, `${message} | ${fix ?? ''}`.trim()]);
    expect(rows.filter(([code]) => LISTING_REASONS.includes(code as never))).toEqual(expected);
    expect(Object.keys(REASON_TEXTS).sort()).toEqual([...LISTING_REASONS].sort());
  });
});
