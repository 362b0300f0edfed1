import { z } from '@hono/zod-openapi';
import { formatErrorChain } from '#core/errors.ts';
import { answerBazaar } from '#features/catalogue/facilitated.ts';
import type { Scope } from '#platform/context.ts';
import { NetworkId, ok, type RouteContext } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { SettleResponse, VerifyResponse } from '#protocols/x402/wire.ts';
import { settleFacilitated, supportedKinds, verifyFacilitated } from './facilitator.ts';

const bag = z.record(z.string(), z.unknown());
// Loose, because the protocol may add fields.
const FacilitatorRequest = z
  .looseObject({
    x402Version: z.int(),
    paymentPayload: bag.describe('Payload that the buyer signed, as x402 defines it.'),
    paymentRequirements: bag.describe('Requirements of the payment, as x402 defines them.'),
  })
  .openapi('FacilitatorRequest', { description: 'Request body of the x402 reference facilitator client.' });

const SupportedResponse = z
  .object({
    kinds: z
      .array(
        z.object({
          x402Version: z.int(),
          scheme: z.string().describe('x402 scheme: `exact`.'),
          network: NetworkId,
          extra: bag.optional().describe('Further data that the scheme requires.'),
        }),
      )
      .describe('Combinations of scheme and network that can be verified and settled.'),
    extensions: z.array(z.string()),
    signers: z.record(z.string(), z.array(z.string())).describe('Wallets that pay the network fee, by network.'),
  })
  .openapi('FacilitatorSupported');

/** Sets `EXTENSION-RESPONSES`. A failure is noted and hides no answer, because the payment may be settled. */
async function showListing(
  c: Pick<RouteContext, 'header'>,
  scope: Scope,
  { paymentPayload }: z.infer<typeof FacilitatorRequest>,
  isPaid: boolean,
): Promise<void> {
  if (!scope.livemode) return;
  try {
    const answer = await answerBazaar(scope, paymentPayload, { isPaid });
    if (answer !== null) c.header('EXTENSION-RESPONSES', answer);
  } catch (error) {
    scope.note(`listing not noted: ${formatErrorChain(error)}`);
  }
}

export const facilitatorRoutes = routes('x402', 'consume')
  .public({
    path: 'GET /access/x402/facilitator/supported',
    id: 'listFacilitatorKinds',
    sdk: 'facilitator.getSupported',
    summary: 'List supported payments',
    description:
      'Lists supported payments. The base URL of the facilitator ends before `/supported`. Send your key in `X-Svc-Key` for verify and settle.',
    bucket: 'payload',
    returns: SupportedResponse,
    answer: ({ ctx }) => supportedKinds(ctx) as z.infer<typeof SupportedResponse>,
  })
  .key({
    path: 'POST /access/x402/facilitator/verify',
    id: 'verifyFacilitatedPayment',
    sdk: 'facilitator.verify',
    idempotency: 'natural',
    summary: 'Verify a payment for your server',
    description:
      'Verifies a payment. Body and response follow the x402 reference; a refusal is 200 as well. `payTo` must be your payout wallet: of the x402 rail, your account or a live product. A payment with an earlier successful response is refused as `duplicate_settlement`.',
    bucket: 'metered',
    body: FacilitatorRequest,
    returns: ok(VerifyResponse.openapi('FacilitatorVerification'), 'Verdict'),
    codes: ['setup_not_ready', 'rpc_unavailable', 'duplicate_settlement'],
    answer: async ({ c, scope, body }) => {
      const verdict = await verifyFacilitated(scope, body);
      if (verdict.isValid) await showListing(c, scope, body, false);
      return verdict;
    },
  })
  .key({
    path: 'POST /access/x402/facilitator/settle',
    id: 'settleFacilitatedPayment',
    sdk: 'facilitator.settle',
    idempotency: 'natural',
    agent: { confirm: true },
    summary: 'Settle a payment for your server',
    description: `Settles a payment. Body and response follow the x402 reference; a refusal is 200 as well. A payment is settled once: of concurrent calls, one gets \`success: true\` and the others \`duplicate_settlement\`. A later call gets the first result again: serve once per \`transaction\`. \`settlement_pending\`: repeat with the same payment. Nothing is granted and no payment is recorded.`,
    bucket: 'metered',
    body: FacilitatorRequest,
    returns: ok(SettleResponse.openapi('FacilitatorSettlement'), 'Settled or refused'),
    codes: ['setup_not_ready', 'rpc_unavailable', 'duplicate_settlement'],
    answer: async ({ c, scope, body }) => {
      const { answer, isFirst } = await settleFacilitated(scope, body);
      if (answer.success) await showListing(c, scope, body, isFirst);
      return answer;
    },
  });
