import type { Subscribing } from '#features/authorizations/steps.ts';
import { planFee } from '#features/rails/outlook.ts';
import type { Due } from '#features/rails/quote.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Payment } from '#platform/db/tables/payments.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import { mintOf } from '#solana/assets.ts';
import { accountOf } from '#solana/checkout-transaction.ts';
import { type Prepared, prepareTransaction } from './prepare-transaction.ts';
import { beginSubscribing } from './subscribing/agree.ts';

export interface Checkout {
  payment: Payment;
  /** Business time of the answer, by the payment's clock. */
  now: number;
  /** Only where the buyer's wallet is known. */
  prepared: Prepared | null;
  /** Of what renews itself: what its buyer signs instead. */
  subscribing: Subscribing | null;
}

/** A payment as it was planned, and the authorization that it begins with where what is sold renews itself. */
export interface BegunPayment {
  payment: Payment;
  authorization: AuthorizationRow | null;
}

/** What the buyer of a payment that can still be paid signs: as it is planned, or as it is stored. 503 rpc_unavailable. */
export async function prepareCheckout(ctx: Shard, { payment, authorization }: BegunPayment, wallet: string | null): Promise<Checkout> {
  const { now } = ctx;
  if (authorization) return { payment, now, prepared: null, subscribing: await beginSubscribing(ctx, payment, authorization) };
  return { payment, now, prepared: wallet === null ? null : await prepareTransaction(ctx, payment, wallet), subscribing: null };
}

/** What is to be paid until when, where it goes, and the fee out of it. */
export async function payableTo(ctx: Ctx, recipientWallet: string, { price, expiresAt }: Due, railId: RailId) {
  const mint = mintOf(ctx.config.network, price.asset);
  const fee = RAILS[railId].takesFee ? planFee(ctx, price, recipientWallet) : null;
  return {
    asset: price.asset,
    mint,
    priceAmount: price.units,
    recipientWallet,
    recipientAta: await accountOf(recipientWallet, mint),
    feeAmount: fee?.amount.units ?? null,
    feeWallet: fee?.wallet ?? null,
    feeAta: fee ? await accountOf(fee.wallet, mint) : null,
    expiresAt,
  };
}
