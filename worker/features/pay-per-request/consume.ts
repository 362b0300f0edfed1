import { ApiError, overloaded, unreachable } from '#core/errors.ts';
import type { ProductId } from '#core/ids.ts';
import { isoOrNull } from '#core/time.ts';
import { findAuthorizationBy } from '#features/authorizations/store.ts';
import { consumeEntitlement, entitlementKeyOf, readEntitlement, tooManyKeys } from '#features/entitlements/entitlement.ts';
import { getSale, type Sale } from '#features/products/product.ts';
import type { Scope } from '#platform/context.ts';
import type { IdempotentRequest } from '#platform/db/idempotency-record.ts';
import { given } from '#platform/http/openapi.ts';
import type { SignInProblem } from '#protocols/x402/sign-in.ts';
import type { EntitlementKey } from '#rules/balance.ts';
import type { ConsumeAnswer, PassedOutcome } from '#rules/entitlement-rpc.ts';
import { X402_RAIL } from '#rules/rails.ts';
import { makeSaleChallenge, type SaleChallenge } from './challenge.ts';
import type { Requested } from './resource.ts';
import { readSignIn } from './sign-in.ts';

interface Consume {
  units: number;
  resource?: Requested | undefined;
}
export type Consumed = ConsumeAnswer & { ok: true };
type Denied = ConsumeAnswer & { ok: false; reason: 'entitlement_missing' | 'subscription_expired' };

/**
 * Consumes units or throws with a challenge for the buyer. One object call, unless `forwarded` holds its answer, and no database read
 * unless units are missing. Throws 403 entitlement_missing or subscription_expired with a PAYMENT-REQUIRED header, 404, 409
 * idempotency_conflict or state_conflict (refunded), 429 rate_limited.
 */
export async function consumeUnits(
  ctx: Scope,
  identity: EntitlementKey,
  request: IdempotentRequest,
  input: Consume,
  forwarded?: PassedOutcome,
): Promise<Consumed> {
  const answer = forwarded ?? (await consumeEntitlement(ctx, identity, request, { units: input.units }));
  if (answer.ok) return answer;
  throw await explainRefusal(ctx, identity, answer, input);
}

/**
 * Consumes units of the wallet that signed in, and returns its entitlement. One read of the sale and one object call. A sign-in serves one
 * key, and that key is answered again after the sign-in has expired. Throws as `consumeUnits`, and 403 entitlement_missing with
 * `meta.sign_in` for a refused sign-in, which stores nothing.
 */
export async function consumeBySignIn(
  ctx: Scope,
  productId: ProductId,
  request: IdempotentRequest,
  { signIn, ...input }: Consume & { signIn: string },
): Promise<{ identity: EntitlementKey; wallet: string; used: Consumed }> {
  const sale = await getSale(ctx, productId, X402_RAIL);
  const { problem, signer, nonce } = readSignIn(ctx, sale, signIn);
  if (signer === null) throw await refuseSignIn(ctx, sale, problem, input);
  const identity = entitlementKeyOf(ctx, productId, { walletAddress: signer });
  const answer = await consumeEntitlement(ctx, identity, request, { units: input.units, nonce });
  if (answer.ok) return { identity, wallet: signer, used: answer };
  // A sign-in that is not valid proves nothing but a request that it served before.
  if (problem && answer.reason !== 'refunded') throw await refuseSignIn(ctx, sale, problem, input);
  if (answer.reason === 'sign_in_refused') throw await refuseSignIn(ctx, sale, 'invalid_siwx_nonce', input);
  throw await explainRefusal(ctx, identity, answer, input, { sale, signIn: { valid: true, wallet_address: signer } });
}

/** A wallet that signed in, and the sale that was read for it. */
interface SignedIn {
  sale: Sale;
  signIn: { valid: true; wallet_address: string };
}

async function explainRefusal(
  ctx: Scope,
  identity: EntitlementKey,
  answer: PassedOutcome & { ok: false },
  input: Consume,
  signedIn?: SignedIn,
): Promise<ApiError> {
  switch (answer.reason) {
    case 'overloaded':
      return overloaded();
    case 'full':
      return tooManyKeys(ctx, answer);
    case 'conflict':
      return new ApiError('idempotency_conflict');
    case 'refunded':
      return new ApiError('state_conflict', {
        detail: 'The consumption of this request was refunded. Send a new request.',
        meta: { reason: 'refunded' },
      });
    case 'entitlement_missing':
    case 'subscription_expired':
      return explainDenial(ctx, identity, answer, input, signedIn);
    case 'sign_in_refused':
      throw new Error('a use without a sign-in was refused as one');
    default:
      return unreachable(answer);
  }
}

async function explainDenial(
  ctx: Scope,
  identity: EntitlementKey,
  { reason, remaining, paidThrough }: Denied,
  { units, resource }: Consume,
  signedIn: SignedIn | undefined,
): Promise<ApiError> {
  const productId = identity.productId as ProductId;
  const sale = signedIn?.sale ?? (await getSale(ctx, productId, X402_RAIL));
  const challenge = await makeSaleChallenge(ctx, sale, { resource, units: units - remaining });
  const held = reason === 'entitlement_missing' ? await readEntitlement(ctx, identity, identity.entitlementId) : null;
  const subscription =
    reason === 'subscription_expired' ? await findAuthorizationBy(ctx.db, { ...ctx, productId }, identity.customer) : null;
  const balance = {
    ...given('sign_in', signedIn?.signIn ?? null),
    entitlement_id: identity.entitlementId,
    remaining,
    paid_through: isoOrNull(paidThrough),
    ...given('subscription_status', subscription?.status ?? null),
  };
  const merged = held?.mergedInto && { reason: 'merged', customer_id: held.mergedInto };
  const revoked = merged || (held?.status === 'revoked' ? { reason: 'revoked' } : {});
  const left = remaining > 0 ? `Units left: ${remaining}. Units required: ${units}.` : null;
  return newDenial(reason, challenge, { left, balance, revoked });
}

/** Refuses a sign-in, with a challenge that offers another one. Nothing is said about the balance of the wallet that it names. */
async function refuseSignIn(ctx: Scope, sale: Sale, problem: SignInProblem, { units, resource }: Consume): Promise<ApiError> {
  const challenge = await makeSaleChallenge(ctx, sale, { resource, units });
  const balance = { sign_in: { valid: false, reason: problem } };
  return newDenial('entitlement_missing', challenge, { left: `The sign-in was refused: ${problem}.`, balance });
}

function newDenial(
  reason: Denied['reason'],
  challenge: SaleChallenge,
  { left, balance, revoked = {} }: { left: string | null; balance: object; revoked?: object },
): ApiError {
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
