import { beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { ARCHIVED_AFTER_MS } from '#features/retention/archive.ts';
import { ADVANCE_WITHIN_MS } from '#features/sandbox/sessions/session.ts';
import { RETENTION_MS } from '#features/sandbox/sessions/store.ts';
import { callTesting, runScenario, untilEnded } from '../../support/clients/sandbox.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { letTimeRun, setTime } from '../../support/runner/clock.ts';
import { type Merchant, World } from '../../support/world.ts';

const MOST_SECONDS = 400 * 86_400;

describe('sandbox session advanced beyond the retention of events', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  const readEvents = async (id: string): Promise<string[]> =>
    (
      await prepareOnEvents(w.env.DB, 'SELECT id FROM events WHERE request_id = ? ORDER BY seq').bind(`sandbox_${id}`).all<{ id: string }>()
    ).results.map(({ id: eventId }) => eventId);
  const advance = (id: string, seconds: number) => callTesting(w, ada, 'POST', `sessions/${id}/advance`, { seconds });

  it('the archive takes none of its events, receipts and payments', async () => {
    const { session_id: id } = await runScenario(w, ada, 'membership_renewed', { advance_seconds: MOST_SECONDS });
    expect((await advance(id, MOST_SECONDS)).status).toBe(200);
    const session = await untilEnded(w, ada, id);
    expect(session).toMatchObject({ status: 'completed' });
    expect(session.clock.advanced_seconds).toBeGreaterThanOrEqual(2 * MOST_SECONDS);
    const before = await readEvents(id);
    const payment = session.steps.find(({ object }: { object?: { type: string } }) => object?.type === 'payment').object.id;
    const read = async () => [
      (await w.call('GET', `/v1/payments/${payment}`, { key: ada.sandboxKey })).body,
      (await w.call('GET', '/v1/receipts', { key: ada.sandboxKey })).body.items.map(({ receipt_id }: { receipt_id: string }) => receipt_id),
    ];
    const shown = await read();
    expect(shown[1].length).toBeGreaterThan(0);
    try {
      for (const days of [0, 29]) {
        setTime(Date.now() + days * DAY);
        await w.sweepAlone('archive');
        expect(await readEvents(id)).toEqual(before);
        expect(await read()).toEqual(shown);
      }
    } finally {
      letTimeRun();
    }
  });

  it('a session cannot advance later than 60 days after its start, so it is erased before the archive is due', async () => {
    expect(ADVANCE_WITHIN_MS + RETENTION_MS).toBeLessThan(ARCHIVED_AFTER_MS);
    const { session_id: id } = await runScenario(w, ada, 'payment_failed');
    const begunBefore = (ms: number) =>
      w.env.DB.prepare('UPDATE sandbox_sessions SET created_at = created_at - ? WHERE id = ?').bind(ms, id).run();
    await begunBefore(60 * DAY - 60_000);
    expect((await advance(id, 60)).status).toBe(200);
    await untilEnded(w, ada, id);
    await begunBefore(120_000);
    const { status, body } = await advance(id, 60);
    expect([status, body.code, body.meta.reason]).toEqual([409, 'state_conflict', 'too_old']);
  });
});
