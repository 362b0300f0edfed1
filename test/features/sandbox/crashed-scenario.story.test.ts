import { beforeAll, describe, expect, it } from 'vitest';
import { callTesting, joinCustomer, typesOf, untilEnded } from '../../support/clients/sandbox.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { pause } from '../../support/runner/queues.ts';
import { type Merchant, World } from '../../support/world.ts';

/** Sent collection of a checkout that no chain has seen. */
const CLAIMED = `SELECT count(*) AS n FROM payment_candidates c JOIN payments p ON p.id = c.payment_id
  WHERE c.origin = 'sent' AND p.customer_ref = ?`;
/** Confirmed payment that waits for its check for finality. */
const CONFIRMED = `SELECT count(*) AS n FROM tx_claims c JOIN payments p ON p.id = c.subject_id
  WHERE c.confirmed_at IS NOT NULL AND c.final_at IS NULL AND p.customer_ref = ?`;
/** Lets time pass for the session at the next wait, instead of after a minute. */
const LAST_WAIT = "UPDATE sandbox_sessions SET notes = json_set(notes, '$.waited', '59') WHERE id = ?";

describe('a scenario after a crash', () => {
  const w = new World();
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  const count = async (sql: string, id: string) => (await w.env.DB.prepare(sql).bind(`${id}:buyer`).first<number>('n'))!;

  it.each([
    ['subscription_authorized', 'the claim of the first collection', CLAIMED],
    ['payment_confirmed', 'the confirmation, before the check for finality', CONFIRMED],
  ])('%s completes with all its events although a run died after %s', async (scenario, _, sql) => {
    const { body: session } = await callTesting(w, ada, 'POST', 'sessions', { scenario });
    const id = session.session_id;
    let isDead = false;
    const isCrash = async () => (isDead ||= (await count(sql, id)) > 0);
    await joinCustomer(w, ada, id);
    const { env } = withFaults(w.env, { before: isCrash });
    for (let runs = 0; !isDead && runs < 40; runs++) {
      await w.deliver(undefined, env).catch(() => {});
      await pause(100);
    }
    expect(isDead).toBe(true);
    await w.env.DB.prepare(LAST_WAIT).bind(id).run();
    w.queue.sent.push({ job: { kind: 'runSandboxSession', sessionId: id, requestId: 'again', ...session }, delaySeconds: 0 } as never);
    const { body } = await callTesting(w, ada, 'GET', 'scenarios');
    const { expected } = body.items.find((one: { scenario: string }) => one.scenario === scenario);
    const ended = await untilEnded(w, ada, id);
    expect([ended.status, typesOf(ended)]).toEqual(['completed', expect.arrayContaining(expected)]);
  });
});
