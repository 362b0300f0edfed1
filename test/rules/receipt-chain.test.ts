import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReceiptId } from '#core/ids.ts';
import { extendReceiptChain, type Link, linkHash } from '#features/receipts/hash-chain.ts';

type Chain = ReturnType<typeof extendReceiptChain>;
type End = Parameters<typeof extendReceiptChain>[0];

const ZEROS = '0'.repeat(64);
const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/);
const receipt = fc.record({ id: fc.uuid({ version: 7 }).map((id) => id as ReceiptId), sha256 });
const receipts = fc.array(receipt, { maxLength: 40 });
const some = fc.array(receipt, { minLength: 1, maxLength: 40 });
const link: fc.Arbitrary<Link> = fc.record({ seq: fc.integer({ min: 1, max: 2 ** 40 }), prevHash: sha256 });
const end: fc.Arbitrary<End> = fc.option(fc.record({ seq: fc.integer({ min: 1, max: 2 ** 40 }), prevHash: sha256, sha256 }));

/** Computes the hash from the published contract alone: SHA-256 of the canonical JSON with sorted members. */
const hashElsewhere = ({ seq, prevHash }: Link, sha256: string): string =>
  createHash('sha256').update(`{"prev_hash":"${prevHash}","seq":${seq},"sha256":"${sha256}"}`).digest('hex');

const endOf = (before: End, chain: Chain, of: { sha256: string }[]): End =>
  chain.length === 0 ? before : { seq: chain.at(-1)!.seq, prevHash: chain.at(-1)!.prevHash, sha256: of.at(-1)!.sha256 };

/** First index at which the chain and its receipts disagree, or null. */
function breakOf(chain: Link[], of: { sha256: string }[]): number | null {
  const index = chain.findIndex(({ seq, prevHash }, i) => {
    if (i === 0) return seq !== 1 || prevHash !== ZEROS;
    return seq !== chain[i - 1]!.seq + 1 || prevHash !== hashElsewhere(chain[i - 1]!, of[i - 1]!.sha256);
  });
  return index === -1 ? null : index;
}

const changed = <T extends { sha256: string }>(list: T[], at: number, sha256: string): T[] =>
  list.map((item, i) => (i === at ? { ...item, sha256 } : item));

const someWithChange = fc
  .tuple(some, fc.nat(), sha256)
  .map(([list, n, other]) => ({ list, at: n % list.length, other }))
  .filter(({ list, at, other }) => list[at]!.sha256 !== other);

describe('linkHash', () => {
  it('the hash equals the documented formula, computed independently', () => {
    fc.assert(
      fc.property(link, sha256, (link, sha256) => {
        expect(linkHash(link, sha256)).toBe(hashElsewhere(link, sha256));
      }),
    );
    const first = { seq: 1, prevHash: ZEROS };
    expect(linkHash(first, 'ab'.repeat(32))).toBe(hashElsewhere(first, 'ab'.repeat(32)));
  });

  it('the hash is 64 hex digits and differs for another sequence, previous hash or receipt', () => {
    fc.assert(
      fc.property(link, sha256, link, sha256, (a, ofA, b, ofB) => {
        expect(linkHash(a, ofA)).toMatch(/^[0-9a-f]{64}$/);
        const same = a.seq === b.seq && a.prevHash === b.prevHash && ofA === ofB;
        expect(linkHash(a, ofA) === linkHash(b, ofB)).toBe(same);
        const hashes = [linkHash(a, ofA), linkHash({ ...a, seq: a.seq + 1 }, ofA), linkHash({ seq: a.seq, prevHash: ofA }, a.prevHash)];
        expect(new Set(hashes).size).toBe(a.prevHash === ofA ? 2 : 3);
      }),
    );
  });

  it('the hash depends on no other field of the link', () => {
    fc.assert(
      fc.property(link, sha256, fc.uuid(), (link, sha256, receiptId) => {
        const stored = { ...link, receiptId };
        expect(linkHash(stored, sha256)).toBe(linkHash(link, sha256));
      }),
    );
  });
});

