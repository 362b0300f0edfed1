import { describe, expect, it } from 'vitest';
import { sha256Hex } from '#core/crypto.ts';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import { sweepArchive } from '#features/retention/archive.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { archiveAll, countStored, ctxAt, fillBooks, OLD, readAnswers } from '../../support/fixtures/old-books.ts';
import { activate, newSpender, openTreasury } from '../../support/people/activation.ts';
import { World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });

describe('archived data', () => {
  it('archived data is answered byte for byte as before', async () => {
    const books = await fillBooks(w, 3);
    const before = await readAnswers(w, books);
    const { rows } = await countStored(w, books);
    expect(rows).toBeGreaterThan(15);
    expect(await archiveAll(w)).toEqual({ taken: expect.any(Number), end: 'empty' });
    expect(await countStored(w, books)).toEqual({ rows: 0, archived: rows, objects: expect.any(Number), payments: 2, receipts: 2 });
    expect(await readAnswers(w, books)).toEqual(before);
    expect(before.filter((answer) => answer.includes('"valid":true'))).toHaveLength(3);
  });
});

describe('archived receipt chains', () => {
  it('chains of received and paid receipts continue after their earlier receipts were archived', async () => {
    await openTreasury(w);
    const agent = await newSpender(w);
    const { merchant } = await fillBooks(w, 3);
    const { key } = merchant;
    // The default test plan has no end and cannot be bought again.
    await w.env.DB.prepare("UPDATE accounts SET plan = 'free', plan_through = NULL WHERE id = ?").bind(merchant.userId).run();
    const buyPlan = async () => expect((await activate(w, agent, 'starter', { key })).status).toBe(200);
    const links = async (direction: string) =>
      (await w.call('GET', `/v1/receipts?direction=${direction}`, { key })).body.items.map(
        ({ link }: { link: { seq: number; prev_hash: string } }) => link,
      );
    for (let i = 0; i < 2; i++) await buyPlan();
    while (w.queue.sent.length > 0) await w.deliver();
    const before = [await links('received'), await links('paid')];
    expect(before.map((chain) => chain.map(({ seq }: { seq: number }) => seq))).toEqual([
      [3, 2, 1],
      [2, 1],
    ]);
    await archiveAll(w);
    const ends = 'SELECT seq FROM receipts WHERE merchant_id = ? ORDER BY created_at';
    const left = await w.env.DB.prepare(ends).bind(merchant.userId).raw();
    expect(left).toEqual([[3], [2]]);
    expect([await links('received'), await links('paid')]).toEqual(before);
    await w.purchase(await w.product(merchant), await w.chain.wallet());
    await buyPlan();
    for (const [i, direction] of ['received', 'paid'].entries()) {
      const [next, ...rest] = await links(direction);
      expect(rest).toEqual(before[i]);
      expect(next).toMatchObject({ seq: rest.length + 1, prev_hash: expect.stringMatching(/^(?!0{64})[0-9a-f]{64}$/) });
    }
  });

  it('a chain continues from the archive if its end was erased with a sandbox session', async () => {
    const { merchant } = await fillBooks(w, 3);
    const { key, userId } = merchant;
    const list = async () => (await w.call('GET', '/v1/receipts', { key })).body.items;
    const linkAfter = ({ link: { seq, prev_hash }, sha256 }: { link: { seq: number; prev_hash: string }; sha256: string }) => ({
      seq: seq + 1,
      prev_hash: sha256Hex(utf8(canonicalJson({ seq, prev_hash, sha256 }))),
    });
    const [, second] = await list();
    await archiveAll(w);
    await w.purchase(await w.product(await w.merchant()), await w.chain.wallet());
    await w.env.DB.prepare('DELETE FROM receipts WHERE merchant_id = ?').bind(userId).run();
    const product = await w.product(merchant);
    for (let i = 0; i < 3; i++) await w.purchase(product, await w.chain.wallet());
    const [fifth, fourth, third] = await list();
    expect(third.link).toEqual(linkAfter(second));
    expect(fourth.link).toEqual(linkAfter(third));
    expect(fifth.link).toEqual(linkAfter(fourth));
    // Later links no longer read the archive.
    const anchors = await w.env.DB.prepare('SELECT seq - anchor_seq AS back FROM receipts WHERE merchant_id = ? ORDER BY seq DESC LIMIT 2')
      .bind(userId)
      .all();
    expect(anchors.results).toEqual([{ back: 1 }, { back: 1 }]);
  });
});

describe('interrupted archive run', () => {
  const KINDS = ['write', 'read', 'read', 'batch', 'read', 'write', 'put', 'get', 'batch'];
  // A cut after a trip without writes equals a cut before the next one.
  const cuts = KINDS.flatMap((kind, i) => [
    { trip: i + 1, side: 'before' as const },
    ...(kind === 'read' || kind === 'get' || i === 3 ? [] : [{ trip: i + 1, side: 'after' as const }]),
  ]);

  it.each(cuts)('a run interrupted $side trip $trip loses and duplicates nothing, nor does the next run', async ({ trip, side }) => {
    const books = await fillBooks(w);
    const [before, { rows }] = [await readAnswers(w, books), await countStored(w, books)];
    const { env, trips } = withFaults(w.env, { [side]: ({ number }: { number: number }) => number === trip });
    await expect(archiveAll(w, env)).rejects.toThrow();
    expect(trips.slice(0, trip).map(({ kind }) => kind)).toEqual(KINDS.slice(0, trip));
    const between = await countStored(w, books);
    expect([between.rows + between.archived, between.objects]).toEqual([rows, trip === 9 && side === 'after' ? 1 : 0]);
    expect(await readAnswers(w, books)).toEqual(before);
    await archiveAll(w);
    expect(await countStored(w, books)).toEqual({ rows: 0, archived: rows, objects: 1, payments: 1, receipts: 1 });
    expect(await readAnswers(w, books)).toEqual(before);
    const { userId } = books.merchant;
    const objects = async () => (await w.env.ARCHIVE!.list({ prefix: `${userId}/` })).objects.map(({ key }) => key);
    const isOrphaned = trip > 7 || (trip === 7 && side === 'after');
    const isIndexed = trip === 9 && side === 'after';
    expect((await objects()).length).toBe(isOrphaned && !isIndexed ? 2 : 1);
    await sweepArchive(ctxAt(w.env, OLD + 2 * 3_600_000));
    const { results } = await w.env.DB.prepare('SELECT key FROM archives WHERE merchant_id = ?').bind(userId).all<{ key: string }>();
    expect(await objects()).toEqual(results.map(({ key }) => key));
    expect((await w.env.DB.prepare('SELECT * FROM archive_drafts').all()).results).toEqual([]);
  });
});
