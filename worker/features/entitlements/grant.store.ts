import { sql } from 'drizzle-orm';
import type { Scope } from '#platform/context.ts';
import { boundId } from '#platform/db/among.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { IdempotentRequest } from '#platform/db/idempotency-record.ts';

interface Grant {
  units?: number | undefined;
  days?: number | undefined;
  reason: string;
  replayed: boolean;
}

/**
 * Writes the entry of a grant after the effect, which is in the entitlement's object. If a request ended in between, its repetition adds the
 * missing entry.
 */
export async function recordGrant(
  ctx: Scope,
  entitlementId: string,
  { key }: IdempotentRequest,
  { units, days, reason, replayed }: Grant,
): Promise<void> {
  const isRecorded = sql`${replayed ? 1 : 0} AND EXISTS (SELECT 1 FROM audit_entries WHERE merchant_id = ${boundId(ctx.merchantId)}
    AND subject_id = ${boundId(entitlementId)} AND action = 'entitlement.granted' AND details ->> '$.after.idempotency_key' = ${key})`;
  const after = { units, days, idempotency_key: key };
  const entry = { action: 'entitlement.granted', subject: { type: 'entitlement', id: entitlementId }, after, reason } as const;
  await ctx.db.batch([recordAction(ctx, ctx, entry, isRecorded)]);
}
