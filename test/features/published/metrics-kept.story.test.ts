import { beforeAll, describe, expect, it, vi } from 'vitest';
import type { Env } from '#platform/context.ts';
import { formatExposition } from '../../../worker/published/metrics.ts';
import { SWEEPS } from '../../../worker/sweeps.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { World } from '../../support/world.ts';

function newDataset() {
  const points: { name: string; label: string; value: number }[] = [];
  let written = 0;
  const writeDataPoint = ({ indexes, blobs, doubles, ...unknown }: AnalyticsEngineDataPoint = {}): void => {
    written++;
    expect(Object.keys(unknown)).toEqual([]);
    expect(indexes).toEqual([expect.any(String)]);
    expect(new TextEncoder().encode(String(indexes![0])).length).toBeLessThanOrEqual(96);
    expect([blobs!.length <= 20, doubles!.length <= 20, blobs!.every((blob) => typeof blob === 'string')]).toEqual([true, true, true]);
    expect(doubles!.every(Number.isFinite)).toBe(true);
    points.push({ name: String(indexes![0]), label: String(blobs![1]), value: doubles![0]! });
  };
  const take = () => {
    written = 0;
    return points.splice(0);
  };
  return { METRICS: { writeDataPoint } as AnalyticsEngineDataset, take, written: () => written };
}

describe('Analytics Engine export', () => {
  const w = new World();
  const dataset = newDataset();
  const env: Env = { ...w.env, METRICS: dataset.METRICS };
  beforeAll(async () => {
    await w.purchase(await w.product(await w.merchant()), await w.chain.wallet());
    await w.sweep();
    await w.sweepAlone('plans');
    dataset.take();
  });

  it('the metrics are written once per cron within the limit of points', async () => {
    await w.env.DB.prepare('UPDATE accounts SET plan_through = 1').run();
    await w.env.DB.prepare("UPDATE sweeps SET due_at = due_at - 700000 WHERE name = 'plans'").run();
    await w.cron(env);
    expect(dataset.written()).toBeLessThanOrEqual(250);
    const points = dataset.take();
    const of = (name: string, label: string) => points.filter((point) => point.name === name && point.label === label);
    for (const { name } of SWEEPS) expect(of('svc_sweep_lag_seconds', name), name).toHaveLength(1);
    expect(of('svc_sweep_lag_seconds', 'plans')[0]!.value).toBeGreaterThan(600);
    const gauges = ['svc_oldest_seconds', 'svc_parked_messages', 'svc_database_bytes', 'svc_database_used_ratio'];
    expect([...new Set(points.map(({ name }) => name))]).toEqual(expect.arrayContaining(gauges));
    await w.cron(env);
    expect(dataset.take().length).toBe(points.length);
  });

  it('new notes of the isolate are written once a minute', async () => {
    const realNow = Date.now;
    let ahead = 60_001;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => realNow() + ahead);
    try {
      await w.call('GET', '/health', { env });
      dataset.take();
      expect((await w.call('GET', '/v1/account/me', { key: 'svc_live_not-a-key', env })).status).toBe(401);
      expect(dataset.take()).toEqual([]);
      ahead *= 2;
      await w.call('GET', '/health', { env });
      expect(dataset.take()).toEqual([{ name: 'svc_notes', label: 'refused credential', value: 1 }]);
      ahead += 60_001;
      await w.call('GET', '/health', { env });
      expect(dataset.take()).toEqual([]);
    } finally {
      clock.mockRestore();
    }
  });

  it('a failing dataset or database delays no sweep, and without a dataset nothing is read', async () => {
    const METRICS = { writeDataPoint: () => expect.fail('out of order') } as AnalyticsEngineDataset;
    await w.env.DB.prepare('UPDATE sweeps SET due_at = 0, sent_at = 0').run();
    expect((await w.cron({ ...w.env, METRICS })).length).toBeGreaterThan(0);
    await expect(
      w.cron({ ...withFaults(w.env, { before: ({ kind }) => kind === 'read' }).env, METRICS: dataset.METRICS }),
    ).resolves.toBeDefined();
    expect(dataset.take()).toEqual([]);
    const { env: unbound, trips } = withFaults(w.env);
    await w.cron(unbound);
    expect(trips).toEqual([]);
    expect(formatExposition([])).toBe('');
  });
});
