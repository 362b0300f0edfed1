import { and, asc, eq, gt, inArray, isNotNull, lte, or, sql } from 'drizzle-orm';
import type { AccountId, CommunityId } from '#core/ids.ts';
import type { Db, Scope } from '#platform/context.ts';
import { type Community, communities, type PlatformCheck, placements, platformChecks } from '#platform/db/tables/office/placements.ts';
import { stepRows } from '#platform/db/versioned.ts';
import { IDENTITY_PROVIDERS, type IdentityProvider } from '#rules/payment-terms.ts';

export const findCommunity = (db: Db, provider: IdentityProvider, nativeId: string) =>
  db
    .select()
    .from(communities)
    .where(and(eq(communities.provider, provider), eq(communities.nativeId, nativeId), sql`claimed_at IS NOT NULL`))
    .get();

export const findByCode = (db: Db, codeHash: string) => db.select().from(communities).where(eq(communities.codeHash, codeHash)).get();

export const listCommunities = (db: Db, accountId: AccountId): Promise<Community[]> =>
  db
    .select()
    .from(communities)
    .where(and(eq(communities.accountId, accountId), sql`claimed_at IS NOT NULL`))
    .orderBy(asc(communities.createdAt));

export const countCommunities = (db: Db, accountId: AccountId, now: number): Promise<number> =>
  db.$count(
    communities,
    and(eq(communities.accountId, accountId), or(sql`${communities.claimedAt} IS NOT NULL`, gt(communities.expiresAt, now))),
  );

export const insertCommunity = (db: Db, community: Community) => db.insert(communities).values(community);

/** Claims a chat while its code is valid. Throws if the chat is claimed already. Returns false if the code is no longer valid. */
export const claimCommunity = async (db: Db, { id }: Community, nativeId: string, now: number): Promise<boolean> => {
  const claimed = await db
    .update(communities)
    .set({ nativeId, claimedAt: now, expiresAt: null })
    .where(and(eq(communities.id, id), gt(communities.expiresAt, now)));
  return claimed.meta.changes > 0;
};

export const findOwnCommunity = (db: Db, accountId: AccountId, id: CommunityId) =>
  db
    .select()
    .from(communities)
    .where(and(eq(communities.id, id), eq(communities.accountId, accountId)))
    .get();

export const disownTargets = ({ db, merchantId, wallNow }: Scope, { provider, nativeId }: Community) =>
  stepRows(
    db,
    placements,
    { provider, grant: sql`json_set("grant", '$.isGivenBack', json('true'))`, attempts: 0, nextAttemptAt: wallNow },
    and(
      eq(placements.merchantId, merchantId),
      eq(placements.livemode, true),
      sql`grant_key >= ${`${provider}:${nativeId}:`} AND grant_key < ${`${provider}:${nativeId};`}`,
      isNotNull(placements.inviteUrl),
    ),
  );

/** Releases a chat, and ends its code. The claim remains until it is deleted, or its retention ends. */
export const releaseCommunity = (db: Db, accountId: AccountId, id: CommunityId, now: number) =>
  db
    .update(communities)
    .set({ claimedAt: null, expiresAt: now })
    .where(and(eq(communities.id, id), eq(communities.accountId, accountId)));

export const deleteCommunity = (db: Db, accountId: AccountId, id: CommunityId) =>
  db.delete(communities).where(and(eq(communities.id, id), eq(communities.accountId, accountId)));

export async function deleteAccountCommunities(db: Db, accountId: AccountId): Promise<number> {
  return (await db.delete(communities).where(eq(communities.accountId, accountId))).meta.changes;
}

export const listPlatformChecks = (db: Db): Promise<PlatformCheck[]> =>
  db.select().from(platformChecks).where(inArray(platformChecks.provider, IDENTITY_PROVIDERS));

export const UNDER_WAY = 'Being looked at.';

/** Claims the check of a platform unless another request has claimed it since `before`. */
export const claimPlatformCheck = async (db: Db, provider: IdentityProvider, now: number, before: number): Promise<boolean> => {
  const fresh: PlatformCheck = { provider, ok: false, detail: UNDER_WAY, botUsername: null, latencyMs: 0, checkedAt: now };
  const taken = await db
    .insert(platformChecks)
    .values(fresh)
    .onConflictDoUpdate({ target: platformChecks.provider, set: { checkedAt: now }, setWhere: lte(platformChecks.checkedAt, before) });
  return taken.meta.changes > 0;
};

export const savePlatformCheck = (db: Db, check: PlatformCheck) =>
  db.update(platformChecks).set(check).where(eq(platformChecks.provider, check.provider));
