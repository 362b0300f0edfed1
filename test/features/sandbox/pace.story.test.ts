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

describe('the pace of the sandbox', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });
  afterEach(() => vi.restoreAllMocks());

  const begin = async (): Promise<string> =>
    (await callTesting(w, ada, 'POST', 'sessions', { scenario: 'payment_failed' })).body.session_id;
  /** Steps that were stored of these sessions: each makes one version more. */
  const stepsOf = async (ids: string[]): Promise<number> =>
    (await w.env.DB.prepare('SELECT sum(version - 1) AS n FROM sandbox_sessions WHERE id IN (SELECT value FROM json_each(?))')
      .bind(JSON.stringify(ids))
      .first<number>('n'))!;

  it('is at most a hundred steps a second: as many invocations as are let run at a time, each with a pause after every step', () => {
    expect(settingOf('max_concurrency') * (1000 / PAUSE_MS)).toBeLessThanOrEqual(100);
  });

  it('gives each message an invocation, and the calls of one, to itself', () => {
    expect(BATCH).toBe(1);
  });

  it('pauses after each step of a batch before the next is made, and leaves what is left of a session to another message', async () => {
    const ids: string[] = [];
    for (let i = 0; i < BATCH; i++) ids.push(await begin());
    const jobs = w.queue.sent.splice(0).flatMap(({ job }) => (job.kind === 'runSandboxSession' ? [job] : []));
    expect(jobs).toHaveLength(BATCH);
    const pauses: { ms: number; stepsBefore: number }[] = [];
    vi.spyOn(scheduler, 'wait').mockImplementation(async (ms) => void pauses.push({ ms: Number(ms), stepsBefore: await stepsOf(ids) }));
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
    const steps = await stepsOf(ids);
    expect(acked).toEqual(ids);
    expect(steps).toBeGreaterThan(BATCH);
    expect(steps).toBeLessThanOrEqual(BATCH * STEPS_MAX);
    // One step and one pause take turns, whosever session it is.
    expect(pauses).toEqual(Array.from({ length: steps }, (_, i) => ({ ms: PAUSE_MS, stepsBefore: i + 1 })));
  });
});
