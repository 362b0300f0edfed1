import type { Scope } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { hasEntry } from '#platform/db/audit/recorded.ts';
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
  const action = 'entitlement.granted';
  const details = { 'after.idempotency_key': key };
  const isRecorded = replayed ? hasEntry({ merchantId: ctx.merchantId, action }, entitlementId, { details }) : undefined;
  const after = { units, days, idempotency_key: key };
  const entry = { action, subject: { type: 'entitlement', id: entitlementId }, after, reason } as const;
  await ctx.db.batch([recordAction(ctx, ctx, entry, isRecorded)]);
}
