import { MINUTE } from '#core/time.ts';
import { revokeKeys } from '#features/accounts/agent-account.ts';
import { changeKeys } from '#features/accounts/keys/keys.ts';
import { planEndOfEndpoints } from '#features/webhooks/endpoints/disable-endpoints.ts';
import type { Shard } from '#platform/context.ts';
import { commit, forEach } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { planAt } from '#rules/plans.ts';
import { SETUP } from '#rules/states.ts';
import { abortWhilePaid, type ExpiringSetup, listActiveKeys, listExpiringSetups, updateSetup } from './store.ts';

/** Each setup takes about six calls to the database and the account's object. */
const PAGES = { pageMax: 50, pagesMax: 2 };
const LANES = 5;
/**
 * Gives an agent that started to pay just before the end time to claim its payment. Correctness rests on the abort conditions of the two
 * batches.
 */
export const CLAIM_GRACE_MS = MINUTE;

export const sweepSetups = (ctx: Shard): Promise<Swept> =>
  sweepPages<ExpiringSetup>(
    ctx,
    PAGES,
    (last) => listExpiringSetups(ctx.db, ctx.now - CLAIM_GRACE_MS, last, PAGES.pageMax),
    (rows) => forEach(ctx, rows, (row) => expireSetup(ctx, row), LANES),
  );

/** Expires in one batch: a payment claimed since the list was read wins, and its setup retains the keys. */
async function expireSetup(ctx: Shard, { intent, account }: ExpiringSetup): Promise<void> {
  if (planAt(account, ctx.now) !== 'free') {
    await commit(ctx, { events: [], writes: updateSetup(ctx, intent, { expiresAt: null }), result: null });
    return;
  }
  const keys = await listActiveKeys(ctx.db, account.id);
  const expired = updateSetup(ctx, intent, { status: SETUP.next(intent.status, 'expire') });
  const ended = await planEndOfEndpoints(ctx, account.id, 'setup_expired');
  const writes = [...expired, ...abortWhilePaid(ctx, account.id), ...revokeKeys(ctx, keys), ...ended.writes];
  await changeKeys(ctx, account, keys, () => commit(ctx, { events: ended.events, writes, result: null }));
}
