import { ApiError } from '#core/errors.ts';
import { MAIL_SWITCH } from '#features/email/outbox.ts';
import { productExists } from '#features/products/product.ts';
import type { Ctx } from '#platform/context.ts';
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
  const isKnown = kind === 'rail' ? isRailId(id) : kind === 'product' && (await productExists(shards[0]!.db, id));
  if (!isKnown && subject !== MAIL_SWITCH) throw new ApiError('not_found');
  // Each database has its own list, read with every sale.
  for (const shard of shards) await (to === 'off' ? switchOff(shard, subject) : switchOn(shard.db, subject));
  const off = await Promise.all(shardsOf(ctx).map(({ db }) => listSwitchedOff(db)));
  return [...new Set(off.flat())].sort();
}
