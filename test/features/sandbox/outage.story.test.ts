import { beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { runScenario } from '../../support/clients/sandbox.ts';
import { type Merchant, World } from '../../support/world.ts';

describe('sandbox sweeps after an outage of three days', () => {
  const w = new World();
  const outageMs = 3 * DAY;
  let ada: Merchant;
  let product: { slug: string };
  beforeAll(async () => {
    ada = await w.merchant();
    product = await w.product({ ...ada, key: ada.sandboxKey });
    await w.sweepAlone('sandboxes');
  });
  const set = (sql: string, ...values: unknown[]) =>
    w.env.DB.prepare(sql)
      .bind(...values)
      .run();
  const endedAgo = (id: string, ms: number) => set('UPDATE payments SET expires_at = ? WHERE id = ?', Date.now() - ms, id);
  const swept = async () => {
    w.queue.sent.length = 0;
    await w.sweepAlone('sandboxes');
    return w.queue.sent.flatMap(({ job }) => (job.kind === 'sweepSandbox' ? [job] : []));
  };
  const readStatus = async (id: string) => (await w.call('GET', `/v1/payments/${id}`)).body.status;

  it('rows that fell due during the outage are swept afterwards', async () => {
    const { payment_id: id } = await w.connect(product);
    await set("UPDATE cursors SET passed_at = ? WHERE name = 'sandboxes'", Date.now() - outageMs);
    await endedAgo(id, outageMs - 1000);
    const jobs = await swept();
    expect(jobs).toMatchObject([{ merchantId: ada.userId }]);
    await w.deliver(jobs);
    expect(await readStatus(id)).toBe('FAILED');
    expect(await swept()).toEqual([]);
  });

  it('rows of a session follow only the session clock and wake no merchant sweep', async () => {
    await runScenario(w, ada, 'payment_underpaid');
    await set("UPDATE payments SET expires_at = ? WHERE livemode = 0 AND status LIKE 'PENDING%'", Date.now() - DAY / 2);
    expect(await swept()).toEqual([]);
  });
});
