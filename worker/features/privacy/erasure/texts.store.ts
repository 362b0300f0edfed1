import { and, asc, eq, gt, inArray, isNotNull, type SQL, sql } from 'drizzle-orm';
import type { Db, Scope } from '#platform/context.ts';
import { amongIds, boundId, setOf } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { rowsOf } from '#platform/db/page.ts';
import { keyTextOf } from '#platform/db/search/customer.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import { buyerSellers, customers } from '#platform/db/tables/entitlements.ts';
import { acts } from '#platform/db/tables/events.ts';
import { idempotencyRecords } from '#platform/db/tables/idempotency.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { type AuditDetails, auditEntries } from '#platform/db/tables/office/audit-log.ts';
import { parkedMessages } from '#platform/db/tables/operations.ts';
import { payments } from '#platform/db/tables/payments.ts';
import { buyerDetails } from '#platform/db/tables/receipts.ts';
import { webhookDeliveries } from '#platform/db/tables/webhooks.ts';
import { buyerKeyOf, granteeKeyOf } from '#rules/access/buyers.ts';

/** Lists the next acts of the merchant in the mode. */
export const listActs = ({ db, merchantId, livemode }: Scope, after: number, max: number) =>
  db
    .select()
    .from(acts)
    .where(and(eq(acts.merchantId, merchantId), eq(acts.livemode, livemode), gt(acts.seq, after)))
    .orderBy(asc(acts.seq))
    .limit(max);

/** Erases what endpoints answered to these events: an answer may repeat them. */
export const forgetResponses = (db: Db, eventIds: readonly string[]): Write =>
  db
    .update(webhookDeliveries)
    .set({ responseExcerpt: null })
    .where(and(amongIds(webhookDeliveries.eventId, eventIds), isNotNull(webhookDeliveries.responseExcerpt)));

/** Lists those of these memberships that are the customer's for good: of a wallet only with `withWallets`, as it may buy again. */
export async function listOwnMemberships({ ctx, keys }: Erasing, ids: readonly string[], withWallets: boolean): Promise<Set<string>> {
  const texts = keys.flatMap(({ erased }) => (withWallets || 'customerRef' in erased ? [keyTextOf(erased)] : []));
  if (ids.length === 0 || texts.length === 0) return new Set();
  const rows = await ctx.db
    .select({ id: memberships.id })
    .from(memberships)
    .where(and(amongIds(memberships.id, ids), inArray(memberships.customerKey, texts)));
  return new Set(rows.map(({ id }) => id));
}

/** Lists the next stored answers of the account in the mode, in the order of scope and key. */
export function listAnswers({ db, merchantId, livemode }: Scope, [scope, key]: readonly [string, string], max: number) {
  const ofMode = `${merchantId}:${livemode ? 'live' : 'sandbox'}`;
  return db
    .select()
    .from(idempotencyRecords)
    .where(sql`(scope, key) > (${scope === '' ? `${ofMode}:` : scope}, ${key}) AND scope < ${`${ofMode};`} AND status IS NOT NULL`)
    .orderBy(asc(idempotencyRecords.scope), asc(idempotencyRecords.key))
    .limit(max);
}
export type AnswerRow = Awaited<ReturnType<typeof listAnswers>>[number];

export const storeErasedAnswer = (
  db: Db,
  { scope, key, fence }: AnswerRow,
  change: Pick<AnswerRow, 'body'> | Pick<AnswerRow, 'sealedBody'>,
): Write =>
  db
    .update(idempotencyRecords)
    .set(change)
    .where(and(eq(idempotencyRecords.scope, scope), eq(idempotencyRecords.key, key), eq(idempotencyRecords.fence, fence)));

/** Lists the next entries of the log in the mode. */
export const listLogEntries = ({ db, merchantId, livemode }: Scope, after: number, max: number) =>
  db
    .select({ seq: auditEntries.seq, action: auditEntries.action, subjectId: auditEntries.subjectId, details: auditEntries.details })
    .from(auditEntries)
    .where(and(eq(auditEntries.merchantId, merchantId), gt(auditEntries.seq, after), sql`+${eq(auditEntries.livemode, livemode)}`))
    .orderBy(asc(auditEntries.seq))
    .limit(max);

export const storeErasedEntry = ({ db, merchantId }: Scope, seq: number, details: AuditDetails): Write =>
  db
    .update(auditEntries)
    .set({ details, isErased: true })
    .where(sql`${auditEntries.merchantId} = ${boundId(merchantId)} AND ${auditEntries.seq} = ${seq}`);

/** Deletes parked copies of objects under a reference of before. The object repeats what the database does not have. */
export const deleteParkedCopies = ({ ctx, customer, until }: Erasing): Promise<unknown> =>
  ctx.databases[0].db.delete(parkedMessages).where(
    sql`${inArray(parkedMessages.reason, ['failed', 'unknown_kind'])} AND ${inArray(parkedMessages.kind, ['projectEntitlement', 'projectMeteredSession'])}
      AND body ->> '$.projection.snapshot.merchantId' = ${ctx.merchantId} AND body ->> '$.projection.snapshot.livemode' = ${ctx.livemode ? 1 : 0}
      AND body ->> '$.projection.snapshot.customer.customerRef' IN ${setOf([...customer.refs.keys()])}
      AND body ->> '$.projection.snapshot.updatedAt' <= ${until}`,
  );

/** Plans that an address no longer leads to the merchant, nor has details for invoices, unless another payment, membership or note names it. */
export const planForgottenAddress = ({ ctx }: Erasing, email: string): Write[] => {
  const keys = [buyerKeyOf({ kind: 'email', email }), granteeKeyOf({ kind: 'email', email })];
  const named = (table: typeof payments | typeof memberships | typeof customers): SQL =>
    sql`NOT EXISTS (SELECT 1 FROM ${table} WHERE ${rowsOf(table, { ...ctx, livemode: true }, [[table.email, email]])} AND ${table.email} IS NOT NULL)`;
  return [buyerSellers, buyerDetails].map((table) =>
    ctx.db
      .delete(table)
      .where(
        and(
          inArray(table.buyerKey, keys),
          eq(table.merchantId, ctx.merchantId),
          table === buyerDetails ? sql`livemode = 1` : undefined,
          named(payments),
          named(memberships),
          named(customers),
        ),
      ),
  );
};