describe('extendReceiptChain', () => {
  it('a chain starts at 1 with 64 zeros and is consistent to its end', () => {
    fc.assert(
      fc.property(receipts, (list) => {
        const chain = extendReceiptChain(null, list);
        expect(chain.map(({ receiptId }) => receiptId)).toEqual(list.map(({ id }) => id));
        expect(chain.map(({ seq }) => seq)).toEqual(list.map((_, i) => i + 1));
        expect(breakOf(chain, list)).toBeNull();
        for (const { prevHash } of chain) expect(prevHash).toMatch(/^[0-9a-f]{64}$/);
      }),
    );
    expect(extendReceiptChain(null, [])).toEqual([]);
  });

  it('a chain continues from its stored end', () => {
    fc.assert(
      fc.property(end, some, (end, list) => {
        const [first] = extendReceiptChain(end, list);
        expect(first).toEqual({
          receiptId: list[0]!.id,
          seq: end ? end.seq + 1 : 1,
          prevHash: end ? hashElsewhere(end, end.sha256) : ZEROS,
        });
      }),
    );
  });

  it('the same receipts give the same chain, and the inputs stay unchanged', () => {
    fc.assert(
      fc.property(end, receipts, (end, list) => {
        const before = structuredClone({ end, list });
        expect(extendReceiptChain(end, list)).toEqual(extendReceiptChain(structuredClone(end), structuredClone(list)));
        expect({ end, list }).toEqual(before);
      }),
    );
  });

  it('a chain extended in parts equals the one extended at once', () => {
    fc.assert(
      fc.property(end, fc.array(receipts, { maxLength: 5 }), (end, parts) => {
        let last = end;
        const chain: Chain = [];
        for (const part of parts) {
          const links = extendReceiptChain(last, part);
          last = endOf(last, links, part);
          chain.push(...links);
        }
        expect(chain).toEqual(extendReceiptChain(end, parts.flat()));
        expect(last).toEqual(endOf(end, chain, parts.flat()));
      }),
    );
  });

  it('a changed receipt changes every later link and no earlier one', () => {
    fc.assert(
      fc.property(someWithChange, ({ list, at, other }) => {
        const honest = extendReceiptChain(null, list);
        const forged = extendReceiptChain(null, changed(list, at, other));
        for (const [i, { seq, prevHash }] of honest.entries()) {
          expect(forged[i]!.seq).toBe(seq);
          expect(forged[i]!.prevHash === prevHash, `link ${i} after a change at ${at}`).toBe(i <= at);
        }
      }),
    );
  });

  it('a receipt changed, removed or swapped under stored links breaks the chain at the next link', () => {
    fc.assert(
      fc.property(someWithChange, ({ list, at, other }) => {
        const chain = extendReceiptChain(null, list);
        const isLast = at === list.length - 1;
        // The last receipt is sealed only by the next link.
        expect(breakOf(chain, changed(list, at, other))).toBe(isLast ? null : at + 1);
        const without = <T>(items: T[]) => items.filter((_, i) => i !== at);
        expect(breakOf(without(chain), without(list))).toBe(isLast ? null : at);
        if (isLast || list[at]!.sha256 === list[at + 1]!.sha256) return;
        const swapped = changed(changed(list, at, list[at + 1]!.sha256), at + 1, list[at]!.sha256);
        expect(breakOf(chain, swapped)).toBe(at + 1);
      }),
    );
  });

  it('receipts with the same hash still give different links', () => {
    fc.assert(
      fc.property(sha256, fc.integer({ min: 2, max: 50 }), (sha256, length) => {
        const list = Array.from({ length }, (_, i) => ({ id: `${i}` as ReceiptId, sha256 }));
        expect(new Set(extendReceiptChain(null, list).map(({ prevHash }) => prevHash)).size).toBe(length);
      }),
    );
  });
});
