import { expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { DAY } from '#core/time.ts';
import { archiveLogs } from '#features/retention/log-archive.ts';
import { archiveAll, ctxAt } from '../../support/fixtures/old-books.ts';
import { newKey } from '../../support/people/agent.ts';
import { watchCopy } from '../../support/people/entitlement-copy.ts';
import { completeErasures, erasuresLeft, findWord } from '../../support/people/erased-customer.ts';
import { type Body, World } from '../../support/world.ts';

it('an erasure rewrites archived lines in position, also with a reference shorter than the erased one', async () => {
  const w = new World();
  const { DB } = w.env;
  const ada = await w.merchant();
  const product = await w.product(ada, { access_period_days: 30 });
  const get = async (path: string) => (await w.call('GET', `/v1/${path}`, { key: ada.key })).body as Body;
  const copies = await Promise.all(['q7', 'other'].map((customerRef) => watchCopy(w, ada, product.product_id, { customerRef })));
  const sales = [];
  for (const customer_ref of ['q7', 'other'])
    sales.push(await w.purchase(product, await w.chain.wallet(), { customer_ref, email: `${customer_ref}@planted.example` }));
  for (let round = 0; round < 4; round++) {
    while (w.queue.sent.length > 0) await w.deliver();
    for (const storeCopy of copies) await storeCopy();
  }
  await w.sweepAlone('analytics');
  await DB.batch([
    DB.prepare('UPDATE payments SET finalized_at = confirmed_at + 20000 WHERE finalized_at IS NULL AND confirmed_at IS NOT NULL'),
    DB.prepare('UPDATE tx_claims SET final_at = confirmed_at + 20000, next_check_at = NULL WHERE final_at IS NULL'),
  ]);
  const path = `/v1/customers/${customerIdOf(ada.userId, true, { customerRef: 'q7' })}`;
  const noted = { name: 'Named q7@planted.example' };
  expect((await w.call('PATCH', path, { key: ada.key, body: noted })).status).toBe(200);
  await w.sweepAlone('audit');
  await archiveAll(w);
  await archiveLogs(ctxAt(w.env, 800 * DAY));
  const readObjects = async () => {
    const keys = (await DB.prepare('SELECT key FROM archives UNION ALL SELECT key FROM audit_archives').all<{ key: string }>()).results;
    return Promise.all(keys.map(async ({ key }) => (await w.env.ARCHIVE!.get(key))!.text()));
  };
  const before = await readObjects();
  expect(before.join('')).toContain('"email":"q7@planted.example');
  expect(before.join('')).toContain('Named q7@planted.example');
  const other = await get(`payments/${sales[1]!.payment.payment_id}`);
  const headers = { 'Idempotency-Key': newKey() };
  expect((await w.call('POST', `${path}/erase`, { key: ada.token, headers, body: { end_access: true } })).status).toBe(202);
  const silent = { ...w.env, ARCHIVE: { ...w.env.ARCHIVE!, get: () => Promise.reject(new Error('no answer')) } as unknown as R2Bucket };
  for (let run = 0; run < 6; run++) await completeErasures(w, silent, 1);
  const { body: erasedNow } = await w.call('GET', path, { key: ada.key });
  expect([erasedNow.status, await erasuresLeft()]).toEqual(['erased', 1]);
  const ended = async () => (await get('webhooks/events?event_type=customer.erased')).total;
  expect(await ended()).toBe(1);
  await completeErasures(w);
  expect(await ended()).toBe(1);
  const after = await readObjects();
  expect(after.join('')).not.toMatch(/q7@planted|"q7"/);
  const lengthsOf = ([text]: string[]) => text!.split('\n').map(({ length }) => length);
  expect(lengthsOf(after)).toEqual(lengthsOf(before));
  expect((await w.call('GET', '/v1/account/audit-log/verify', { key: ada.token })).body.valid).toBe(true);
  expect(await findWord('q7@planted')).toEqual([]);
  const erased = await get(`payments/${sales[0]!.payment.payment_id}`);
  expect([erased.customer_ref, erased.tx_signature]).toEqual([expect.stringMatching(/^erased:[0-9a-f]{8}$/), sales[0]!.signature]);
  expect(await get(`payments/${sales[1]!.payment.payment_id}`)).toEqual({ ...other, now: expect.any(String) });
  expect((await get(`receipt/${sales[0]!.confirmed.receipt_id}/verify`)).valid).toBe(true);
});
