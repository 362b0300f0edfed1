import { ApiError } from '#core/errors.ts';
import type { PaymentId, ReceiptId } from '#core/ids.ts';
import { toMoneyResource } from '#core/money.ts';
import { identityOf, readEntitlement } from '#features/entitlements/entitlement.ts';
import type { Ctx } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/access.ts';
import { encodeHeader } from '#protocols/x402/wire.ts';
import type { CreditAnswer } from '#rules/entitlement-rpc.ts';

export interface SettledBody {
  success: true;
  /** Another request was told of this success: nothing may be served for this one. */
  duplicate?: true;
  payment_id: PaymentId;
  receipt_id: string;
  tx_signature: string;
  network: string;
  payer: string;
  amount: ReturnType<typeof toMoneyResource>;
  entitlement_id: string;
  granted_units: number | null;
  consumed_units: number;
  consumption_id?: string;
  remaining: number | null;
  payment_response: string;
}

/** What the one request is told that a payment serves. Everything in it follows from facts that no longer change. */
export function toSettledBody(ctx: Ctx, settlement: Settlement, receiptId: ReceiptId, credit: CreditAnswer): SettledBody {
  const { txSignature, payerWallet: payer } = settlement;
  const use = useOf(credit);
  const network = ctx.config.network.caip2;
  const amount = settlement.amount.toString();
  return {
    success: true,
    payment_id: settlement.paymentId,
    receipt_id: receiptId,
    tx_signature: txSignature,
    network,
    payer,
    amount: toMoneyResource({ asset: settlement.asset, units: settlement.amount }),
    entitlement_id: entitlementOf(settlement).entitlementId,
    granted_units: credit.grantedUnits,
    consumed_units: use?.units ?? 0,
    ...(use ? { consumption_id: use.consumptionId } : {}),
    remaining: credit.remaining,
    payment_response: encodeHeader({ success: true, payer, transaction: txSignature, network, amount }),
  };
}

/**
 * What every other request is told: the same payment, of which nothing is left for it, and what its customer holds by now. The
 * consumption is named, so that the merchant can give back what a request used that died before it was served.
 */
export async function toDuplicateBody(ctx: Ctx, settlement: Settlement, body: SettledBody): Promise<SettledBody> {
  const owner = entitlementOf(settlement);
  const held = await readEntitlement(ctx, owner, owner.entitlementId);
  return { ...body, duplicate: true, granted_units: 0, consumed_units: 0, remaining: held ? held.remaining : 0 };
}

/** The use that was made of a payment; a use that was taken back is never given again to the same request. */
export function useOf({ consumption }: CreditAnswer) {
  if (consumption.by === 'refunded')
    throw new ApiError('state_conflict', { detail: 'What this request consumed was refunded.', meta: { reason: 'refunded' } });
  return consumption.by === 'none' ? null : consumption;
}

function entitlementOf({ merchantId: accountId, livemode, productId, customerRef, customerWallet }: Settlement) {
  const customer = customerRef === null ? { walletAddress: customerWallet! } : { customerRef };
  return identityOf({ accountId, livemode }, productId!, customer);
}
