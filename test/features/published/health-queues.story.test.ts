import { describe, expect, it } from 'vitest';
import { MINUTE } from '#core/time.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const run = (query: string, ...values: unknown[]) =>
  testEnv.DB.prepare(query)
    .bind(...values)
    .run();
/** Health queries the database once in five seconds per environment, so each call gets its own. */
const health = async (query = '') => {
  const { status, body } = await w.call('GET', `/health${query}`, { env: { ...w.env } });
  return [status, body.status, body.checks.queue];
};
/** Longer than a queue and its sweep may both fail. */
const long = () => Date.now() - 31 * MINUTE;

describe('GET /health', () => {
  it('the queue check fails when a payment, an event or a webhook has been due for half an hour', async () => {
    const merchant = await w.merchant();
    const product = await w.product(merchant);
    const { payment_id } = await w.connect(product);
    await w.call('POST', '/v1/webhooks/endpoints', { key: merchant.key, body: { url: `${testEnv.TEST_RECEIVER_URL}/ok/health` } });
    // An endpoint receives only events created after it.
    await run('UPDATE webhook_endpoints SET created_at = ?', long() - MINUTE);
    await w.deliver();
    await w.attempt();
    expect(await health()).toEqual([200, 'ok', 'ok']);

    await w.product(merchant, { name: 'Another', payout_wallet: (await w.chain.wallet(0n)).address });
    expect(await health()).toEqual([200, 'ok', 'ok']);
    await run('UPDATE acts SET created_at = ? WHERE fanned_out_at IS NULL', long());
    expect(await health()).toEqual([200, 'degraded', 'failing']);
    await w.deliver();
    expect(await health()).toEqual([200, 'ok', 'ok']);

    await run("UPDATE webhook_deliveries SET next_attempt_at = ? WHERE status = 'pending'", long());
    expect(await health()).toEqual([200, 'degraded', 'failing']);
    await w.attempt();
    expect(await health()).toEqual([200, 'ok', 'ok']);

    const buyer = await w.chain.wallet();
    const { transaction } = (await w.call('POST', `/v1/pay/${payment_id}/solana-pay`, { body: { account: buyer.address } })).body;
    await w.chain.fault({ kind: 'drop', method: 'sendTransaction', times: 1 });
    await w.call('POST', `/v1/payments/${payment_id}/transaction`, { body: { transaction: await w.chain.sign(buyer, transaction) } });
    expect(await health()).toEqual([200, 'ok', 'ok']);
    await run("UPDATE payment_candidates SET next_check_at = ? WHERE origin = 'sent'", long());
    expect(await health()).toEqual([200, 'degraded', 'failing']);
    await run("UPDATE payment_candidates SET next_check_at = ? WHERE origin = 'sent'", Date.now());
  });

  it('a degraded service is 503 with strict=1 and 200 otherwise', async () => {
    expect(await health('?strict=1')).toEqual([200, 'ok', 'ok']);
    const dark = new World();
    await dark.chain.fault({ kind: 'http_503', times: 100 });
    for (const path of ['/health', '/v1/health']) {
      const asked = await Promise.all(['', '?strict=0', '?strict=1'].map((query) => dark.call('GET', path + query)));
      expect(asked.map(({ status, body }) => [status, body.status])).toEqual([
        [200, 'degraded'],
        [200, 'degraded'],
        [503, 'degraded'],
      ]);
      const unheard = await dark.call('GET', `${path}?strict=yes`);
      expect([unheard.status, unheard.body.code]).toEqual([422, 'validation_error']);
    }
  });
});
