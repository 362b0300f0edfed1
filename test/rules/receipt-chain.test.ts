import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Anchor, anchorAfter, followLinks, type Link, linkHash } from '#features/receipts/hash-chain.ts';

const ZEROS = '0'.repeat(64);
const sha256 = fc.stringMatching(/^[0-9a-f]{64}$/);
const hashes = fc.array(sha256, { minLength: 1, maxLength: 40 });
/** Receipt hashes in order, each with how many of its predecessors were inserted after its anchor was read. */
const history = fc.array(fc.record({ sha256, missed: fc.nat({ max: 6 }) }), { minLength: 1, maxLength: 40 });
const link: fc.Arbitrary<Link> = fc.record({ seq: fc.integer({ min: 1, max: 2 ** 40 }), prevHash: sha256 });

/** Computes the hash from the published contract alone: SHA-256 of the canonical JSON with sorted members. */
const hashElsewhere = ({ seq, prevHash }: Link, sha256: string): string =>
  createHash('sha256').update(`{"prev_hash":"${prevHash}","seq":${seq},"sha256":"${sha256}"}`).digest('hex');

type Row = { seq: number; sha256: string } & Anchor;

/** Inserts receipts as the service does: each reads the end of the chain as it was some receipts ago. */
function insertAll(list: { sha256: string; missed: number }[]): Row[] {
  const rows: Row[] = [];
  for (const { sha256, missed } of list) {
    const seen = rows.slice(0, Math.max(0, rows.length - missed));
    const last = seen.at(-1);
    rows.push({ seq: rows.length + 1, sha256, ...anchorAfter(seen.filter(({ seq }) => seq > (last?.anchorSeq ?? 0))) });
  }
  return rows;
}

const prevHashOf = (rows: Row[], { seq, ...anchor }: Row): string =>
  followLinks(
    anchor,
    rows.filter((row) => row.seq > anchor.anchorSeq && row.seq < seq),
  );

function linksOf(list: string[]): string[] {
  const rows = insertAll(list.map((sha256) => ({ sha256, missed: 0 })));
  return rows.map((row) => prevHashOf(rows, row));
}

/** Previous hashes from the published contract alone. */
function linksElsewhere(list: string[]): string[] {
  const links = [ZEROS];
  for (const [i, sha256] of list.entries()) links.push(hashElsewhere({ seq: i + 1, prevHash: links[i]! }, sha256));
  return links.slice(0, -1);
}

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

describe('followLinks and anchorAfter', () => {
  it('every link equals the contract’s, however late the anchors were read', () => {
    fc.assert(
      fc.property(history, (list) => {
        const rows = insertAll(list);
        expect(rows.map((row) => prevHashOf(rows, row))).toEqual(linksElsewhere(list.map(({ sha256 }) => sha256)));
      }),
    );
  });

  it('the first receipt follows 64 zeros', () => {
    expect(anchorAfter([])).toEqual({ anchorSeq: 0, anchorHash: ZEROS });
  });

  it('an anchor read without others between is the previous link', () => {
    fc.assert(
      fc.property(hashes, (list) => {
        const rows = insertAll(list.map((sha256) => ({ sha256, missed: 0 })));
        expect(rows.map(({ anchorSeq, anchorHash }) => [anchorSeq, anchorHash])).toEqual(linksElsewhere(list).map((hash, i) => [i, hash]));
      }),
    );
  });

  it('a changed receipt changes every later link and no earlier one', () => {
    fc.assert(
      fc.property(hashes, fc.nat(), sha256, (list, n, other) => {
        const at = n % list.length;
        fc.pre(list[at] !== other);
        const forged = linksOf(list.with(at, other));
        for (const [i, hash] of linksOf(list).entries()) expect(forged[i] === hash, `link ${i} after a change at ${at}`).toBe(i <= at);
      }),
    );
  });

  it('receipts with the same hash still give different links', () => {
    fc.assert(
      fc.property(sha256, fc.integer({ min: 2, max: 50 }), (sha256, length) => {
        expect(new Set(linksOf(Array.from({ length }, () => sha256))).size).toBe(length);
      }),
    );
  });
});
