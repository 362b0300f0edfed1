import { z } from '@hono/zod-openapi';
import { FEE_BUDGET_TEXT } from '#features/settlements/fee-budget.ts';
import { ok } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { SettleResponse, VerifyResponse } from '#protocols/x402/wire.ts';
import { settleFacilitated, supportedKinds, verifyFacilitated } from './facilitator.ts';

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

export const facilitatorRoutes = routes('x402')
  .public({
    path: 'GET /access/x402/facilitator/supported',
    id: 'listFacilitatorKinds',
    summary: 'List what can be settled',
    description:
      'The base URL of the facilitator ends before `/supported`. Give it to any x402 V2 resource server, with your key in `X-Svc-Key` of verify and settle.',
    bucket: 'payload',
    returns: SupportedResponse,
    answer: ({ ctx }) => supportedKinds(ctx) as z.infer<typeof SupportedResponse>,
  })
  .key({
    path: 'POST /access/x402/facilitator/verify',
    id: 'verifyFacilitatedPayment',
    summary: 'Verify for your server',
    description:
      'Reference body and answer, 200 also where it is refused. `payTo` must be your payout wallet: of the x402 rail, of your account, or ' +
      'of one of your live products. A payment whose success was answered before is refused as `duplicate_settlement`; one that was settled ' +
      'without anybody being told passes, so that its buyer can come back for what he paid.',
    bucket: 'metered',
    body: FacilitatorRequest,
    returns: ok(VerifyResponse.openapi('FacilitatorVerification'), 'Judged'),
    codes: ['setup_not_ready', 'rpc_unavailable', 'duplicate_settlement'],
    answer: ({ scope, body }) => verifyFacilitated(scope, body),
  })
  .key({
    path: 'POST /access/x402/facilitator/settle',
    id: 'settleFacilitatedPayment',
    summary: 'Settle for your server',
    description:
      'Reference body and answer, 200 also where it is refused. The payment itself is the idempotency key: it is settled once. Of calls at ' +
      'once one gets `success: true`, the others `duplicate_settlement` with the signature in `transaction`. A later call of the same ' +
      'account gets the first result again, so that a lost answer loses nothing: verify each request first, which refuses a payment that ' +
      'was answered before, and serve once for each `transaction`. Another account gets `duplicate_settlement`. `settlement_pending` means ' +
      `that no call has its success yet: ask again with the same payment. Nothing is granted and no payment is recorded: your server keeps the books. ${FEE_BUDGET_TEXT}`,
    bucket: 'metered',
    body: FacilitatorRequest,
    returns: ok(SettleResponse.openapi('FacilitatorSettlement'), 'Settled or refused'),
    codes: ['setup_not_ready', 'rpc_unavailable', 'duplicate_settlement'],
    answer: ({ scope, body }) => settleFacilitated(scope, body),
  });
