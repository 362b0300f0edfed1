import { and, asc, eq, gt, inArray, isNotNull, lte, or, sql } from 'drizzle-orm';
import type { AccountId, CommunityId } from '#core/ids.ts';
import type { Db, Scope } from '#platform/context.ts';
import { type Community, communities, type PlatformLook, placements, platformLooks } from '#platform/db/tables/office/placements.ts';
import { stepRows } from '#platform/db/versioned.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider } from '#rules/payment-terms.ts';

/** Whose chat or guild it is; undefined where no account claimed it. */
export const findCommunity = (db: Db, provider: IdentityProvider, nativeId: string) =>
  db
    .select()
    .from(communities)
    .where(and(eq(communities.provider, provider), eq(communities.nativeId, nativeId), sql`native_id IS NOT NULL`))
    .get();

/** By the hash of its code, whether or not that is over. */
export const findByCode = (db: Db, codeHash: string) => db.select().from(communities).where(eq(communities.codeHash, codeHash)).get();

/** What an account claimed, oldest first. */
export const listCommunities = (db: Db, accountId: AccountId): Promise<Community[]> =>
  db
    .select()
    .from(communities)
    .where(and(eq(communities.accountId, accountId), sql`native_id IS NOT NULL`))
    .orderBy(asc(communities.createdAt));

/** Claims of an account, and its codes that are not over. */
export const countCommunities = (db: Db, accountId: AccountId, now: number): Promise<number> =>
  db.$count(
    communities,
    and(eq(communities.accountId, accountId), or(sql`${communities.nativeId} IS NOT NULL`, gt(communities.expiresAt, now))),
  );

export const insertCommunity = (db: Db, community: Community) => db.insert(communities).values(community);

/** Only while its code stands; throws where the chat or guild is claimed by then. Answers whether it was. */
export const claimCommunity = async (db: Db, { id }: Community, nativeId: string, now: number): Promise<boolean> => {
  const claimed = await db
    .update(communities)
    .set({ nativeId, claimedAt: now, expiresAt: null })
    .where(and(eq(communities.id, id), gt(communities.expiresAt, now)));
  return claimed.meta.changes > 0;
};

/** One that an account claimed, or began to claim. */
export const findOwnCommunity = (db: Db, accountId: AccountId, id: CommunityId) =>
  db
    .select()
    .from(communities)
    .where(and(eq(communities.id, id), eq(communities.accountId, accountId)))
    .get();

/** Has every invitation that members of this merchant hold to a chat or guild taken back, by the attempts that are due from now on. */
export const disownPlaces = ({ db, merchantId, wallNow }: Scope, { provider, nativeId }: Community) =>
  stepRows(
    db,
    placements,
    { provider, standing: sql`json_set(standing, '$.isGivenBack', json('true'))`, attempts: 0, nextAttemptAt: wallNow },
    and(
      eq(placements.merchantId, merchantId),
      eq(placements.livemode, true),
      sql`standing_key >= ${`${provider}:${nativeId}:`} AND standing_key < ${`${provider}:${nativeId};`}`,
      isNotNull(placements.inviteUrl),
    ),
  );

/** Answers whether there was one. */
export const deleteCommunity = async (db: Db, accountId: AccountId, id: CommunityId): Promise<boolean> =>
  (await db.delete(communities).where(and(eq(communities.id, id), eq(communities.accountId, accountId)))).meta.changes > 0;

/** Of an account that is gone. Answers how many. */
export async function deleteCommunitiesOf(db: Db, accountId: AccountId): Promise<number> {
  return (await db.delete(communities).where(eq(communities.accountId, accountId))).meta.changes;
}

export const listLooks = (db: Db): Promise<PlatformLook[]> =>
  db.select().from(platformLooks).where(inArray(platformLooks.provider, IDENTITY_PROVIDERS));

/** Of a platform that was never looked at before. */
export const UNDER_WAY = 'Being looked at.';

/** Takes the turn to look at a platform, unless another request took it since `before`. */
export const takeLook = async (db: Db, provider: IdentityProvider, now: number, before: number): Promise<boolean> => {
  const fresh: PlatformLook = { provider, ok: false, detail: UNDER_WAY, botUsername: null, latencyMs: 0, lookedAt: now };
  const taken = await db
    .insert(platformLooks)
    .values(fresh)
    .onConflictDoUpdate({ target: platformLooks.provider, set: { lookedAt: now }, setWhere: lte(platformLooks.lookedAt, before) });
  return taken.meta.changes > 0;
};

export const keepLook = (db: Db, look: PlatformLook) => db.update(platformLooks).set(look).where(eq(platformLooks.provider, look.provider));
