import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { CustomerBody, customerOf } from '#features/entitlements/resource.ts';
import { productRef, resolveProductId } from '#features/products/product-ref.ts';
import { RETRY_AFTER_SECONDS, SettlePending } from '#features/settlements/resource.ts';
import { idempotentRequest } from '#platform/http/idempotency-key.ts';
import { headersOf, ok } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { exceededCaps } from '#protocols/x402/exact.ts';
import { RequestedResource, requestedOf, SettlementBody } from './resource.ts';
import { type SettleResult, settlePayment } from './settle.ts';

const SettleRequest = z
  .object({
    ...productRef,
    payment_signature: z.string().min(1).max(65_536).describe('Value of the buyer’s PAYMENT-SIGNATURE header, unchanged.'),
    customer: CustomerBody.optional().describe('Customer: a wallet, or your own name for the customer. Requests name exactly one.'),
    consume_units: z
      .number()
      .int()
      .min(0)
      .max(1_000_000_000)
      .default(0)
      .describe('Units to consume in the same step; 422 with `meta.buys_units` above the amount that the payment buys.'),
    resource: RequestedResource.optional().describe(
      'Resource that the buyer requested. The signed receipt in `payment_response` names its URL, by default that of the product’s page.',
    ),
  })
  .openapi('SettleRequest');

function newRefusal({ reason, challenge }: SettleResult & { kind: 'refused' }): ApiError {
  const meta = { reason, ...exceededCaps(reason) };
  if (challenge.ok)
    return new ApiError('payment_mismatch', {
      detail: 'The payment was refused. Pay the new challenge in the PAYMENT-REQUIRED header.',
      headers: { 'PAYMENT-REQUIRED': challenge.header },
      meta: { ...meta, payment_required: challenge.required },
    });
  return new ApiError('payment_mismatch', { detail: challenge.fix, meta: { ...meta, payment_required: null, missing: challenge.missing } });
}

export const x402Routes = routes('x402', 'consume').write({
  path: 'POST /access/x402/settle',
  id: 'settlePayment',
  sdk: 'x402.settle',
  agent: { confirm: true },
  summary: 'Settle an x402 payment',
  description: `Settles an x402 payment. Repeated under its key, it returns the first result; under another one \`duplicate: true\` with \`consumed_units: 0\`: serve nothing for it. 202: send the same payment again, never ask for a new one.`,
  key: 'required',
  bucket: 'metered',
  body: SettleRequest,
  returns: {
    200: { ...ok(SettlementBody, 'Settled')[200], headers: headersOf('X-Svc-Duplicate-Settlement') },
    202: {
      description: 'Outcome not known yet',
      headers: headersOf('Retry-After'),
      content: { 'application/json': { schema: SettlePending } },
    },
  },
  codes: [
    'idempotency_race',
    'payment_mismatch',
    'duplicate_settlement',
    'setup_not_ready',
    'payer_limit_reached',
    'state_conflict',
    'not_found',
    'rpc_unavailable',
  ],
  respond: async ({ c, scope, body }) => {
    const input = {
      productId: await resolveProductId(scope, body),
      paymentSignature: body.payment_signature,
      customer: body.customer ? customerOf(body.customer) : null,
      consumeUnits: body.consume_units,
      resource: body.resource && requestedOf(body.resource),
    };
    const settling = await settlePayment(scope, await idempotentRequest(c), input);
    if (settling.kind === 'refused') throw newRefusal(settling);
    if (settling.kind === 'pending') {
      c.header('Retry-After', String(RETRY_AFTER_SECONDS));
      const pending = {
        success: false,
        error_reason: 'settlement_pending',
        tx_signature: settling.txSignature,
        retry_after: RETRY_AFTER_SECONDS,
      };
      return c.json(pending as z.infer<typeof SettlePending>, 202);
    }
    if (settling.answer.replayed) c.header('Idempotent-Replayed', 'true');
    if (settling.isDuplicate) c.header('X-Svc-Duplicate-Settlement', 'true');
    c.set('unitsConsumed', settling.consumedUnits);
    // A replay equals the first answer to the last byte.
    return c.body(settling.answer.body, 200, { 'content-type': 'application/json' }) as never;
  },
});
