import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { keyRing } from '#core/crypto.ts';
import { base58, base64url } from '#core/encoding.ts';
import { mayServe, openShop, type Shop, withConfig } from '../../support/people/agent.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

const OPERATOR_SECRET = 'the secret of an operator in a test';
const w = new World({ OPERATOR_SECRET });
afterAll(endSkips);

describe('health with missing migrations', () => {
  it('health is degraded while every other route is 503 misconfigured', async () => {
    const table = await w.env.DB.prepare("SELECT sql FROM sqlite_master WHERE name = 'fee_payer_readings'").first<string>('sql');
    await w.env.DB.prepare('DROP TABLE fee_payer_readings').run();
    const before = await w.call('GET', '/health');
    expect([before.status, before.body.status]).toEqual([200, 'degraded']);
    expect(before.body.checks).toMatchObject({ configuration: 'failing', database: 'ok' });
    expect((await w.call('GET', '/health?strict=1')).status).toBe(503);
    expect((await w.call('GET', '/v1/access/rails')).body.code).toBe('misconfigured');
    await w.env.DB.prepare(table!).run();
    await skipTime(w.chain, 6);
    expect((await w.call('GET', '/health')).body).toMatchObject({ status: 'ok', checks: { configuration: 'ok' } });
    expect((await w.call('GET', '/v1/access/rails')).status).not.toBe(503);
  });
});

describe('network fees within an hour', () => {
  const seed = base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
  const address = base58.encode(keyRing(seed)[0]!.publicKey);
  const env = withConfig(w, { FEE_PAYER_KEYS: seed, FEE_ALARM_LAMPORTS: '15000', PRICE_URL: '' });
  let shop: Shop;
  beforeAll(async () => {
    shop = await openShop(w);
    await w.chain.call('local_fundSol', address, '1000000000');
  });
  const balance = async () => (await w.chain.call<{ value: number }>('getBalance', address)).value;
  const settle = async () => {
    const denied = await shop.consume({}, { env });
    const payment = await shop.agent.pay(denied.headers.get('PAYMENT-REQUIRED')!);
    expect(mayServe(await shop.settle(payment, {}, { env }))).toBe(true);
  };
  const nextMinute = async (): Promise<string> => {
    await skipTime(w.chain, 61);
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    await w.sweepAlone('feePayer', env);
    const lines = log.mock.calls.join('\n');
    log.mockRestore();
    return lines;
  };
  const figure = async () => {
    const { body } = await w.call('GET', '/v1/operator/metrics', { headers: { 'X-Svc-Operator-Secret': OPERATOR_SECRET }, env });
    return Number(/^svc_fee_lamports (\d+)$/m.exec(String(body))?.[1]);
  };
  const health = async () => (await w.call('GET', '/health', { env })).body;

  it('fees are summed without income, and above FEE_ALARM_LAMPORTS log and health warn until the hour is over', async () => {
    await nextMinute();
    expect([await figure(), (await health()).checks.fee_payer]).toEqual([0, 'ok']);
    const full = await balance();
    await settle();
    const fee = full - (await balance());
    expect(fee).toBeGreaterThan(5000);
    expect(fee).toBeLessThan(15_000);
    expect(await nextMinute()).not.toContain('FEE_ALARM_LAMPORTS');
    expect([await figure(), (await health()).status]).toEqual([fee, 'ok']);
    // A top-up of the fee payer does not reduce the sum.
    await w.chain.call('local_fundSol', address, '3000000000');
    await nextMinute();
    await settle();
    expect(await nextMinute()).toContain(`spent ${2 * fee} lamports within an hour, above FEE_ALARM_LAMPORTS`);
    expect(await figure()).toBe(2 * fee);
    expect(await health()).toMatchObject({ status: 'degraded', checks: { fee_payer: 'failing', rpc: 'ok' } });
    const unbounded = withConfig(w, { FEE_PAYER_KEYS: seed, FEE_ALARM_LAMPORTS: '0' });
    expect((await w.call('GET', '/health', { env: unbounded })).body.checks.fee_payer).toBe('ok');
    await skipTime(w.chain, 3600 + 300);
    await nextMinute();
    expect([await figure(), (await health()).checks.fee_payer]).toEqual([0, 'ok']);
  });

  it('old fee payer readings are deleted', async () => {
    await skipTime(w.chain, 3 * 3600);
    await nextMinute();
    expect(await w.env.DB.prepare('SELECT count(*) AS n FROM fee_payer_readings').first('n')).toBe(1);
  });
});
