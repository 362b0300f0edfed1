import { eq } from 'drizzle-orm';
import { describe, expect, it, vi } from 'vitest';
import { type AccountId, actOfEvent, eventIdOf } from '#core/ids.ts';
import { verifyReceipt } from '#features/receipts/document.ts';
import { sweepArchive } from '#features/retention/archive.ts';
import { receipts as receiptRows } from '#platform/db/tables/receipts.ts';
import { exampleOf } from '../../../worker/published/event-catalog.ts';
import { changeActs } from '../../support/fixtures/acts.ts';
import { archiveAll, countStored, ctxAt, fillBooks, readAnswers } from '../../support/fixtures/old-books.ts';
import { attemptOf, consumer, deliveries, emit, received } from '../../support/people/consumer.ts';
import { pause } from '../../support/runner/queues.ts';
import { rowsOf, withRowCount, worstOf } from '../../support/runner/rows-read.ts';
import { type Merchant, World } from '../../support/world.ts';

const DAY = 86_400_000;
const HOUR = 3_600_000;
const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const run = (sql: string, ...values: unknown[]) =>
  w.env.DB.prepare(sql)
    .bind(...values)
    .run();

/** Emits events at the given times and marks them as fanned out. */
async function happened(merchant: Merchant, times: number[], livemode = true): Promise<string[]> {
  const jobs = await emit(w, merchant, times.length, { livemode });
  w.queue.sent.length = 0;
  const ids = jobs.flatMap((job) => (job.kind === 'fanOut' ? job.actIds : []));
  await run(
    `UPDATE acts SET fanned_out_at = 1, created_at = (SELECT j.value ->> 'at' FROM json_each(?) j WHERE j.value ->> 'id' = acts.id)
      WHERE id IN (SELECT value FROM json_each(?))`,
    JSON.stringify(ids.map((id, i) => ({ id, at: times[i] }))),
    JSON.stringify(ids),
  );
  return ids.map((id) => eventIdOf(id, 0));
}
const listed = async (merchant: Merchant, query = '', env = w.env) =>
  (await w.call('GET', `/v1/webhooks/events?per_page=100${query}`, { key: merchant.key, env })).body;
const listIds = async (merchant: Merchant, query = '') => (await listed(merchant, query)).items.map(({ id }: { id: string }) => id);
const listKeys = async ({ userId }: Merchant): Promise<string[]> =>
  (await w.env.ARCHIVE!.list({ prefix: `${userId}/` })).objects.map(({ key }) => key.split('/').slice(1, 3).join('/'));

