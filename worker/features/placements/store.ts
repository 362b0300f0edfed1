import { and, asc, eq, getTableColumns, inArray, lte, ne, type SQL, sql } from 'drizzle-orm';
import { assert } from '#core/errors.ts';
import type { MembershipId } from '#core/ids.ts';
import { inReach } from '#platform/chain/reach.store.ts';
import type { Db, Scope, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { type Membership, memberships, type ShownDelivery } from '#platform/db/tables/memberships.ts';
import { type Placement, placements } from '#platform/db/tables/office/placements.ts';
import { products } from '#platform/db/tables/products.ts';
import { casUpdate, stepRows, updateUnversioned } from '#platform/db/versioned.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';

/** Memberships with their placement, where they have one. What is left of an account that is gone is given no place. */
export const listPlaced = (db: Db, ids: readonly MembershipId[]) =>
  db
    .select({ membership: memberships, placement: placements })
    .from(memberships)
    .innerJoin(accounts, eq(accounts.id, memberships.merchantId))
    .leftJoin(placements, eq(placements.membershipId, memberships.id))
    .where(and(inArray(memberships.id, [...ids]), ne(accounts.status, 'deleted')));

/** One of them, with what it was sold as; undefined where its account is gone. */
export const findMember = (db: Db, membershipId: MembershipId) =>
  db
    .select({ membership: memberships, placement: placements, productName: products.name })
    .from(placements)
    .innerJoin(memberships, eq(memberships.id, placements.membershipId))
    .innerJoin(products, eq(products.id, memberships.productId))
    .innerJoin(accounts, eq(accounts.id, memberships.merchantId))
    .where(and(eq(placements.membershipId, membershipId), ne(accounts.status, 'deleted')))
    .get();

/** Inserts nothing where a rival made it. */
export const insertPlacement = (db: Db, placement: Placement): Write => db.insert(placements).values(placement).onConflictDoNothing();

/** How far delivery is, as members' merchants see it. */
const shownOf = ({ status, attempts, inviteUrl, lastError, deliveredAt }: Placement): ShownDelivery => ({
  status,
  attempts,
  ...(inviteUrl === null ? {} : { inviteUrl }),
  ...(lastError === null ? {} : { lastError }),
  ...(deliveredAt === null ? {} : { deliveredAt }),
});

/** A membership as it is shown once its placement is as this. */
export const withDelivery = (membership: Membership, placement: Placement): Membership => ({ ...membership, delivery: shownOf(placement) });

const isAt = ({ membershipId, version }: Pick<Placement, 'membershipId' | 'version'>) =>
  and(eq(placements.membershipId, membershipId), eq(placements.version, version));

/** The placement as its membership shows it, if it is stored. */
function showPlacement(db: Db, before: Placement, patch: Partial<Placement>): Write {
  const { membershipId, version } = before;
  const isStored = sql`EXISTS (SELECT 1 FROM placements p WHERE p.membership_id = ${membershipId} AND p.version = ${version + 1})`;
  const delivery = shownOf({ ...before, ...patch });
  return updateUnversioned(db, memberships, { delivery }, and(eq(memberships.id, membershipId), isStored));
}

/** The row, and what is shown of it with its membership. Changes nothing if the row moved on since it was read. */
export const updatePlacement = (db: Db, before: Placement, patch: Partial<Placement>): [Write, Write] => [
  stepRows(db, placements, patch, isAt(before)),
  showPlacement(db, before, patch),
];

/** The same, and the batch fails if the row moved on. */
export const movePlacement = (ctx: Shard, before: Placement, patch: Partial<Placement>): Write[] => [
  ...casUpdate(ctx, placements, before, patch),
  showPlacement(ctx.db, before, patch),
];

/**
 * Stores an invitation while the attempt that made it goes on, whatever else the row says by then. Throws where the row is gone or leased
 * to another: an invitation that is not stored is told to no one, because no one could take it back.
 */
export async function keepInvite(
  db: Db,
  { membershipId, leaseUntil }: Pick<Placement, 'membershipId' | 'leaseUntil'>,
  inviteUrl: string,
): Promise<void> {
  const isHolder = and(eq(placements.membershipId, membershipId), eq(placements.leaseUntil, leaseUntil));
  const kept = await stepRows(db, placements, { inviteUrl }, isHolder);
  assert(kept.meta.changes === 1, 'an invitation is kept by the attempt that made it');
}

/** True while an attempt to take this place of this person away is under way for another of their memberships. */
export const isBeingTaken = ({ membershipId, merchantId }: Placement, standingKey: string, wallNow: number): SQL =>
  sql`EXISTS (SELECT 1 FROM placements WHERE standing_key = ${standingKey} AND merchant_id = ${merchantId} AND livemode = 1
    AND membership_id <> ${membershipId} AND work = 'take' AND lease_until > ${wallNow})`;

/**
 * True where another live membership of the same merchant, by which the same person has access now, gives the same place. What a rival's
 * membership or a sandbox names was never given there, so it keeps no person in.
 */
export const isHeldByAnother = async (db: Db, { membershipId, merchantId, standingKey }: Placement): Promise<boolean> =>
  (await db
    .select({ one: sql`1` })
    .from(placements)
    .innerJoin(memberships, eq(memberships.id, placements.membershipId))
    .where(
      and(
        eq(placements.standingKey, standingKey ?? ''),
        eq(placements.merchantId, merchantId),
        eq(placements.livemode, true),
        ne(placements.membershipId, membershipId),
        sql`${memberships.status} IN ('active', 'grace')`,
      ),
    )
    .get()) !== undefined;

/** Of one platform, live: those whose time has come, longest due first. */
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

/** Of one clock of a sandbox. */
export const listDueInSandbox = (scope: Shard, limit: number) =>
  scope.db
    .select({ id: placements.membershipId })
    .from(placements)
    .where(and(inReach(scope), sql`next_attempt_at IS NOT NULL`, lte(placements.nextAttemptAt, scope.now)))
    .orderBy(asc(placements.nextAttemptAt))
    .limit(limit);

/** The membership a merchant names, with its placement. */
export const findOwnMember = (scope: Scope, membershipId: MembershipId) =>
  scope.db
    .select({ membership: memberships, placement: placements })
    .from(memberships)
    .leftJoin(placements, eq(placements.membershipId, memberships.id))
    .where(and(eq(memberships.id, membershipId), eq(memberships.merchantId, scope.merchantId), eq(memberships.livemode, scope.livemode)))
    .get();

/** One of an account that is gone. */
export const findAbandoned = (db: Db, membershipId: MembershipId) =>
  db
    .select(getTableColumns(placements))
    .from(placements)
    .innerJoin(accounts, eq(accounts.id, placements.merchantId))
    .where(and(eq(placements.membershipId, membershipId), eq(accounts.status, 'deleted')))
    .get();

/** Changes nothing but the row, which is all that is left of its member. Answers false where it moved on since it was read. */
export const updateAbandoned = async (db: Db, before: Placement, patch: Partial<Placement>): Promise<boolean> =>
  (await stepRows(db, placements, patch, isAt(before))).meta.changes > 0;

export const deleteAbandoned = (db: Db, before: Placement) => db.delete(placements).where(isAt(before));
