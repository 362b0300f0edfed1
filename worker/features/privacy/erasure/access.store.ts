import { and, eq, inArray, lte, type SQL, sql } from 'drizzle-orm';
import type { EntitlementId, ProductId } from '#core/ids.ts';

import type { Scope } from '#platform/context.ts';
import { amongIds } from '#platform/db/among.ts';
import { abortIfExists, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { keyTextOf, paidFor } from '#platform/db/search/customer.ts';
import type { ErasedKey, Erasing } from '#platform/db/search/erasing.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { entitlements } from '#platform/db/tables/entitlements.ts';
import { type Membership, memberships } from '#platform/db/tables/memberships.ts';
import { type Placement, placements } from '#platform/db/tables/office/placements.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { casUpdate, stepRows, updateUnversioned } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';

const isOfKey = (scope: Scope, key: Customer): SQL => rowsOf(memberships, scope, [[memberships.customerKey, keyTextOf(key)]]);
const isRunning = inArray(memberships.status, ['active', 'grace']);

export const listRunning = (scope: Scope, keys: readonly Customer[], max: number): Promise<Membership[]> =>
  scope.db
    .select()
    .from(memberships)
    .where(and(rowsOf(memberships, scope), inArray(memberships.customerKey, keys.map(keyTextOf)), isRunning))
    .limit(max);

export const abortIfMember = (scope: Scope, keys: readonly Customer[]): Write[] =>
  keys.map((key) => abortIfExists(scope, memberships, and(isOfKey(scope, key), isRunning)));

export interface HeldMembership {
  membership: Membership;
  placement: Placement | null;
}

/** Lists memberships that still name the customer or a recipient, with their delivery. */
export const listUnerasedMembers = ({ ctx, until }: Erasing, { key }: ErasedKey, max: number): Promise<HeldMembership[]> =>
  ctx.db
    .select({ membership: memberships, placement: placements })
    .from(memberships)
    .leftJoin(placements, eq(placements.membershipId, memberships.id))
    .where(
      and(
        isOfKey(ctx, key),
        lte(memberships.updatedAt, until),
        'customerRef' in key
          ? undefined
          : sql`(${memberships.email} IS NOT NULL OR ${memberships.deliverTo} IS NOT NULL OR ${memberships.delivery} IS NOT NULL
            OR ${placements.membershipId} IS NOT NULL AND coalesce(${placements.grant} ->> '$.isGivenBack', 0) = 0)`,
      ),
    )
    .limit(max);

/** Plans the erasure of a membership. An invitation that the platform did not revoke remains as a row without a name, until it has. */
export function planErasedMembership({ ctx }: Erasing, { erased }: ErasedKey, { membership, placement }: HeldMembership): Write[] {
  const { db, wallNow } = ctx;
  const customerRef = 'customerRef' in erased ? erased.customerRef : null;
  const isOpen = placement?.livemode && placement.inviteUrl !== null && placement.grant !== null;
  const ofPlacement = placement ? and(eq(placements.membershipId, membership.id), eq(placements.version, placement.version)) : undefined;
  const nameless = {
    grant: sql`json_object('target', json_extract("grant", '$.target'), 'providerUserId', '', 'isGivenBack', json('true'))`,
    ...{ grantKey: null, customerRef: null, lastError: null, deliveredAt: null },
    ...{ work: 'take' as const, attempts: 0, nextAttemptAt: wallNow, leaseUntil: 0 },
  };
  return [
    ...casUpdate(ctx, memberships, membership, {
      ...(customerRef === null ? {} : { customerKey: keyTextOf(erased), customerRef }),
      ...{ email: null, deliverTo: null, updatedAt: ctx.now },
    }),
    updateUnversioned(db, memberships, { delivery: null }, eq(memberships.id, membership.id)),
    ...(placement ? [isOpen ? stepRows(db, placements, nameless, ofPlacement) : db.delete(placements).where(ofPlacement)] : []),
  ];
}

/** Lists the products that the customer may have an entitlement to, after `after`, by rows of before and after their erasure. */
export async function listPossibleProducts({ ctx, keys }: Erasing, after: string, max: number): Promise<ProductId[]> {
  const { db } = ctx;
  const refs = keys.flatMap(({ key, erased }) =>
    'customerRef' in key && 'customerRef' in erased ? [key.customerRef, erased.customerRef] : [],
  );
  const wallets = keys.flatMap(({ key }) => ('walletAddress' in key ? [key.walletAddress] : []));
  const texts = keys.flatMap(({ key, erased }) => [keyTextOf(key), keyTextOf(erased)]);
  const paid = (table: typeof payments | typeof archivedPayments) =>
    [inArray(table.customerRef, refs), ...paidFor(table, wallets)].map((isTheirs) =>
      db
        .selectDistinct({ id: table.productId })
        .from(table)
        .where(and(rowsOf(table, ctx), isTheirs)),
    );
  const held = [inArray(entitlements.customerRef, refs), inArray(entitlements.walletAddress, wallets)].map((isTheirs) =>
    db
      .selectDistinct({ id: entitlements.productId })
      .from(entitlements)
      .where(and(rowsOf(entitlements, ctx), isTheirs)),
  );
  const found = await db.batch([
    db
      .selectDistinct({ id: memberships.productId })
      .from(memberships)
      .where(and(rowsOf(memberships, ctx), inArray(memberships.customerKey, texts))),
    ...held,
    ...paid(payments),
    ...paid(archivedPayments),
  ]);
  const ids = new Set(found.flat().map(({ id }) => id));
  return [...ids]
    .filter((id) => id > after)
    .sort()
    .slice(0, max);
}

export const deleteCopies = ({ ctx }: Erasing, ids: readonly EntitlementId[]): Write =>
  ctx.db.delete(entitlements).where(amongIds(entitlements.id, ids));

/** Plans the deletion of copies of before, which a late message may have brought back. */
export const deleteOldCopies = ({ ctx, keys, until }: Erasing): Write[] =>
  keys.flatMap(({ key }) =>
    'customerRef' in key
      ? [
          ctx.db
            .delete(entitlements)
            .where(and(rowsOf(entitlements, ctx, [[entitlements.customerRef, key.customerRef]]), lte(entitlements.updatedAt, until))),
        ]
      : [],
  );

/** Plans that a batch aborts while a membership or entitlement is under a reference of before. */
export const abortIfHeld = ({ ctx, keys, until }: Erasing): Write[] =>
  keys.flatMap(({ key }) =>
    'customerRef' in key
      ? [
          abortIfExists(ctx, memberships, and(isOfKey(ctx, key), lte(memberships.updatedAt, until))),
          abortIfExists(
            ctx,
            entitlements,
            and(rowsOf(entitlements, ctx, [[entitlements.customerRef, key.customerRef]]), lte(entitlements.updatedAt, until)),
          ),
        ]
      : [],
  );
