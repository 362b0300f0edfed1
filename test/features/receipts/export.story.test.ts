import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { type ReceiptFilter, walkReceipts } from '#features/receipts/list.store.ts';
import type { Scope } from '#platform/context.ts';
import worker from '../../../worker/index.ts';
import { multiply } from '../../support/fixtures/multiply.ts';
import { archiveAll, type Books, fillBooks } from '../../support/fixtures/old-books.ts';
import { withRowCount } from '../../support/runner/rows-read.ts';
import { shardOf } from '../../support/runner/shards.ts';
import { World } from '../../support/world.ts';

const ROWS_MAX = 100_000;

/** Streams a merchant's export. It may exceed the limits of a request, so the test counts its calls. */
async function openExport<T>(w: World, key: string, read: (response: Response) => Promise<T>): Promise<{ answer: T; calls: number }> {
  const { env, readings } = withRowCount(w.env);
  const execution = createExecutionContext();
  const request = new Request('https://svc.test/v1/receipts/export.csv', { headers: { 'X-Svc-Key': key } });
  const answer = await read(await worker.fetch(request, env, execution));
  await waitOnExecutionContext(execution);
  return { answer, calls: readings.length };
}

describe('receipt export with an archive', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  const scopeOf = ({ merchant }: Books): Scope => {
    const ctx = shardOf(w.env, merchant.userId);
    return { ...ctx, merchantId: merchant.userId, livemode: true } as Scope;
  };
  const idsOf = ({ sales }: Books) => sales.map(({ receiptId }) => receiptId).reverse();

  it.each<[string, ReceiptFilter]>([
    ['all', {}],
    ['those of a word', { q: 'weather' }],
    ['those of both directions', { direction: 'all' }],
  ])('each receipt is exported once, newest first, if %s are archived between two pages', async (_which, filter) => {
    const books = await fillBooks(w, 5);
    const found: string[] = [];
    for await (const page of walkReceipts(scopeOf(books), filter, { max: 100, pageMax: 2 })) {
      found.push(...page.map(({ id }) => id));
      await archiveAll(w);
    }
    expect(found).toEqual(idsOf(books));
  });

  it('the file does not change when receipts are archived, and invoice metadata is found before and after', async () => {
    const books = await fillBooks(w, 3);
    const { key } = books.merchant;
    const [newest, middle, oldest] = idsOf(books) as [string, string, string];
    const write = (id: string, body: object) => w.call('PATCH', `/v1/receipt/${id}/invoice-metadata`, { key, body });
    const find = async (q: string) =>
      (await w.call('GET', `/v1/receipts?q=${q}`, { key })).body.items.map((item: { receipt_id: string }) => item.receipt_id);
    const file = async () => (await w.call<string>('GET', '/v1/receipts/export.csv', { key })).body;
    await write(oldest, { invoice_number: 'OLD-1', reference: 'both' });
    await write(newest, { invoice_number: 'NEW-1', reference: 'both' });
    const before = await file();
    await archiveAll(w);
    expect(await file()).toBe(before);
    await write(middle, { invoice_number: 'MIDDLE-1', bill_to: { name: 'Kwame' } });
    await write(oldest, { invoice_number: 'OLD-2' });
    for (const [q, ids] of [
      ['OLD-2', [oldest]],
      ['OLD-1', []],
      ['kwame+MIDDLE-1', [middle]],
      ['both', [newest, oldest]],
      ['weather', [newest, middle, oldest]],
      ['weather+NEW-1', [newest]],
      ['OLD-2+NEW-1', []],
    ] as const)
      expect([q, await find(q)]).toEqual([q, ids]);
    // Invoice terms are no longer found after the deletion. The name of the product is.
    await w.call('DELETE', '/v1/account/account', { key: books.merchant.token });
    const left = async (index: string, term: string) =>
      (await w.env.DB.prepare(`SELECT count(*) AS n FROM ${index} WHERE ${index} MATCH ?`)
        .bind(`owner:m${books.merchant.userId.replaceAll('-', '')}1 AND words:${term}`)
        .first<number>('n'))!;
    const invoiceTerms = await Promise.all(['kwame', 'both', 'weather'].map((term) => left('invoice_words', term)));
    expect([...invoiceTerms, await left('name_words', 'weather')]).toEqual([0, 0, 0, 1]);
  });
});

describe('receipt export above its limit', () => {
  const w = new World();
  it('the export is marked as truncated, ends after 100,000 rows, and streams page by page', async () => {
    const ada = await w.merchant();
    const { confirmed } = await w.purchase(await w.product(ada, { name: '=1+1, "quoted"' }), await w.chain.wallet());
    const id = confirmed.receipt_id;
    await multiply(w.env.DB, 'receipts', 'id', id, ROWS_MAX, {
      id: "printf('01900000-0000-7000-8000-%012d', i)",
      payment_id: "printf('01900000-0000-7000-9000-%012d', i)",
      tx_signature: "'copy-' || i",
      seq: 'receipts.seq - i',
      created_at: 'receipts.created_at - i',
    });
    const begun = await openExport(w, ada.key, async (response) => {
      const reader = response.body!.getReader();
      for (let part = 0; part < 2; part++) await reader.read();
      await reader.cancel();
      return response.headers.get('x-svc-truncated');
    });
    expect(begun.answer).toBe('true');
    expect(begun.calls).toBeLessThan(30);
    const { answer, calls } = await openExport(w, ada.key, async (response) => {
      let rows = 0;
      const ids = new Set<string>();
      let name = '';
      let rest = '';
      const decoder = new TextDecoder();
      for await (const bytes of response.body!) {
        const text = rest + decoder.decode(bytes, { stream: true });
        const end = text.lastIndexOf('\r\n') + 2;
        rest = text.slice(end);
        for (const cells of Papa.parse<string[]>(text.slice(0, end), { skipEmptyLines: true }).data) {
          if (cells[0] === 'receipt_id') continue;
          rows++;
          ids.add(cells[0]!);
          name = cells[4]!;
        }
      }
      return { rows, ids, name };
    });
    const { rows, ids, name } = answer;
    expect([rows, ids.size, name, ids.has(id)]).toEqual([ROWS_MAX, ROWS_MAX, '\'=1+1, "quoted"', true]);
    // Includes the reads of the archive, within the call limit of an invocation.
    expect(calls).toBeLessThan(320);
  });
});