describe('archive sweep', () => {
  const at = (now: number) => sweepArchive({ ...ctxAt(w.env, 0), now });

  it('complete days that fill an object are archived per merchant and mode ninety days after their end', async () => {
    const [ada, bob] = [await w.merchant(), await w.merchant()];
    const day = Date.UTC(2026, 0, 10);
    const many = (from: number, count = 100) => Array.from({ length: count }, (_, i) => from + i);
    const adas = await happened(ada, [...many(day - 1, 1), ...many(day - DAY, 99), ...many(day), day + DAY - 1]);
    const bobs = await happened(bob, many(day + 5));
    const inSandbox = await happened(ada, many(day + 7), false);
    adas.push(...(await happened(ada, [day + DAY])));
    expect(await at(day + 91 * DAY + HOUR - 1)).toEqual({ taken: 1, end: 'empty' });
    expect(await listKeys(ada)).toEqual(['live/2026-01-09']);
    expect(await at(day + 91 * DAY + HOUR)).toEqual({ taken: 3, end: 'empty' });
    expect((await listKeys(ada)).sort()).toEqual(['live/2026-01-09', 'live/2026-01-10', 'sandbox/2026-01-10']);
    expect(await listKeys(bob)).toEqual(['live/2026-01-10']);
    const pages = await Promise.all([1, 2, 3].map((page) => listIds(ada, `&page=${page}`)));
    expect([pages.flat(), await listIds(bob)]).toEqual([adas, bobs]);
    const { body } = await w.call('GET', '/v1/webhooks/events?per_page=100', { key: ada.sandboxKey });
    expect(body.items.map(({ id }: { id: string }) => id)).toEqual(inSandbox);
    await run('UPDATE acts SET created_at = ?', day);
    await at(day + 99 * DAY);
  });

  it('days with few events wait a week for more of the merchant and share an object', async () => {
    const [ada, bob] = [await w.merchant(), await w.merchant()];
    const day = Date.UTC(2026, 3, 10);
    const adas = await happened(
      ada,
      [0, 1, 2, 6, 7].map((i) => day + i * DAY),
    );
    const bobs = await happened(bob, [day + 3 * DAY]);
    expect(await at(day + 98 * DAY + HOUR - 1)).toEqual({ taken: 0, end: 'empty' });
    expect(await at(day + 98 * DAY + HOUR)).toEqual({ taken: 1, end: 'empty' });
    expect([await listKeys(ada), await listKeys(bob)]).toEqual([['live/2026-04-10'], []]);
    expect((await countStored(w, { merchant: ada, endpointId: '', sales: [] })).rows).toBe(0);
    expect(await at(day + 101 * DAY + HOUR)).toEqual({ taken: 1, end: 'empty' });
    expect([await listIds(ada), await listIds(bob)]).toEqual([adas, bobs]);
  });

  it('days with few events are archived as soon as they fill an object together', async () => {
    const ada = await w.merchant();
    const day = Date.UTC(2026, 6, 10);
    const ids = await happened(
      ada,
      Array.from({ length: 100 }, (_, i) => day + Math.floor(i / 50) * DAY + i),
    );
    expect(await at(day + 91 * DAY + HOUR)).toEqual({ taken: 0, end: 'empty' });
    expect(await at(day + 92 * DAY + HOUR)).toEqual({ taken: 1, end: 'empty' });
    expect(await listKeys(ada)).toEqual(['live/2026-07-10']);
    expect(await listIds(ada)).toEqual(ids);
  });

  it('archived events retain their storage order, also over several objects', async () => {
    const ada = await w.merchant();
    const day = Date.UTC(2026, 1, 10);
    const ids = await happened(
      ada,
      Array.from({ length: 1203 }, (_, i) => (i < 3 ? day - 5 : i === 5 ? day - 9 : day + i)),
    );
    expect(await archiveAll(w)).toEqual({ taken: 3, end: 'empty' });
    const pages = await Promise.all(Array.from({ length: 13 }, (_, i) => listIds(ada, `&page=${i + 1}`)));
    expect(pages.flat()).toEqual(ids);
    for (const type of ['', '&event_type=payout.changed']) {
      const behind = await listed(ada, `&page=3&after=${ids[700]}${type}`);
      expect([behind.items.map(({ id }: { id: string }) => id), behind.total]).toEqual([ids.slice(901, 1001), 502]);
    }
    expect((await listed(ada, '&after=evt_00000000000000000000000000')).code).toBe('validation_error');
    const more = await happened(ada, [Date.now(), Date.now()]);
    expect(await listIds(ada, `&after=${ids[1202]}`)).toEqual(more);
    expect(await listIds(ada, `&after=${more[0]}`)).toEqual(more.slice(1));
    expect(await listIds(ada, '&page=13')).toEqual([...ids.slice(1200), ...more]);
    expect(await listed(ada, '&event_type=payout.changed')).toMatchObject({ total: 1205, has_more: true });
    expect(await listed(ada, '&event_type=payment.failed')).toMatchObject({ total: 0, items: [] });
    await run('UPDATE acts SET created_at = ?', day);
    await archiveAll(w);
  });

  it('an event that was not fanned out is not archived and does not delay others', async () => {
    const ada = await w.merchant();
    const [first, second] = await happened(ada, [1, 2]);
    await run('UPDATE acts SET fanned_out_at = NULL WHERE id = ?', actOfEvent(first!));
    await archiveAll(w);
    expect(await countStored(w, { merchant: ada, endpointId: '', sales: [] })).toMatchObject({ rows: 1, archived: 1 });
    await run('UPDATE acts SET fanned_out_at = 1 WHERE id = ?', actOfEvent(first!));
    await archiveAll(w);
    expect((await listIds(ada)).sort()).toEqual([first!, second!].sort());
  });

  it('concurrent sweeps archive each row once', async () => {
    const books = await fillBooks(w);
    const [before, { rows }] = [await readAnswers(w, books), await countStored(w, books)];
    const runs = await Promise.allSettled([archiveAll(w), archiveAll(w), archiveAll(w)]);
    expect(runs.some(({ status }) => status === 'fulfilled')).toBe(true);
    await archiveAll(w);
    expect(await countStored(w, books)).toMatchObject({ rows: 0, archived: rows });
    expect(await readAnswers(w, books)).toEqual(before);
  });
});

