import { ApiError } from '#core/errors.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { hasOtherClaim } from '#platform/db/outcome.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import type { PaymentReading } from './co-sign.ts';
import { type IdentifiedPayment, identifierKeyOf } from './store.ts';

const identified = (settlement: Settlement) => ({
  ...settlement,
  identifier: settlement.terms.paymentIdentifier ?? null,
});

/** True if another transaction, pending or settled, has the identifier of a payment that was read. Reads nothing without an identifier. */
export const isIdentifierTaken = (
  ctx: Scope,
  { identifier, signed: { txSignature } }: PaymentReading & { ok: true },
  { purpose, productId }: Pick<Settlement, 'purpose' | 'productId'>,
): Promise<boolean> => {
  const { merchantId, livemode } = ctx;
  return isKeyTaken(ctx, { merchantId, livemode, purpose, productId, identifier, txSignature });
};

async function isKeyTaken({ db }: Shard, payment: IdentifiedPayment & { txSignature: string }): Promise<boolean> {
  const identifier = identifierKeyOf(payment);
  return identifier !== null && hasOtherClaim(db, { ...payment, identifier });
}

/** True if the claim of this settlement failed because another transaction has its identifier. */
export const isIdentifierLost = (ctx: Shard, settlement: Settlement): Promise<boolean> => isKeyTaken(ctx, identified(settlement));

/** x402 reason of a facilitator's refusal. */
export const IDENTIFIER_CONFLICT = 'payment_identifier_conflict';

/** Refusal without a challenge, so that no client pays again. */
export const newIdentifierConflict = (): ApiError =>
  new ApiError('idempotency_conflict', {
    detail:
      'Another transaction was sent under this payment identifier. Send that one again, or name a new purchase with a new identifier.',
    meta: { reason: 'payment_identifier' },
  });

export const isIdentifierConflict = (error: unknown): boolean =>
  error instanceof ApiError && error.code === 'idempotency_conflict' && error.options.meta?.reason === 'payment_identifier';
