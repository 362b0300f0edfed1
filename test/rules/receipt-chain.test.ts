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

/** What anybody can compute from the contract alone: SHA-256 of the canonical JSON, its members sorted by name. */
const hashElsewhere = ({ seq, prevHash }: Link, sha256: string): string =>
  createHash('sha256').update(`{"prev_hash":"${prevHash}","seq":${seq},"sha256":"${sha256}"}`).digest('hex');

/** The end a chain has after these receipts, as the database would give it back. */
const endOf = (before: End, chain: Chain, of: { sha256: string }[]): End =>
  chain.length === 0 ? before : { seq: chain.at(-1)!.seq, prevHash: chain.at(-1)!.prevHash, sha256: of.at(-1)!.sha256 };

/** The first place where a chain and the receipts under it do not hold together, or null. */
function breakOf(chain: Link[], of: { sha256: string }[]): number | null {
  const index = chain.findIndex(({ seq, prevHash }, i) => {
    if (i === 0) return seq !== 1 || prevHash !== ZEROS;
    return seq !== chain[i - 1]!.seq + 1 || prevHash !== hashElsewhere(chain[i - 1]!, of[i - 1]!.sha256);
  });
  return index === -1 ? null : index;
}

/** The same list with one hash replaced by another. */
const changed = <T extends { sha256: string }>(list: T[], at: number, sha256: string): T[] =>
  list.map((item, i) => (i === at ? { ...item, sha256 } : item));

const someWithChange = fc
  .tuple(some, fc.nat(), sha256)
  .map(([list, n, other]) => ({ list, at: n % list.length, other }))
  .filter(({ list, at, other }) => list[at]!.sha256 !== other);

describe('the hash of a link', () => {
  it('is what the contract says, computed without us', () => {
    fc.assert(
      fc.property(link, sha256, (link, sha256) => {
        expect(linkHash(link, sha256)).toBe(hashElsewhere(link, sha256));
      }),
    );
    const first = { seq: 1, prevHash: ZEROS };
    expect(linkHash(first, 'ab'.repeat(32))).toBe(hashElsewhere(first, 'ab'.repeat(32)));
  });

  it('is 64 hex digits, and another for any other place, past or receipt', () => {
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

  it('depends on nothing else that the link carries', () => {
    fc.assert(
      fc.property(link, sha256, fc.uuid(), (link, sha256, receiptId) => {
        const stored = { ...link, receiptId };
        expect(linkHash(stored, sha256)).toBe(linkHash(link, sha256));
      }),
    );
  });
});

describe('a chain of receipts', () => {
  it('begins at one with 64 zeros, and holds together to its end', () => {
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

  it('goes on where it ended', () => {
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

  it('is the same for the same receipts, and changes nothing it is given', () => {
    fc.assert(
      fc.property(end, receipts, (end, list) => {
        const before = structuredClone({ end, list });
        expect(extendReceiptChain(end, list)).toEqual(extendReceiptChain(structuredClone(end), structuredClone(list)));
        expect({ end, list }).toEqual(before);
      }),
    );
  });

  it('extended in parts, however many, is the one extended at once', () => {
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

  it('shows any change of a receipt in every later link, and in no earlier one', () => {
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

  it('shows a receipt changed, taken out or swapped under the stored links at the very next one', () => {
    fc.assert(
      fc.property(someWithChange, ({ list, at, other }) => {
        const chain = extendReceiptChain(null, list);
        const isLast = at === list.length - 1;
        // What the last link stands for is sealed by the link after it, not before.
        expect(breakOf(chain, changed(list, at, other))).toBe(isLast ? null : at + 1);
        const without = <T>(items: T[]) => items.filter((_, i) => i !== at);
        expect(breakOf(without(chain), without(list))).toBe(isLast ? null : at);
        if (isLast || list[at]!.sha256 === list[at + 1]!.sha256) return;
        const swapped = changed(changed(list, at, list[at + 1]!.sha256), at + 1, list[at]!.sha256);
        expect(breakOf(chain, swapped)).toBe(at + 1);
      }),
    );
  });

  it('of receipts with one and the same hash still has no two links alike', () => {
    fc.assert(
      fc.property(sha256, fc.integer({ min: 2, max: 50 }), (sha256, length) => {
        const list = Array.from({ length }, (_, i) => ({ id: `${i}` as ReceiptId, sha256 }));
        expect(new Set(extendReceiptChain(null, list).map(({ prevHash }) => prevHash)).size).toBe(length);
      }),
    );
  });
});