describe('failing archive', () => {
  it('rows stay in the database if the archive does not return what was written', async () => {
    const books = await fillBooks(w);
    const before = await countStored(w, books);
    const bad = { put: async () => null, get: async () => new Response('{}') };
    for (const bucket of [bad, { ...bad, get: async () => null }])
      await expect(archiveAll(w, { ...w.env, ARCHIVE: bucket as unknown as R2Bucket })).rejects.toThrow('does not read');
    expect(await countStored(w, books)).toEqual(before);
    await archiveAll(w);
  });

  it('a failure for one merchant does not delay others, and the run fails', async () => {
    const [ada, bob, eve] = [await w.merchant(), await w.merchant(), await w.merchant()];
    const day = Date.UTC(2026, 2, 10);
    const [adas, bobs] = [await happened(ada, [day, day + DAY]), await happened(bob, [day, day + DAY])];
    const eves = await happened(eve, [day]);
    const bucket = w.env.ARCHIVE!;
    const put = (key: string, bytes: Uint8Array) =>
      key.startsWith(ada.userId) ? Promise.reject(new Error('too much of it')) : bucket.put(key, bytes);
    const ARCHIVE = { put, get: bucket.get.bind(bucket) } as unknown as R2Bucket;
    await expect(archiveAll(w, { ...w.env, ARCHIVE })).rejects.toThrow('too much of it');
    const countRows = async (merchant: Merchant) => (await countStored(w, { merchant, endpointId: '', sales: [] })).rows;
    expect([await countRows(ada), await countRows(bob), await countRows(eve)]).toEqual([2, 0, 0]);
    await archiveAll(w);
    expect([await listIds(ada), await listIds(bob), await listIds(eve)]).toEqual([adas, bobs, eves]);
  });

  it('a failure for all merchants is tried for few of them only', async () => {
    for (let i = 0; i < 20; i++) await happened(await w.merchant(), [1]);
    const put = vi.fn(() => Promise.reject(new Error('out of order')));
    await expect(archiveAll(w, { ...w.env, ARCHIVE: { put } as unknown as R2Bucket })).rejects.toThrow('out of order');
    // Five fail while five others are under way.
    expect(put.mock.calls.length).toBeLessThanOrEqual(10);
    await archiveAll(w);
  });

  it('rows stay in the database without an archive', async () => {
    const books = await fillBooks(w);
    const before = await countStored(w, books);
    expect(await archiveAll(w, { ...w.env, ARCHIVE: undefined })).toEqual({ taken: 0, end: 'empty' });
    expect(await countStored(w, books)).toEqual(before);
    await archiveAll(w);
  });

  it('reads of archived data are temporarily_unavailable while the archive fails', async () => {
    const books = await fillBooks(w);
    await archiveAll(w);
    const [{ receiptId, paymentId }, { receiptId: hot }] = books.sales as [Books, Books];
    const { key } = books.merchant;
    for (const ARCHIVE of [undefined, { get: () => Promise.reject(new Error('out of order')) } as unknown as R2Bucket]) {
      const env = { ...w.env, ARCHIVE };
      const asked = [
        '/v1/webhooks/events',
        `/v1/webhooks/timeline?payment_id=${paymentId}`,
        `/v1/receipt/${receiptId}/verify`,
        '/v1/receipts',
        '/v1/payments',
        `/v1/payments/${paymentId}`,
      ];
      for (const path of asked)
        expect([path, (await w.call('GET', path, { key, env })).body.code]).toEqual([path, 'temporarily_unavailable']);
      expect((await w.call('GET', `/v1/receipt/${hot}/verify`, { env })).body.valid).toBe(true);
      expect((await w.call('GET', '/v1/payments?status=FAILED', { key, env })).status).toBe(200);
    }
  });
  type Books = Awaited<ReturnType<typeof fillBooks>>['sales'][number];
});

describe('webhook delivery of an archived event', () => {
  it('a retry and a replay send the same bytes', async () => {
    const ada = await w.merchant();
    const mine = await consumer(w, ada, 'fail');
    await emit(w, ada, 3);
    await w.deliver();
    await w.attempt();
    await archiveAll(w);
    expect((await countStored(w, { merchant: ada, endpointId: '', sales: [] })).rows).toBe(0);
    await run('UPDATE webhook_deliveries SET next_attempt_at = 0, lease_until = 0 WHERE endpoint_id = ?', mine.id);
    const rows = await deliveries(mine);
    w.attempts.length = 0;
    await w.attempt(rows.map((row) => attemptOf(row, true)));
    expect((await w.call('POST', `/v1/webhooks/deliveries/${rows[0]!.id}/replay`, { key: ada.key })).status).toBe(200);
    await w.attempt();
    const bodies = (await received(mine)).map(({ body }) => body);
    expect(bodies).toHaveLength(7);
    expect(new Set(bodies).size).toBe(3);
    // An endpoint gets no event about its own creation.
    const sent = (await listed(ada)).items.filter(({ type }: { type: string }) => type === 'payout.changed');
    expect(new Set(bodies)).toEqual(new Set(sent.map((event: object) => JSON.stringify(event))));
  });
});

