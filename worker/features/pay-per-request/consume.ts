import { ApiError, overloaded, unreachable } from '#core/errors.ts';
import type { ProductId } from '#core/ids.ts';
import { isoOrNull } from '#core/time.ts';
import { findAuthorizationBy } from '#features/authorizations/store.ts';
import { consumeEntitlement, readEntitlement, tooManyKeys } from '#features/entitlements/entitlement.ts';
import { getSale } from '#features/products/product.ts';
import type { Scope } from '#platform/context.ts';
import type { IdempotentRequest } from '#platform/db/idempotency-record.ts';
import { given } from '#platform/http/openapi.ts';
import type { EntitlementKey } from '#rules/balance.ts';
import type { ConsumeAnswer, PassedOutcome } from '#rules/entitlement-rpc.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { makeSaleChallenge } from './challenge.ts';
import type { Requested } from './resource.ts';

/**
 * Consumes units or throws with a challenge for the buyer. One object call, unless `forwarded` holds its answer, and no database read
 * unless units are missing. Throws 403 entitlement_missing or subscription_expired with a PAYMENT-REQUIRED header, 404, 409
 * idempotency_conflict or state_conflict (refunded), 429 rate_limited.
 */
export async function consumeUnits(
  ctx: Scope,
  identity: EntitlementKey,
  request: IdempotentRequest,
  input: { units: number; resource?: Requested | undefined },
  forwarded?: PassedOutcome,
): Promise<ConsumeAnswer & { ok: true }> {
  const answer = forwarded ?? (await consumeEntitlement(ctx, identity, request, input.units));
  if (answer.ok) return answer;
  switch (answer.reason) {
    case 'overloaded':
      throw overloaded();
    case 'full':
      throw tooManyKeys(ctx, answer);
    case 'conflict':
      throw new ApiError('idempotency_conflict');
    case 'refunded':
      throw new ApiError('state_conflict', {
        detail: 'The consumption of this request was refunded. Send a new request.',
        meta: { reason: 'refunded' },
      });
    case 'entitlement_missing':
    case 'subscription_expired':
      throw await explainDenial(ctx, identity, answer, input);
    default:
      return unreachable(answer);
  }
}

async function explainDenial(
  ctx: Scope,
  identity: EntitlementKey,
  {
    reason,
    remaining,
    paidThrough,
  }: { reason: 'entitlement_missing' | 'subscription_expired'; remaining: number; paidThrough: number | null },
  { units, resource }: { units: number; resource?: Requested | undefined },
): Promise<ApiError> {
  const productId = identity.productId as ProductId;
  const sale = await getSale(ctx, productId, X402_RAIL);
  const challenge = await makeSaleChallenge(ctx, sale, { resource, units: units - remaining });
  const held = reason === 'entitlement_missing' ? await readEntitlement(ctx, identity, identity.entitlementId) : null;
  const revoked = held?.status === 'revoked' ? { reason: 'revoked' } : {};
  const subscription =
    reason === 'subscription_expired' ? await findAuthorizationBy(ctx.db, { ...ctx, productId }, identity.customer) : null;
  const balance = {
    entitlement_id: identity.entitlementId,
    remaining,
    paid_through: isoOrNull(paidThrough),
    ...given('subscription_status', subscription?.status ?? null),
  };
  const left = remaining > 0 ? `Units left: ${remaining}. Units required: ${units}.` : null;
  if (challenge.ok)
    return new ApiError(reason, {
      ...(left === null ? {} : { detail: `${left} Answer 402 with the PAYMENT-REQUIRED header of this response.` }),
      headers: { 'PAYMENT-REQUIRED': challenge.header },
      meta: { ...balance, ...revoked, payment_required: challenge.required },
    });
  const { missing, fix } = challenge;
  const detail = `${left ?? 'The customer has no units left.'} The product is not ready for sale: call meta.fix.`;
  return new ApiError(reason, {
    detail,
    meta: { ...balance, payment_required: null, reason: 'setup_not_ready', missing, fix, ...revoked },
  });
}
