import { and, eq, isNull } from 'drizzle-orm';
import type { IdentitySessionId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import { type IdentitySession, identitySessions } from '#platform/db/tables/checkout.ts';

/** Of any merchant: the id itself is the capability. */
export const findIdentitySession = (db: Db, identitySessionId: IdentitySessionId) =>
  db.select().from(identitySessions).where(eq(identitySessions.id, identitySessionId)).get();

export const insertIdentitySession = (db: Db, session: IdentitySession): Write => db.insert(identitySessions).values(session);

/** The second statement fails the batch where another person was named for it first. */
export const completeIdentitySession = (ctx: Shard, { id, providerUserId, username, completedAt }: IdentitySession): Write[] => [
  ctx.db
    .update(identitySessions)
    .set({ providerUserId, username, completedAt })
    .where(and(eq(identitySessions.id, id), isNull(identitySessions.providerUserId))),
  vetoUnlessChanged(ctx),
];
