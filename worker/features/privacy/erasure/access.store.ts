import { and, eq, inArray, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { ProductId } from '#core/ids.ts';
import type { Scope } from '#platform/context.ts';
import { abortIf, abortIfExists, type Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { keyTextOf, paidFor } from '#platform/db/search/customer.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import { archivedPayments } from '#platform/db/tables/archives.ts';
import { type ErasedKey, entitlements } from '#platform/db/tables/entitlements.ts';
import { type Membership, memberships } from '#platform/db/tables/memberships.ts';
import { type Placement, placements } from '#platform/db/tables/office/placements.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { casUpdate, stepRows, updateUnversioned } from '#platform/db/versioned.ts';
import type { Customer } from '#rules/balance.ts';
import { isPaidBefore } from './rows.store.ts';

const isOfKey = (scope: Scope, key: Customer): SQL => rowsOf(memberships, scope, [[memberships.customerKey, keyTextOf(key)]]);
const isRunning = inArray(memberships.status, ['active', 'grace']);

/** Lists memberships of these customers that run: with `is` some of them. */
export const listRunning = (scope: Scope, keys: readonly Customer[], max: number, is?: SQL): Promise<Membership[]> =>
  scope.db
    .select()
    .from(memberships)
    .where(and(rowsOf(memberships, scope), inArray(memberships.customerKey, keys.map(keyTextOf)), isRunning, is))
    .limit(max);

/** SQL condition: the last purchase of a membership is none of the next customer's. */
export const isBoughtBefore = (erasing: Erasing): SQL => isPaidBefore(erasing, memberships.lastPaymentId);

/** Plans that a batch aborts while a membership of the customer runs. */
export const abortIfMember = (scope: Scope, keys: readonly Customer[]): Write[] =>
  keys.map((key) => abortIfExists(scope, memberships, and(isOfKey(scope, key), isRunning)));

/** Lists the addresses of a wallet's memberships. */
export async function listMemberEmails(scope: Scope, keys: readonly Customer[]): Promise<string[]> {
  const wallets = keys.flatMap((key) => ('walletAddress' in key ? [keyTextOf(key)] : []));
  const rows = await scope.db
    .selectDistinct({ email: memberships.email })
    .from(memberships)
    .where(and(rowsOf(memberships, scope), inArray(memberships.customerKey, wallets), isNotNull(memberships.email)));
  return rows.map(({ email }) => email!);
}

/**
 * Plans that the memberships of a reference are those of its erased customer from now on. Those of a wallet lose their address, so that none of
 * before goes on with a later purchase.
 */
export const rekeyMemberships = (scope: Scope, { key, erased }: ErasedKey): Write[] => [
  'customerRef' in erased
    ? stepRows(scope.db, memberships, { customerKey: keyTextOf(erased), customerRef: erased.customerRef }, isOfKey(scope, key))
    : stepRows(scope.db, memberships, { email: null }, sql`${isOfKey(scope, key)} AND email IS NOT NULL`),
];

const hasNames = sql`(${memberships.email} IS NOT NULL OR ${memberships.deliverTo} IS NOT NULL
  OR ${placements.membershipId} IS NULL AND ${memberships.delivery} IS NOT NULL
  OR ${placements.membershipId} IS NOT NULL AND coalesce(${placements.grant} ->> '$.isErased', 0) = 0)`;

export interface HeldMembership {
  membership: Membership;
  placement: Placement | null;
}

/**
 * Lists memberships of before that name the customer or a recipient, with their delivery. Those of a reference have the key of the erased
 * customer.
 */
export const listUnerasedMembers = (erasing: Erasing, { erased }: ErasedKey, max: number): Promise<HeldMembership[]> =>
  erasing.ctx.db
    .select({ membership: memberships, placement: placements })
    .from(memberships)
    .leftJoin(placements, eq(placements.membershipId, memberships.id))
    .where(and(isOfKey(erasing.ctx, erased), isBoughtBefore(erasing), hasNames))
    .limit(max);

/**
 * Plans the erasure of a membership. Access that the platform did not take away remains in the row of the delivery, without the customer,
 * until its schedule ends. Aborts if the membership or the delivery changed.
 */
export function planErasedMembership({ ctx }: Erasing, { membership, placement }: HeldMembership): Write[] {
  const { db } = ctx;
  const isTaking = placement?.livemode && placement.grant !== null && placement.nextAttemptAt !== null;
  const ofPlacement = placement ? and(eq(placements.membershipId, membership.id), eq(placements.version, placement.version)) : undefined;
  const nameless = { grant: sql`json_set("grant", '$.isErased', json('true'))`, customerRef: null, lastError: null, deliveredAt: null };
  return [
    ...casUpdate(ctx, memberships, membership, { email: null, deliverTo: null }),
    updateUnversioned(db, memberships, { delivery: null }, eq(memberships.id, membership.id)),
    ...(placement
      ? [
          isTaking ? stepRows(db, placements, nameless, ofPlacement) : db.delete(placements).where(ofPlacement),
          abortIf(ctx, sql`changes() <> 1`),
        ]
      : []),
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

/** Plans that a batch aborts while a membership of before runs or has names. */
export const abortIfHeld = (erasing: Erasing): Write[] =>
  erasing.keys.map(({ erased }) => {
    const isLeft = sql`(${isRunning} OR ${memberships.email} IS NOT NULL OR ${memberships.deliverTo} IS NOT NULL)`;
    return abortIfExists(erasing.ctx, memberships, and(isOfKey(erasing.ctx, erased), isLeft, isBoughtBefore(erasing)));
  });
