import { ApiError } from '#core/errors.ts';
import { MAIL_SWITCH } from '#features/mail/outbox.ts';
import { productExists } from '#features/products/product.ts';
import type { Ctx } from '#platform/context.ts';
import { locate, shardsOf } from '#platform/db/directory.ts';
import { isRailId } from '#rules/product-rails.ts';
import { listSwitchedOff, switchOff, switchOn } from '../store.ts';

/**
 * Stops or resumes sales over a rail, or of a product of any merchant, or all mail, which waits meanwhile: from the next request on, without
 * a deployment. Nothing new begins; what has begun ends as it would, because its money may be on the chain. Twice the same is harmless.
 * Answers all that is off by now. 404 not_found for a rail or product that does not exist.
 */
export async function turnSwitch(ctx: Ctx, subject: string, to: 'on' | 'off'): Promise<string[]> {
  const [kind, id = ''] = subject.split(':', 2);
  const places = kind === 'product' ? [await locate(ctx, ({ db }) => productExists(db, id))] : shardsOf(ctx);
  const isKnown = kind === 'rail' ? isRailId(id) : kind === 'product' && (await productExists(places[0]!.db, id));
  if (!isKnown && subject !== MAIL_SWITCH) throw new ApiError('not_found');
  // Each database has its own list, read with every sale in it.
  for (const shard of places) await (to === 'off' ? switchOff(shard, subject) : switchOn(shard.db, subject));
  const off = await Promise.all(shardsOf(ctx).map(({ db }) => listSwitchedOff(db)));
  return [...new Set(off.flat())].sort();
}
