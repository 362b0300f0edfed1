import { ApiError } from '#core/errors.ts';
import { MAIL_SWITCH } from '#features/email/outbox.ts';
import { findProductOwner } from '#features/products/product.ts';
import type { Ctx } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { commit } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import { shardsOf } from '#platform/db/each-database.ts';
import { isRailId } from '#rules/product-rails.ts';
import { listSwitchedOff, switchOff, switchOn } from '../store.ts';

/**
 * Switches a rail, a product of any merchant, or all email off or on from the next request, without a deployment. Running sales finish,
 * because their money may be on the chain. Emails wait. Idempotent. Returns everything switched off. Throws 404 not_found for an unknown
 * rail or product.
 */
export async function turnSwitch(ctx: Ctx, subject: string, to: 'on' | 'off'): Promise<string[]> {
  const [kind, id = ''] = subject.split(':', 2);
  const shards = kind === 'product' ? [homeOf(ctx, id)] : shardsOf(ctx);
  const product = kind === 'product' ? await findProductOwner(shards[0]!.db, id) : undefined;
  const isKnown = kind === 'rail' ? isRailId(id) : product !== undefined;
  if (!isKnown && subject !== MAIL_SWITCH) throw new ApiError('not_found');
  // Each database has its own list, read with every sale.
  for (const shard of shards) await (to === 'off' ? switchOff(shard, subject) : switchOn(shard.db, subject));
  if (product) {
    const entry = { action: 'product.switched', subject: { type: 'product', id }, after: { to } } as const;
    await commit(shards[0]!, { events: [], writes: [recordAction(shards[0]!, product, entry)], result: null });
  }
  const off = await Promise.all(shardsOf(ctx).map(({ db }) => listSwitchedOff(db)));
  return [...new Set(off.flat())].sort();
}
