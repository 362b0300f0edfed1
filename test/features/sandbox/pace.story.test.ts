import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PAUSE_MS, STEPS_MAX } from '#features/sandbox/sessions/run.ts';
import worker from '../../../worker/index.ts';
import wranglerToml from '../../../wrangler.toml?raw';
import { callTesting } from '../../support/clients/sandbox.ts';
import { type Merchant, World } from '../../support/world.ts';

const QUEUE = 'svc-sandbox';
const consumer = wranglerToml.split('[[queues.consumers]]').find((part) => part.includes(`queue = "${QUEUE}"\nmax_batch_size`))!;
const settingOf = (name: string) => Number(new RegExp(`^${name} = (\\d+)$`, 'm').exec(consumer)![1]);
const BATCH = settingOf('max_batch_size');

describe('pace of sandbox sessions', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  afterEach(() => vi.restoreAllMocks());

  const begin = async (): Promise<string> =>
    (await callTesting(w, ada, 'POST', 'sessions', { scenario: 'payment_failed' })).body.session_id;
  const countSteps = async (ids: string[]): Promise<number> =>
    (await w.env.DB.prepare("SELECT sum(version - 1) AS n FROM sandbox_sessions WHERE id IN (SELECT unhex(value, '-') FROM json_each(?))")
      .bind(JSON.stringify(ids))
      .first<number>('n'))!;

  it('concurrency and the pause per step allow at most 100 steps a second', () => {
    expect(settingOf('max_concurrency') * (1000 / PAUSE_MS)).toBeLessThanOrEqual(100);
  });

  it('each message has its own invocation and call budget', () => {
    expect(BATCH).toBe(1);
  });

  it('each step of a batch is followed by a pause, and the rest of a session moves to another message', async () => {
    const ids: string[] = [];
    for (let i = 0; i < BATCH; i++) ids.push(await begin());
    const jobs = w.queue.sent.splice(0).flatMap(({ job }) => (job.kind === 'runSandboxSession' ? [job] : []));
    expect(jobs).toHaveLength(BATCH);
    const pauses: { ms: number; stepsBefore: number }[] = [];
    vi.spyOn(scheduler, 'wait').mockImplementation(async (ms) => void pauses.push({ ms: Number(ms), stepsBefore: await countSteps(ids) }));
    const acked: string[] = [];
    const messages = jobs.map((body, i) => ({
      id: `m${i}`,
      timestamp: new Date(),
      attempts: 1,
      body,
      ack: () => acked.push(body.sessionId),
      retry: () => expect.unreachable(),
    }));
    const execution = { waitUntil: () => {}, passThroughOnException: () => {}, props: {} } as unknown as ExecutionContext;
    await worker.queue({ queue: QUEUE, messages } as unknown as MessageBatch, w.env, execution);
    const steps = await countSteps(ids);
    expect(acked).toEqual(ids);
    expect(steps).toBeGreaterThan(BATCH);
    expect(steps).toBeLessThanOrEqual(BATCH * STEPS_MAX);
    expect(pauses).toEqual(Array.from({ length: steps }, (_, i) => ({ ms: PAUSE_MS, stepsBefore: i + 1 })));
  });
});
