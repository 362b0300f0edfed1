import type { Ctx } from '../context.ts';
import { MINUTE } from '../core/time.ts';
import { commit, forEach, type Write } from '../db/commit.ts';
import { withdrawKey } from '../identity/agent.ts';
import { planAt } from '../plans.ts';
import { SETUP } from '../states.ts';
import { disableEndpointsOf } from '../webhooks/endpoints.ts';
import { listActiveKeys, listEndedSetups, updateSetup } from './bootstrap.store.ts';

const SETUPS_MAX = 100;
/** No payment begins once the time is over. Whoever began just before has claimed it by then, and a claim is waited for. */
const GRACE_MS = MINUTE;

/** Ends setups nobody paid for: their keys are revoked and their endpoints disabled. */
export async function sweepSetups(ctx: Ctx): Promise<number> {
  return forEach(ctx, await listEndedSetups(ctx.db, ctx.now - GRACE_MS, SETUPS_MAX), (row) => expireSetup(ctx, row));
}

/** The objects first, then the database, which alone is asked what is left to do: what was cut off in between is done again. */
async function expireSetup(ctx: Ctx, { intent, account }: Awaited<ReturnType<typeof listEndedSetups>>[number]): Promise<void> {
  if (planAt(account, ctx.now) !== 'free') {
    await commit(ctx, { events: [], writes: updateSetup(ctx, intent, { expiresAt: null }), result: null });
    return;
  }
  const withdrawn: Write[] = [];
  for (const key of await listActiveKeys(ctx.db, account.id)) withdrawn.push(...(await withdrawKey(ctx, key)));
  const expired = updateSetup(ctx, intent, { status: SETUP.next(intent.status, 'expire') });
  await commit(ctx, { events: [], writes: [...expired, ...withdrawn, disableEndpointsOf(ctx, account.id, 'setup_expired')], result: null });
}
