import type { Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import { type Swept, sweepPages } from '#platform/db/sweeps.ts';
import { readEntitlement } from './entitlement.ts';
import { type EndedCopy, listPastEnd } from './store.ts';

const ENDED = { pageMax: 100, pagesMax: 20 };
const LANES = 6;

/**
 * Reads expired entitlements so that their objects end them. Only sandbox sessions and a local machine with an advanced clock need it: by
 * wall time the object's own alarm does this.
 */
export async function sweepEntitlements(ctx: Shard): Promise<Swept> {
  if (ctx.sandbox === null && ctx.now === ctx.wallNow) return { taken: 0, end: 'empty' };
  return sweepPages<EndedCopy>(
    ctx,
    ENDED,
    (last) => listPastEnd(ctx, last, ENDED.pageMax),
    (ended) => forEach(ctx, ended, (one) => readEntitlement(ctx, one, one.id), LANES),
  );
}
