import { describe, expect, it } from 'vitest';
import { withFaults } from '../../world/faults.ts';
import { answersOf, archiveAll, keepBooks, keptOf } from '../../world/old-books.ts';
import { World } from '../../world/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });

describe('what is old', () => {
  it('is answered from the archive as it was from the database, to the byte', async () => {
    const books = await keepBooks(w, 3);
    const before = await answersOf(w, books);
    const { rows } = await keptOf(w, books);
    expect(rows).toBeGreaterThan(15);
    expect(await archiveAll(w)).toEqual({ taken: expect.any(Number), isFinished: true });
    expect(await keptOf(w, books)).toEqual({ rows: 0, archived: rows, objects: expect.any(Number), receipts: 2 });
    expect(await answersOf(w, books)).toEqual(before);
    expect(before.filter((answer) => answer.includes('"valid":true'))).toHaveLength(3);
  });
});

describe('a run that is cut', () => {
  const cuts = Array.from({ length: 6 }, (_, i) => i + 1).flatMap((trip) => [
    { trip, side: 'before' as const },
    { trip, side: 'after' as const },
  ]);

  it.each(cuts)('$side trip $trip loses and doubles nothing, and neither does the next', async ({ trip, side }) => {
    const books = await keepBooks(w);
    const [before, { rows }] = [await answersOf(w, books), await keptOf(w, books)];
    const { env, trips } = withFaults(w.env, { [side]: ({ number }: { number: number }) => number === trip });
    await expect(archiveAll(w, env)).rejects.toThrow();
    expect(trips.map(({ kind }) => kind)).toEqual(['read', 'read', 'read', 'put', 'get', 'batch'].slice(0, trip));
    const between = await keptOf(w, books);
    expect([between.rows + between.archived, between.objects]).toEqual([rows, trip === 6 && side === 'after' ? 1 : 0]);
    expect(await answersOf(w, books)).toEqual(before);
    await archiveAll(w);
    expect(await keptOf(w, books)).toEqual({ rows: 0, archived: rows, objects: 1, receipts: 1 });
    expect(await answersOf(w, books)).toEqual(before);
  });
});
