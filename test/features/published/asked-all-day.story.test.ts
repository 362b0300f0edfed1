import { describe, expect, it, vi } from 'vitest';
import { withFaults } from '../../support/faults/faults.ts';
import { newAgent, sellToAgents, stall } from '../../support/people/agent.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

/** Public calls that may be repeated all day must cost the database and the node little. */
describe('health checks of the database', () => {
  it('health queries the database once in five seconds, and does not cache a failure', async () => {
    const w = new World();
    const { env, trips } = withFaults(w.env);
    for (let i = 0; i < 5; i++) expect((await w.call('GET', '/health', { env })).body.checks.database).toBe('ok');
    const asked = trips.length;
    // The schema check runs once.
    expect(asked).toBeLessThanOrEqual(3);
    try {
      setTime(Date.now() + 5001);
      expect((await w.call('GET', '/health', { env })).body.checks.database).toBe('ok');
      expect(trips.length).toBe(asked + 2);
    } finally {
      letTimeRun();
    }
    let isDown = true;
    const faulty = withFaults(w.env, { before: () => isDown });
    expect((await w.call('GET', '/health', { env: faulty.env })).status).toBe(503);
    isDown = false;
    expect((await w.call('GET', '/health', { env: faulty.env })).status).toBe(200);
  });
});

describe('denial of a product without a token account', () => {
  it('denials check a missing token account at most every 30 seconds, and a new account sells within them', async () => {
    const w = new World();
    const merchant = await w.merchant();
    const product = await sellToAgents(w, merchant, { payout_wallet: (await w.chain.wallet(0n)).address });
    const shop = stall(w, merchant, product, await newAgent(w));
    const denied = () => shop.consume();
    expect((await denied()).headers.get('PAYMENT-REQUIRED')).toBeNull();
    await w.chain.call('local_resetCalls');
    for (let i = 0; i < 5; i++) expect((await denied()).headers.get('PAYMENT-REQUIRED')).toBeNull();
    expect(await w.chain.call('local_calls')).toEqual({});
    await w.chain.call('local_fundUsdc', product.payout_wallet, '1');
    try {
      setTime(Date.now() + 30_001);
      expect((await denied()).headers.get('PAYMENT-REQUIRED')).not.toBeNull();
    } finally {
      letTimeRun();
    }
  });
});

describe('log line of a dead letter', () => {
  it('a dead letter is logged by queue and kind, and its body is only stored', async () => {
    const w = new World();
    const log = vi.spyOn(console, 'log').mockImplementation(() => {});
    try {
      const { default: worker } = await import('../../../worker/index.ts');
      const body = { kind: 'projectEntitlement', projection: { customerRef: 'user-42-of-ada' } };
      const message = { id: 'dead-1', timestamp: new Date(), attempts: 1, body, ack: () => {}, retry: () => {} };
      const batch = { queue: 'svc-jobs-dead', messages: [message] } as unknown as MessageBatch<never>;
      await worker.queue(batch, w.env, { waitUntil: () => {}, passThroughOnException: () => {} } as unknown as ExecutionContext);
      const lines = log.mock.calls.map(([line]) => String(line)).filter((line) => line.includes('dead_letter'));
      expect(lines).toHaveLength(1);
      expect(JSON.parse(lines[0]!).dead_letter).toEqual({ queue: 'svc-jobs-dead', kind: 'projectEntitlement' });
      expect(lines[0]).not.toContain('user-42');
    } finally {
      log.mockRestore();
    }
    const parked = await w.env.DB.prepare("SELECT body FROM parked_messages WHERE id = 'dead-1'").first<string>('body');
    expect(parked).toContain('user-42-of-ada');
  });
});