describe('archive of another tenant', () => {
  it('another tenant and another mode find nothing in the archive', async () => {
    const books = await fillBooks(w);
    await archiveAll(w);
    const bob = await w.merchant();
    const [{ paymentId, receiptId }] = books.sales as [(typeof books.sales)[number]];
    for (const key of [bob.key, books.merchant.sandboxKey]) {
      expect((await w.call('GET', `/v1/webhooks/timeline?payment_id=${paymentId}`, { key })).status).toBe(404);
      expect((await w.call('GET', `/v1/receipt/${receiptId}`, { key })).status).toBe(404);
    }
    expect((await listed(bob)).total).toBe(0);
  });
});

describe('archive objects', () => {
  it('an object stays below its size limit however large its events are', async () => {
    const ada = await w.merchant();
    const ids = await happened(
      ada,
      Array.from({ length: 200 }, (_, i) => Date.UTC(2025, 6, 1) + i),
    );
    const previous = { text: 'x'.repeat(60_000) };
    await changeActs(w.env.DB, 'merchant_id = ?', [ada.userId], ([event]) => Object.assign(event!.data, { previous }));
    await archiveAll(w);
    const { objects } = await w.env.ARCHIVE!.list({ prefix: `${ada.userId}/` });
    expect(objects).toHaveLength(12);
    for (const { size } of objects) expect(size).toBeLessThan(2 ** 20 + 2 * 60_000);
    expect([...(await listIds(ada)), ...(await listIds(ada, '&page=2'))]).toEqual(ids);
  });

  it('each archived receipt verifies by itself, and the end of its chain stays in the database', async () => {
    const books = await fillBooks(w, 3);
    await archiveAll(w);
    const { objects } = await w.env.ARCHIVE!.list({ prefix: `${books.merchant.userId}/` });
    const lines = (await (await w.env.ARCHIVE!.get(objects[0]!.key))!.text())
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const receipts = lines.flatMap(({ receipt }) => (receipt ? [receipt] : []));
    expect(receipts.map(({ id }) => id)).toEqual(books.sales.slice(0, 2).map(({ receiptId }) => receiptId));
    for (const receipt of receipts) expect(verifyReceipt(receipt, w.env.RECEIPT_KEYS as string).valid).toBe(true);
    const hot = await w.db
      .select()
      .from(receiptRows)
      .where(eq(receiptRows.merchantId, books.merchant.userId as AccountId));
    expect(hot.map(({ document }) => JSON.parse(document).receipt_id)).toEqual([books.sales[2]!.receiptId]);
    expect(hot[0]!.sha256).toMatch(/^[0-9a-f]{64}$/);
  });
});

describe('lists over many archive objects', () => {
  it('a list of a rare event type reads only objects with that type, a few at a time', async () => {
    const ada = await w.merchant();
    const rare: string[] = [];
    const { type, data } = exampleOf('payment.failed');
    for (let i = 0; i < 20; i++) {
      const ids = await happened(
        ada,
        [1, 2, 3].map((ms) => Date.UTC(2025, 5, 1 + i) + ms),
      );
      const renamed = actOfEvent(ids[1]!);
      await changeActs(w.env.DB, 'id = ?', [renamed], ([event]) => Object.assign(event!, { type, data }));
      await run('UPDATE acts SET rare_type = NULL WHERE id = ?', renamed);
      rare.push(ids[1]!);
      await archiveAll(w);
    }
    let [underWay, most] = [0, 0];
    const get = async (key: string) => {
      most = Math.max(most, ++underWay);
      try {
        const object = await w.env.ARCHIVE!.get(key);
        await pause(5);
        return object;
      } finally {
        underWay--;
      }
    };
    const parsed = vi.spyOn(JSON, 'parse');
    const { items } = await listed(ada, '&event_type=payment.failed', { ...w.env, ARCHIVE: { get } as unknown as R2Bucket });
    const lines = parsed.mock.calls.filter(([text]) => String(text).startsWith('{"event"'));
    parsed.mockRestore();
    expect(items.map(({ id }: { id: string }) => id)).toEqual(rare);
    expect([lines.length, most]).toEqual([20, 4]);
  });

  it('a list reads only the rows of its page and its count', async () => {
    const ada = await w.merchant();
    await run(
      `INSERT INTO archived_types (merchant_id, livemode, type, archive_id, events)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT ?, 1, '*', 1000000 + i, 1 FROM n`,
      ada.userId,
    );
    const { env, readings } = withRowCount(w.env);
    const { total, has_more } = await listed(ada, '&page=3', env);
    expect([total, has_more]).toEqual([10_000, true]);
    const counts = readings.filter(({ sql }) => /sum\(events\), 0\)|count\(\*\)/.test(sql));
    const pages = readings.filter((reading) => !counts.includes(reading));
    expect(rowsOf(pages), worstOf(pages)).toBeLessThanOrEqual(1500);
    expect(rowsOf(counts), worstOf(counts)).toBeLessThanOrEqual(4 * 10_001);
  });
});
