import { and, asc, eq, getTableColumns, inArray, lte, ne, type SQL, sql } from 'drizzle-orm';
import { assert } from '#core/errors.ts';
import type { MembershipId } from '#core/ids.ts';
import { clockFilter } from '#platform/chain/clock-filter.store.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { type Membership, memberships, type ShownDelivery } from '#platform/db/tables/memberships.ts';
import { type Placement, placements } from '#platform/db/tables/office/placements.ts';
import { products } from '#platform/db/tables/products.ts';
import { casUpdate, stepRows, updateUnversioned } from '#platform/db/versioned.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';

/** Lists memberships with their delivery, if any. Excludes deleted accounts. */
export const listGranted = (db: Db, ids: readonly MembershipId[]) =>
  db
    .select({ membership: memberships, placement: placements })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.merchantId))
    .leftJoin(placements, eq(placements.membershipId, memberships.id))
    .where(and(inArray(memberships.id, [...ids]), ne(accounts.status, 'deleted')));

/** Loads a member with the product. Undefined if the account is deleted. */
export const findMember = (db: Db, membershipId: MembershipId) =>
  db
    .select({ membership: memberships, placement: placements, productName: products.name })
    .from(placements)
    .innerJoin(memberships, eq(memberships.id, placements.membershipId))
    .innerJoin(products, eq(products.id, memberships.productId))
    .innerJoin(accounts, eq(accounts.id, memberships.merchantId))
    .where(and(eq(placements.membershipId, membershipId), ne(accounts.status, 'deleted')))
    .get();

export const insertPlacement = (db: Db, placement: Placement): Write => db.insert(placements).values(placement).onConflictDoNothing();

const shownOf = ({ status, attempts, inviteUrl, lastError, deliveredAt }: Placement): ShownDelivery => ({
  status,
  attempts,
  ...(inviteUrl === null ? {} : { inviteUrl }),
  ...(lastError === null ? {} : { lastError }),
  ...(deliveredAt === null ? {} : { deliveredAt }),
});

export const withDelivery = (membership: Membership, placement: Placement): Membership => ({ ...membership, delivery: shownOf(placement) });

const isAt = ({ membershipId, version }: Pick<Placement, 'membershipId' | 'version'>) =>
  and(eq(placements.membershipId, membershipId), eq(placements.version, version));

function showPlacement(db: Db, before: Placement, patch: Partial<Placement>): Write {
  const { membershipId, version } = before;
  const isStored = sql`EXISTS (SELECT 1 FROM placements p WHERE p.membership_id = ${boundId(membershipId)} AND p.version = ${version + 1})`;
  const delivery = shownOf({ ...before, ...patch });
  return updateUnversioned(db, memberships, { delivery }, and(eq(memberships.id, membershipId), isStored));
}

/** Updates the row and its copy on the membership. Changes nothing if the row moved since the read. */
export const updatePlacement = (db: Db, before: Placement, patch: Partial<Placement>): [Write, Write] => [
  stepRows(db, placements, patch, isAt(before)),
  showPlacement(db, before, patch),
];

export const movePlacement = (ctx: Shard, before: Placement, patch: Partial<Placement>): Write[] => [
  ...casUpdate(ctx, placements, before, patch),
  showPlacement(ctx.db, before, patch),
];

/**
 * Stores an invitation while its attempt runs. Throws if the row is gone or leased to another attempt: an invitation that is not stored is
 * not sent, because it could not be revoked.
 */
export async function storeInvite(
  db: Db,
  { membershipId, leaseUntil }: Pick<Placement, 'membershipId' | 'leaseUntil'>,
  inviteUrl: string,
): Promise<void> {
  const isHolder = and(eq(placements.membershipId, membershipId), eq(placements.leaseUntil, leaseUntil));
  const stored = await stepRows(db, placements, { inviteUrl }, isHolder);
  assert(stored.meta.changes === 1, 'an invitation is kept by the attempt that made it');
}

/** Matches if an attempt is revoking the same grant for another membership of this person. */
export const isBeingTaken = ({ membershipId, merchantId }: Placement, grantKey: string, wallNow: number): SQL =>
  sql`EXISTS (SELECT 1 FROM placements WHERE grant_key = ${grantKey} AND merchant_id = ${boundId(merchantId)} AND livemode = 1
    AND membership_id <> ${boundId(membershipId)} AND work = 'take' AND lease_until > ${wallNow})`;

/**
 * True if another live membership of the same merchant and person grants the same access. Memberships of other merchants or a sandbox do
 * not count.
 */
export const isHeldByAnother = async (db: Db, { membershipId, merchantId, grantKey }: Placement): Promise<boolean> =>
  (await db
    .select({ one: sql`1` })
    .from(placements)
    .innerJoin(memberships, eq(memberships.id, placements.membershipId))
    .where(
      and(
        eq(placements.grantKey, grantKey ?? ''),
        eq(placements.merchantId, merchantId),
        eq(placements.livemode, true),
        ne(placements.membershipId, membershipId),
        sql`${memberships.status} IN ('active', 'grace')`,
      ),
    )
    .get()) !== undefined;

export const listDue = (db: Db, provider: IdentityProvider, now: number, limit: number) =>
  db
    .select({ id: placements.membershipId })
    .from(placements)
    .where(
      and(
        eq(placements.provider, provider),
        sql`next_attempt_at IS NOT NULL AND livemode = 1`,
        lte(placements.nextAttemptAt, now),
        lte(placements.leaseUntil, now),
      ),
    )
    .orderBy(asc(placements.nextAttemptAt))
    .limit(limit);

export const listDueInSandbox = (scope: Shard, limit: number) =>
  scope.db
    .select({ id: placements.membershipId })
    .from(placements)
    .where(and(clockFilter(scope), sql`next_attempt_at IS NOT NULL`, lte(placements.nextAttemptAt, scope.now)))
    .orderBy(asc(placements.nextAttemptAt))
    .limit(limit);

export const findOwnMember = (scope: Scope, membershipId: MembershipId) =>
  scope.db
    .select({ membership: memberships, placement: placements })
    .from(memberships)
    .leftJoin(placements, eq(placements.membershipId, memberships.id))
    .where(and(eq(memberships.id, membershipId), eq(memberships.merchantId, scope.merchantId), eq(memberships.livemode, scope.livemode)))
    .get();

export const findAbandoned = (db: Db, membershipId: MembershipId) =>
  db
    .select(getTableColumns(placements))
    .from(placements)
    .innerJoin(accounts, eq(accounts.id, placements.merchantId))
    .where(and(eq(placements.membershipId, membershipId), eq(accounts.status, 'deleted')))
    .get();

/** Updates the row of a deleted account. Returns false if the row moved since the read. */
export const updateAbandoned = async (db: Db, before: Placement, patch: Partial<Placement>): Promise<boolean> =>
  (await stepRows(db, placements, patch, isAt(before))).meta.changes > 0;

export const deleteAbandoned = (db: Db, before: Placement) => db.delete(placements).where(isAt(before));
