import { expect, it } from 'vitest';
import { runScenario } from '../../support/clients/sandbox.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

it('an attempt that died in a session is made again after its lease of wall time, though the clock of the session stands still', async () => {
  const w = new World();
  const ada = await w.merchant();
  // The lease of an attempt that died as soon as it began: over by the wall clock, and ahead of the clock of the session.
  await testEnv.DB.prepare(
    `CREATE TRIGGER died AFTER INSERT ON placements BEGIN
       UPDATE placements SET lease_until = NEW.next_attempt_at + 1 WHERE membership_id = NEW.membership_id;
     END`,
  ).run();
  try {
    expect((await runScenario(w, ada, 'delivery_failed_then_retried')).status).toBe('completed');
  } finally {
    await testEnv.DB.prepare('DROP TRIGGER died').run();
  }
});
