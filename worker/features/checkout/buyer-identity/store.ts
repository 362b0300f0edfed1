import { and, desc, eq, isNull, sql } from 'drizzle-orm';
import type { IdentitySessionId } from '#core/ids.ts';
import type { Db, Shard } from '#platform/context.ts';
import { vetoUnlessChanged, type Write } from '#platform/db/commit.ts';
import { type IdentitySession, identitySessions } from '#platform/db/tables/checkout.ts';

/** Of any merchant: the id itself is the capability. */
export const findIdentitySession = (db: Db, identitySessionId: IdentitySessionId) =>
  db.select().from(identitySessions).where(eq(identitySessions.id, identitySessionId)).get();

/** The newest session in which this person gave this merchant, in this mode, a grant that was not used. */
export const findGranting = (
  db: Db,
  {
    merchantId,
    livemode,
    provider,
    providerUserId,
  }: Pick<IdentitySession, 'merchantId' | 'livemode' | 'provider'> & { providerUserId: string },
): Promise<IdentitySession | undefined> =>
  db
    .select()
    .from(identitySessions)
    .where(
      and(
        eq(identitySessions.merchantId, merchantId),
        eq(identitySessions.livemode, livemode),
        eq(identitySessions.provider, provider),
        eq(identitySessions.providerUserId, providerUserId),
        sql`grant_sealed IS NOT NULL`,
      ),
    )
    .orderBy(desc(identitySessions.createdAt))
    .limit(1)
    .get();

/** Every grant that this person gave this merchant in this mode until now: one was used, and the others would do the same. */
export const eraseGrants = (db: Db, { merchantId, livemode, provider, providerUserId }: IdentitySession): Promise<unknown> =>
  db
    .update(identitySessions)
    .set({ grantSealed: null })
    .where(
      and(
        eq(identitySessions.merchantId, merchantId),
        eq(identitySessions.livemode, livemode),
        eq(identitySessions.provider, provider),
        eq(identitySessions.providerUserId, providerUserId!),
        sql`grant_sealed IS NOT NULL`,
      ),
    );

export const insertIdentitySession = (db: Db, session: IdentitySession): Write => db.insert(identitySessions).values(session);

/** The second statement fails the batch where another person was named for it first. */
export const completeIdentitySession = (
  ctx: Shard,
  { id, providerUserId, username, grantSealed, completedAt }: IdentitySession,
): Write[] => [
  ctx.db
    .update(identitySessions)
    .set({ providerUserId, username, grantSealed, completedAt })
    .where(and(eq(identitySessions.id, id), isNull(identitySessions.providerUserId))),
  vetoUnlessChanged(ctx),
];
