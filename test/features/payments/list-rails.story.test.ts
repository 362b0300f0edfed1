import { beforeAll, describe, expect, it } from 'vitest';
import { RAIL_IDS } from '#rules/product-rails.ts';
import { archiveAll, type Books, fillBooks } from '../../support/fixtures/old-books.ts';
import { World } from '../../support/world.ts';

describe('GET /v1/payments?rail_id', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let books: Books;
  let came: Record<string, string[]>;
  beforeAll(async () => {
    books = await fillBooks(w, 6);
    const [usdc, sol, x402, metered, renewal, last] = books.sales.map(({ paymentId }) => paymentId);
    came = {
      solana_usdc: [usdc!, last!],
      solana_sol: [sol!],
      x402_solana_usdc: [x402!],
      mpp_solana_usdc: [metered!],
      solana_usdc_subscription: [renewal!],
    };
    const become = (id: string | undefined, set: string) => w.env.DB.prepare(`UPDATE payments SET ${set} WHERE id = ?`).bind(id);
    await w.env.DB.batch([
      become(sol, "asset = 'SOL'"),
      become(x402, "reference = ''"),
      become(metered, "reference = '', terms = json_set(terms, '$.isMetered', json('true'))"),
      become(renewal, "terms = json_set(terms, '$.authorizationId', 'aut_1', '$.periodEndsAt', 1800000000000)"),
    ]);
  });

  it.each(['as they were paid', 'once they are in the archive'])(
    'the list of a rail has exactly the payments of that rail, %s',
    async (when) => {
      if (when !== 'as they were paid') await archiveAll(w);
      for (const railId of RAIL_IDS) {
        const { body } = await w.call('GET', `/v1/payments?rail_id=${railId}`, { key: books.merchant.key });
        const items = body.items as { payment_id: string; rail_id: string }[];
        expect([...new Set(items.map((item) => item.rail_id))], railId).toEqual([railId]);
        expect(items.map(({ payment_id }) => payment_id).sort(), railId).toEqual(came[railId]!.toSorted());
      }
      const archived = await w.env.DB.prepare('SELECT count(*) AS n FROM archived_payments').first<number>('n');
      // The end of the receipt chain stays in the database, and its payment with it.
      expect(archived).toBe(when === 'as they were paid' ? 0 : books.sales.length - 1);
    },
  );
});
