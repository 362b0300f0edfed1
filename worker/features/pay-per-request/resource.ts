import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import type { ReceiptId } from '#core/ids.ts';
import { toMoneyResource } from '#core/money.ts';
import { entitlementKeyOf } from '#features/entitlements/entitlement.ts';
import { paymentResponse, type ReceiptProof } from '#features/settlements/proofs.ts';
import type { Ctx } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import {
  EntitlementUuid,
  MoneyBody,
  NetworkId,
  orNull,
  PayerWallet,
  PaymentUuid,
  ReceiptUuid,
  TransactionSignature,
} from '#platform/http/openapi.ts';
import type { ResourceInfo } from '#protocols/x402/wire.ts';
import type { CreditAnswer } from '#rules/entitlement-rpc.ts';

export const RESOURCE_URL_MAX = 2048;

export const RequestedResource = z
  .object({
    url: z
      .url()
      .max(RESOURCE_URL_MAX)
      .describe('URL of the resource. If the x402 rail has origins and the URL is on none of them, it moves to the first one.'),
    method: z.enum(['GET', 'HEAD', 'DELETE', 'POST', 'PUT', 'PATCH']).optional(),
    tool_name: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, 'Expected 1 to 128 visible characters')
      .optional()
      .describe('Name of the MCP tool that was called, instead of a method.'),
    description: z.string().max(500).optional(),
    mime_type: z.string().max(100).optional(),
  })
  .refine(({ method, tool_name: tool }) => method === undefined || tool === undefined, {
    path: ['tool_name'],
    message: 'Name a method or an MCP tool, not both',
  });

/** Resource that a buyer requested, as a challenge describes it, and how it was called. */
export type Requested = ResourceInfo & { method?: string; toolName?: string };

export const requestedOf = (resource: z.infer<typeof RequestedResource>): Requested => {
  const { url, method, tool_name: toolName, description, mime_type: mimeType } = resource;
  return {
    url,
    ...(method ? { method } : {}),
    ...(toolName ? { toolName } : {}),
    ...(description ? { description } : {}),
    ...(mimeType ? { mimeType } : {}),
  };
};

/** Answer to the one request that a payment serves. With `duplicate`, the answer to every other request. */
export const SettlementBody = z
  .object({
    success: z.literal(true),
    duplicate: z.literal(true).optional().describe('True if another request already received this success: do not serve this one.'),
    payment_id: PaymentUuid,
    receipt_id: ReceiptUuid,
    tx_signature: TransactionSignature,
    network: NetworkId,
    payer: PayerWallet,
    amount: MoneyBody,
    entitlement_id: EntitlementUuid,
    granted_units: orNull(z.int()).describe('Number of units granted; null: no limit.'),
    consumed_units: z.int(),
    consumption_id: z.string().optional().describe('Identifier of the consumption. Refund it if the request could not be served.'),
    remaining: orNull(z.int()).describe('Number of units left; null: no limit.'),
    payment_response: z.string(),
  })
  .openapi('SettleResponse');
export type SettlementBody = z.infer<typeof SettlementBody>;

/** Answer as it is stored: its header for the buyer is made again from the proof. `proof`: null for a duplicate, which has no receipt. */
export type SettlementAnswer = Omit<SettlementBody, 'payment_response'> & { proof: ReceiptProof | null };

export function toSettlementResource(ctx: Ctx, { proof, ...answer }: SettlementAnswer): SettlementBody {
  const { network, payer, tx_signature: transaction, amount } = answer;
  return { ...answer, payment_response: paymentResponse(ctx, { network, payer, transaction, amount: amount.base_units }, proof) };
}

export function answerOf(
  { config }: Ctx,
  settlement: Settlement,
  { receiptId, credit, proof }: { receiptId: ReceiptId; credit: CreditAnswer; proof: ReceiptProof },
): SettlementAnswer {
  const { txSignature, payerWallet: payer } = settlement;
  const use = requireUse(credit);
  return {
    success: true,
    payment_id: settlement.paymentId,
    receipt_id: receiptId,
    tx_signature: txSignature,
    network: config.network.caip2,
    payer,
    amount: toMoneyResource({ asset: settlement.asset, units: settlement.amount }),
    entitlement_id: entitlementOf(settlement).entitlementId,
    granted_units: credit.grantedUnits,
    consumed_units: use?.units ?? 0,
    ...(use ? { consumption_id: use.consumptionId } : {}),
    remaining: credit.remaining,
    proof,
  };
}

/**
 * The answer to every other request: the same payment, of which nothing is left for it, and what its customer holds now. The
 * consumption is named, so that the merchant can refund what a request used that crashed before it was served. No receipt is shown,
 * because nothing was served.
 */
export const asDuplicate = (answer: SettlementAnswer, remaining: number | null): SettlementAnswer => ({
  ...answer,
  proof: null,
  duplicate: true,
  granted_units: 0,
  consumed_units: 0,
  remaining,
});

/** Returns the consumption of a payment. Throws if it was refunded, because a refunded use is never given to the same request again. */
export function requireUse({ consumption }: CreditAnswer) {
  if (consumption.by === 'refunded')
    throw new ApiError('state_conflict', {
      detail: 'The consumption of this request was refunded. Send a new request.',
      meta: { reason: 'refunded' },
    });
  return consumption.by === 'none' ? null : consumption;
}

export function entitlementOf(settlement: Settlement) {
  const { productId, customerRef, customerWallet } = settlement;
  const customer = customerRef === null ? { walletAddress: customerWallet! } : { customerRef };
  return entitlementKeyOf(settlement, productId!, customer);
}
