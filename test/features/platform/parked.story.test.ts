import { describe, expect, it } from 'vitest';
import type { Env, Job } from '#platform/context.ts';
import worker from '../../../worker/index.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { World } from '../../support/world.ts';

describe('unknown queue messages', () => {
  const w = new World();
  const parked = async () => {
    const { results } = await w.env.DB.prepare('SELECT id, queue, kind, body, reason FROM parked_messages ORDER BY parked_at, id').all();
    return results.map(({ id, queue, kind, body, reason }) => ({ id, queue, kind, body: JSON.parse(body as string) as object, reason }));
  };
  const bring = async (queue: string, bodies: unknown[], env: Env = w.env): Promise<string[]> => {
    const said: string[] = bodies.map(() => 'nothing');
    const messages = bodies.map((body, i) => ({
      id: `${queue}-${JSON.stringify(body)}`,
      timestamp: new Date(),
      attempts: 1,
      body,
      ack: () => said.splice(i, 1, 'ack'),
      retry: () => said.splice(i, 1, 'retry'),
    }));
    const execution = { waitUntil: () => {} } as unknown as ExecutionContext;
    await worker.queue({ queue, messages } as unknown as MessageBatch<Job>, env, execution);
    return said;
  };
  const later = { kind: 'aKindOfTheNextRelease', what: ['it', 'says'] };

  it('an unknown message is stored once however often it comes, and its neighbours are served', async () => {
    const known = { kind: 'fanOut', actIds: [] };
    for (let i = 0; i < 2; i++) expect(await bring('svc-jobs', [later, known])).toEqual(['ack', 'ack']);
    expect(await parked()).toEqual([{ id: expect.any(String), queue: 'svc-jobs', kind: later.kind, body: later, reason: 'unknown_kind' }]);
  });

  it('a message that could not be stored is retried', async () => {
    const { env } = withFaults(w.env, { before: () => true });
    expect(await bring('svc-jobs', [{ ...later, other: 1 }], env)).toEqual(['retry']);
    expect(await bring('svc-webhooks-dead', [{ deliveryId: 7 }], env)).toEqual(['retry']);
    expect(await parked()).toHaveLength(1);
  });

  it('a stored message is resent once its kind is known, a failed one is not, and all are deleted after 90 days', async () => {
    expect(await bring('svc-webhooks-dead', [{ deliveryId: 7 }])).toEqual(['ack']);
    expect(await bring('svc-jobs-dead', [{ kind: 'fanOut', actIds: ['evt_dead'] }])).toEqual(['ack']);
    await w.sweepAlone('parked');
    expect(w.queue.sent).toEqual([]);
    // The kind becomes known, as after a rollback and a new release.
    await w.env.DB.prepare(
      "UPDATE parked_messages SET kind = 'fanOut', body = json_set(body, '$.kind', 'fanOut') WHERE reason = 'unknown_kind'",
    ).run();
    await w.sweepAlone('parked');
    expect(w.queue.sent.splice(0).map(({ job }) => job)).toEqual([{ ...later, kind: 'fanOut' }]);
    expect((await parked()).map(({ kind, body, reason }) => ({ kind, body, reason }))).toEqual(
      expect.arrayContaining([
        { kind: null, body: { deliveryId: 7 }, reason: 'failed' },
        { kind: 'fanOut', body: { kind: 'fanOut', actIds: ['evt_dead'] }, reason: 'failed' },
      ]),
    );
    await w.env.DB.prepare('UPDATE parked_messages SET parked_at = parked_at - 91 * 86400000').run();
    await w.sweepAlone('parked');
    expect(await parked()).toEqual([]);
  });
});
