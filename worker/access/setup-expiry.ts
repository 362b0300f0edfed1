import type { Ctx } from '../context.ts';
import { MINUTE } from '../core/time.ts';
import { commit, forEach } from '../db/commit.ts';
import { endKeys, revokeKeys } from '../identity/agent.ts';
import { planAt } from '../plans.ts';
import { SETUP } from '../states.ts';
import { disableEndpointsOf } from '../webhooks/endpoints.ts';
import { vetoWhilePaid } from './activation.store.ts';
import { listActiveKeys, listEndedSetups, updateSetup } from './bootstrap.store.ts';

const SETUPS_MAX = 100;
/** Whoever began to pay just before has claimed it by then. A courtesy: what keeps the two apart are their vetoes. */
const GRACE_MS = MINUTE;

/** Ends setups nobody paid for: their keys are revoked and their endpoints disabled. */
export async function sweepSetups(ctx: Ctx): Promise<number> {
  return forEach(ctx, await listEndedSetups(ctx.db, ctx.now - GRACE_MS, SETUPS_MAX), (row) => expireSetup(ctx, row));
}

/** All of it or nothing: a payment that was claimed since the list was read wins, and its setup keeps its keys. */
async function expireSetup(ctx: Ctx, { intent, account }: Awaited<ReturnType<typeof listEndedSetups>>[number]): Promise<void> {
  if (planAt(account, ctx.now) !== 'free') {
    await commit(ctx, { events: [], writes: updateSetup(ctx, intent, { expiresAt: null }), result: null });
    return;
  }
  const keys = await listActiveKeys(ctx.db, account.id);
  const expired = updateSetup(ctx, intent, { status: SETUP.next(intent.status, 'expire') });
  const ended = [...revokeKeys(ctx, keys), disableEndpointsOf(ctx, account.id, 'setup_expired')];
  const writes = [...expired, ...vetoWhilePaid(ctx, account.id), ...ended];
  await endKeys(ctx, account, keys, () => commit(ctx, { events: [], writes, result: null }));
}
