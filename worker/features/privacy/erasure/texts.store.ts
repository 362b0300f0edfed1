import { and, asc, eq, gt, inArray, isNotNull, sql } from 'drizzle-orm';
import type { Db, Scope } from '#platform/context.ts';
import { amongIds, boundId } from '#platform/db/among.ts';
import type { Write } from '#platform/db/commit.ts';
import { keyTextOf } from '#platform/db/search/customer.ts';
import type { Erasing } from '#platform/db/search/erasing.ts';
import { acts } from '#platform/db/tables/events.ts';
import { idempotencyRecords } from '#platform/db/tables/idempotency.ts';
import { memberships } from '#platform/db/tables/memberships.ts';
import { type AuditDetails, auditEntries } from '#platform/db/tables/office/audit-log.ts';
import { webhookDeliveries } from '#platform/db/tables/webhooks.ts';

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

/** Lists the next stored answers of the account, in the order of scope and key. */
export const listAnswers = ({ db, merchantId }: Scope, [scope, key]: readonly [string, string], max: number) =>
  db
    .select()
    .from(idempotencyRecords)
    .where(sql`(scope, key) > (${scope === '' ? `${merchantId}:` : scope}, ${key}) AND scope < ${`${merchantId};`} AND status IS NOT NULL`)
    .orderBy(asc(idempotencyRecords.scope), asc(idempotencyRecords.key))
    .limit(max);
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

/** Lists the next entries of the log. */
export const listLogEntries = ({ db, merchantId }: Scope, after: number, max: number) =>
  db
    .select({ seq: auditEntries.seq, subjectId: auditEntries.subjectId, at: auditEntries.at, details: auditEntries.details })
    .from(auditEntries)
    .where(and(eq(auditEntries.merchantId, merchantId), gt(auditEntries.seq, after)))
    .orderBy(asc(auditEntries.seq))
    .limit(max);

export const storeErasedEntry = ({ db, merchantId }: Scope, seq: number, details: AuditDetails): Write =>
  db
    .update(auditEntries)
    .set({ details, isErased: true })
    .where(sql`${auditEntries.merchantId} = ${boundId(merchantId)} AND ${auditEntries.seq} = ${seq}`);
