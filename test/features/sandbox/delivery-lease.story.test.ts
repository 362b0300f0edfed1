import { expect, it } from 'vitest';
import { runScenario } from '../../support/clients/sandbox.ts';
import { testEnv } from '../../support/runner/env.ts';
import { World } from '../../support/world.ts';

it('a dead delivery attempt of a session is repeated after its wall-time lease although the session clock is stopped', async () => {
  const w = new World();
  const ada = await w.merchant();
  // Sets the lease of an attempt that died at its start: expired by wall time, in the future by session time.
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
