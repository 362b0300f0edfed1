// @module-tag quick
import { describe, expect, it } from 'vitest';
import type { Payment } from '../../sdk/src/index.ts';
import { catchFailure, refusal, scripted } from './scripted-client.ts';

const page = (number: number, ids: string[], has_more: boolean) =>
  Response.json({ items: ids.map((payment_id) => ({ payment_id })), page: number, per_page: 2, total: 5, total_pages: 3, has_more });
const THREE_PAGES = [page(1, ['a', 'b'], true), page(2, ['c', 'd'], true), page(3, ['e'], false)];
const searches = (seen: { url: string }[]) => seen.map(({ url }) => new URL(url).search);

async function readIds(items: AsyncIterable<Payment>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { payment_id } of items) ids.push(payment_id);
  return ids;
}

describe('lists by page', () => {
  it('an awaited list is its page, with the facts of the transport', async () => {
    const { client, seen } = scripted(THREE_PAGES);
    const first = await client.payments.list({ status: 'CONFIRMED', per_page: 2 });
    expect([first.items.length, first.has_more, first.response.status]).toEqual([2, true, 200]);
    expect(searches(seen)).toEqual(['?status=CONFIRMED&per_page=2']);
  });

  it('an iterated list is every item of three pages, under the same filter', async () => {
    const { client, seen } = scripted(THREE_PAGES);
    expect(await readIds(client.payments.list({ status: 'CONFIRMED' }))).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(searches(seen)).toEqual(['?status=CONFIRMED', '?status=CONFIRMED&page=2', '?status=CONFIRMED&page=3']);
  });

  it('nothing is fetched before the list is awaited or iterated, and the first page only once', async () => {
    const { client, seen } = scripted(THREE_PAGES);
    const list = client.payments.list();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).toEqual([]);
    expect((await list).items.length).toBe(2);
    expect(await readIds(list)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(seen.length).toBe(3);
  });

  it('a loop that ends early fetches no further page', async () => {
    const { client, seen } = scripted(THREE_PAGES);
    for await (const { payment_id } of client.payments.list()) if (payment_id === 'b') break;
    expect(seen.length).toBe(1);
  });

  it('a page that fails throws, and the items before it stay', async () => {
    const { client } = scripted([THREE_PAGES[0]!, refusal(422, 'validation_error')]);
    const read: string[] = [];
    const reading = async () => {
      for await (const { payment_id } of client.payments.list()) read.push(payment_id);
    };
    expect((await catchFailure(reading())).code).toBe('validation_error');
    expect(read).toEqual(['a', 'b']);
  });

  it('a list asks again after its first page failed', async () => {
    const { client, seen } = scripted([refusal(503, 'misconfigured'), ...THREE_PAGES]);
    const list = client.payments.list();
    expect((await catchFailure(readIds(list))).code).toBe('misconfigured');
    expect(await readIds(list)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect([(await list).items.length, seen.length]).toEqual([2, 4]);
  });

  it('a page is repeated like any read', async () => {
    const { client, seen } = scripted([THREE_PAGES[0]!, new TypeError('reset'), THREE_PAGES[1]!, THREE_PAGES[2]!]);
    expect(await readIds(client.payments.list())).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(seen.length).toBe(4);
  });

  it('a list is a promise: then, catch and finally work', async () => {
    const { client } = scripted([refusal(404, 'not_found')]);
    let isEnded = false;
    const ended = client.payments.list().finally(() => {
      isEnded = true;
    });
    expect((await catchFailure(ended)).code).toBe('not_found');
    expect(isEnded).toBe(true);
    expect(await client.payments.list().catch(({ code }) => code)).toBe('not_found');
    const [settled] = await Promise.allSettled([client.payments.list()]);
    expect(settled.status).toBe('rejected');
  });
});

describe('lists by cursor', () => {
  it('events go on after the last one, past row 10,000', async () => {
    const total = 10_250;
    const asked: string[] = [];
    const { client } = scripted([], {
      fetch: async ({ url }) => {
        const { search, searchParams } = new URL(url);
        asked.push(search);
        // The service refuses a page beyond row 10,000.
        expect(searchParams.has('page')).toBe(false);
        const start = Number(searchParams.get('after')?.slice(4) ?? 0);
        const count = Math.min(100, total - start);
        const items = Array.from({ length: count }, (_, index) => ({ id: `evt_${start + index + 1}` }));
        return Response.json({ items, page: 1, per_page: 100, has_more: start + count < total });
      },
    });
    let read = 0;
    for await (const { id } of client.events.list({ per_page: 100 })) expect(id).toBe(`evt_${++read}`);
    expect([read, asked.length]).toEqual([total, 103]);
    expect(asked.slice(0, 2)).toEqual(['?per_page=100', '?per_page=100&after=evt_100']);
  });

  it('a page that was asked for by number is followed by its cursor', async () => {
    const { client, seen } = scripted([
      Response.json({ items: [{ id: 'evt_3' }], page: 3, has_more: true }),
      Response.json({ items: [], page: 1, has_more: false }),
    ]);
    for await (const _ of client.events.list({ page: 3, event_type: 'payment.confirmed' }));
    expect(searches(seen)).toEqual(['?page=3&event_type=payment.confirmed', '?event_type=payment.confirmed&after=evt_3']);
  });

  it('a timeline goes on by the cursor that its page names', async () => {
    const { client, seen } = scripted([
      Response.json({ items: [{ kind: 'event', at: '1' }], next: 'cursor-1' }),
      Response.json({ items: [{ kind: 'delivery', at: '2' }], next: null }),
    ]);
    const read: string[] = [];
    for await (const { at } of client.events.getTimeline({ payment_id: 'p' })) read.push(at);
    expect(read).toEqual(['1', '2']);
    expect(searches(seen)).toEqual(['?payment_id=p', '?payment_id=p&after=cursor-1']);
  });
});
