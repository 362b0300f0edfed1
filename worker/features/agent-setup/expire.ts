import { MINUTE } from '#core/time.ts';
import { endKeys, revokeKeys } from '#features/accounts/agent-account.ts';
import { planEndOfEndpoints } from '#features/webhooks/endpoints/end-endpoints.ts';
import type { Shard } from '#platform/context.ts';
import { commit, forEach } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { planAt } from '#rules/plans.ts';
import { SETUP } from '#rules/states.ts';
import { abortWhilePaid, type ExpiringSetup, listActiveKeys, listExpiringSetups, updateSetup } from './store.ts';

/** Each takes half a dozen calls to the database and to its account's object. */
const PAGES = { pageMax: 50, pagesMax: 2 };
const LANES = 5;
/** An agent that began to pay just before the end has claimed its payment by then. Correctness does not depend on it: the abort conditions of the two batches do. */
const GRACE_MS = MINUTE;

/** Ends setups that were not paid for: their keys are revoked and their endpoints disabled. */
export const sweepSetups = (ctx: Shard): Promise<Swept> =>
  sweepPages<ExpiringSetup>(
    ctx,
    PAGES,
    (last) => listExpiringSetups(ctx.db, ctx.now - GRACE_MS, last, PAGES.pageMax),
    (rows) => forEach(ctx, rows, (row) => expireSetup(ctx, row), LANES),
  );

/** All of it or nothing: a payment that was claimed since the list was read wins, and its setup keeps its keys. */
async function expireSetup(ctx: Shard, { intent, account }: ExpiringSetup): Promise<void> {
  if (planAt(account, ctx.now) !== 'free') {
    await commit(ctx, { events: [], writes: updateSetup(ctx, intent, { expiresAt: null }), result: null });
    return;
  }
  const keys = await listActiveKeys(ctx.db, account.id);
  const expired = updateSetup(ctx, intent, { status: SETUP.next(intent.status, 'expire') });
  const ended = await planEndOfEndpoints(ctx, account.id, 'setup_expired');
  const writes = [...expired, ...abortWhilePaid(ctx, account.id), ...revokeKeys(ctx, keys), ...ended.writes];
  await endKeys(ctx, account, keys, () => commit(ctx, { events: ended.events, writes, result: null }));
}
