import { ApiError } from '#core/errors.ts';
import { productExists } from '#features/products/product.ts';
import type { Ctx } from '#platform/context.ts';
import { isRailId } from '#rules/product-rails.ts';
import { listSwitchedOff, switchOff, switchOn } from './store.ts';

/**
 * Stops or resumes sales over a rail, or of a product, whosever it is: from the next request on, without a deployment. Nothing new
 * begins; what has begun ends as it would, because its money may be on the chain. Twice the same is harmless. Answers all that is
 * off by now. 404 not_found for a rail or product that does not exist.
 */
export async function turn(ctx: Ctx, subject: string, to: 'on' | 'off'): Promise<string[]> {
  const [kind, id = ''] = subject.split(':', 2);
  const exists = kind === 'rail' ? isRailId(id) : kind === 'product' && (await productExists(ctx.db, id));
  if (!exists) throw new ApiError('not_found');
  await (to === 'off' ? switchOff(ctx, subject) : switchOn(ctx.db, subject));
  return listSwitchedOff(ctx.db);
}
