import { createRoute, z } from '@hono/zod-openapi';
import { FEE_BUDGET_TEXT } from '#features/settlements/fee-budget.ts';
import { keyRoute, merchantErrors } from '#platform/http/callers.ts';
import { errors, jsonBody, ok, protocolBodyErrors, router } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { SettleResponse, VerifyResponse } from '#protocols/x402/wire.ts';
import { settleFacilitated, supportedKinds, verifyFacilitated } from './facilitator.ts';

const tags = ['x402'];
const bag = z.record(z.string(), z.unknown());
// Of a protocol that may grow: it takes fields that we do not know.
const FacilitatorRequest = z
  .looseObject({ x402Version: z.int(), paymentPayload: bag, paymentRequirements: bag })
  .openapi('FacilitatorRequest', { description: 'The body the reference client of a facilitator sends.' });

const SupportedResponse = z
  .object({
    kinds: z.array(z.object({ x402Version: z.int(), scheme: z.string(), network: z.string(), extra: bag.optional() })),
    extensions: z.array(z.string()),
    signers: z.record(z.string(), z.array(z.string())),
  })
  .openapi('FacilitatorSupported');

const supported = createRoute({
  method: 'get',
  path: '/access/x402/facilitator/supported',
  operationId: 'listFacilitatorKinds',
  tags,
  summary: 'List what can be settled',
  description:
    'The base URL of the facilitator ends before `/supported`. Give it to any x402 V2 resource server, with your key in `X-Svc-Key` of verify and settle.',
  middleware: publicBucket('payload'),
  responses: { ...ok(SupportedResponse), ...errors('rate_limited') },
});
const call = { ...keyRoute('metered'), request: jsonBody(FacilitatorRequest) };
const refusals = merchantErrors(...protocolBodyErrors, 'setup_not_ready', 'rpc_unavailable', 'duplicate_settlement');
const verify = createRoute({
  method: 'post',
  path: '/access/x402/facilitator/verify',
  operationId: 'verifyFacilitatedPayment',
  tags,
  summary: 'Verify for your server',
  description:
    'Reference body and answer, 200 also where it is refused. `payTo` must be your payout wallet: of the x402 rail, of your account, or ' +
    'of one of your live products. A payment whose success was answered before is refused as `duplicate_settlement`; one that was settled ' +
    'without anybody being told passes, so that its buyer can come back for what he paid.',
  ...call,
  responses: { ...ok(VerifyResponse.openapi('FacilitatorVerification'), 'Judged'), ...refusals },
});
const settle = createRoute({
  method: 'post',
  path: '/access/x402/facilitator/settle',
  operationId: 'settleFacilitatedPayment',
  tags,
  summary: 'Settle for your server',
  description:
    'Reference body and answer, 200 also where it is refused. The payment itself is the idempotency key: it is settled once. Of calls at ' +
    'once one gets `success: true`, the others `duplicate_settlement` with the signature in `transaction`. A later call of the same ' +
    'account gets the first result again, so that a lost answer loses nothing: verify each request first, which refuses a payment that ' +
    'was answered before, and serve once for each `transaction`. Another account gets `duplicate_settlement`. `settlement_pending` means ' +
    `that no call has its success yet: ask again with the same payment. Nothing is granted and no payment is recorded: your server keeps the books. ${FEE_BUDGET_TEXT}`,
  ...call,
  responses: { ...ok(SettleResponse.openapi('FacilitatorSettlement'), 'Settled or refused'), ...refusals },
});

export const facilitatorRoutes = router()
  .openapi(supported, (c) => c.json(supportedKinds(c.var.ctx), 200))
  .openapi(verify, async (c) => c.json(await verifyFacilitated(c.var.scope, c.req.valid('json')), 200))
  .openapi(settle, async (c) => c.json(await settleFacilitated(c.var.scope, c.req.valid('json')), 200));
