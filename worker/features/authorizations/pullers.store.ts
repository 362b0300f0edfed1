import { sql } from 'drizzle-orm';
import { pullersOf } from '#platform/chain/fee-payer.ts';
import { type Ctx, type Db, hasSubscriptions } from '#platform/context.ts';
import { shardsOf } from '#platform/db/directory.ts';

/** The keys that live subscriptions are collected with, each once: one read of an index for each key, however many name it. */
const listPullers = async (db: Db): Promise<string[]> => {
  const named = await db.all<{ puller: string }>(sql`WITH RECURSIVE named(puller) AS (
    SELECT min(puller) FROM subscription_authorizations WHERE ended_at IS NULL AND livemode = 1
    UNION ALL SELECT (SELECT min(a.puller) FROM subscription_authorizations a
      WHERE a.ended_at IS NULL AND a.livemode = 1 AND a.puller > named.puller) FROM named WHERE named.puller IS NOT NULL)
    SELECT puller FROM named WHERE puller IS NOT NULL`);
  return named.map(({ puller }) => puller);
};

/** Keys that subscriptions need and that this deployment does not hold: nothing of these is collected until they are put back. */
export async function listMissingPullers(ctx: Ctx): Promise<string[]> {
  const held = hasSubscriptions(ctx.config) ? pullersOf(ctx.config).addresses : [];
  const named = await Promise.all(shardsOf(ctx).map(({ db }) => listPullers(db)));
  return [...new Set(named.flat())].filter((puller) => !held.includes(puller));
}
