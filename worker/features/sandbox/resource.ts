import { z } from '@hono/zod-openapi';
import { iso, SECOND } from '#core/time.ts';
import type { SandboxSession } from '#platform/db/tables/sandbox.ts';
import { DecimalAmount } from '#platform/http/bodies/own-fields.ts';
import { WireTransaction } from '#platform/http/bodies/wire-transaction.ts';
import { AssetName, given, PaymentUuid, Timestamp } from '#platform/http/openapi.ts';
import { SANDBOX_SESSION } from '#rules/states.ts';
import { OUTCOMES } from './outcomes.ts';

const Named = z.object({ type: z.string(), id: z.string() });

export const SandboxSessionBody = z
  .object({
    session_id: z.uuid(),
    scenario: z.string(),
    status: z.enum(SANDBOX_SESSION.states),
    livemode: z.literal(false).describe('False for the sandbox.'),
    seed: z.string().describe('Seed of the scenario. The same seed produces the same steps.'),
    clock: z
      .object({
        now: Timestamp,
        advanced_seconds: z.int(),
      })
      .describe('Clock of the session. It stops between advances.'),
    objects: z.array(Named),
    steps: z.array(
      z.object({
        at: Timestamp.describe('Time of the step, by the session’s clock.'),
        action: z.string(),
        object: Named.optional().describe('Object as its GET operation returns it.'),
        state: z.string().optional(),
        event_id: z.string().optional().describe('Identifier of the event. Use it to process each event once.'),
        event_type: z.string().optional().describe('Type of the event, such as `payment.confirmed`.'),
      }),
    ),
    deliveries: z
      .object({
        sent: z.int(),
        succeeded: z.int(),
        failed: z.int(),
      })
      .describe('Delivery status of the session’s events.'),
    created_at: Timestamp,
  })
  .openapi('SandboxSession');

export const AdvanceSeconds = z
  .number()
  .int()
  .min(1)
  .max(400 * 86_400);

export const BeginRequest = z
  .object({
    scenario: z.string().max(64).describe('Scenario from GET /v1/testing/scenarios.'),
    seed: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .describe('Seed of the scenario. Sessions of one scenario and seed run the same steps in the same order.'),
    product_id: z.uuid().optional().describe('Product to sell. By default the session creates one.'),
    endpoint_id: z.uuid().optional().describe('Only endpoint that receives the events. Defaults to all sandbox endpoints.'),
    advance_seconds: AdvanceSeconds.optional().describe('Seconds by which to advance the clock after the scenario.'),
    options: z
      .object({
        amount: z
          .object({
            asset: AssetName,
            amount: DecimalAmount,
            base_units: z.string().max(64).optional().describe('Amount in the smallest units of the asset: an integer as text.'),
          })
          .optional()
          .describe('Amount to pay. Defaults to the price.'),
        delay_seconds: z.number().int().min(0).max(3600).optional(),
        failure: z.enum(['transaction_failed', 'session_expired']).optional(),
      })
      .default({}),
  })
  .openapi('SandboxSessionRequest', { example: { scenario: 'payment_confirmed', seed: 'monday', options: {} } });

const Challenge = z
  .union([z.string().max(65_536), z.record(z.string(), z.unknown())])
  .describe('x402 challenge: the value of the PAYMENT-REQUIRED header, or its decoded object.');
const WalletName = z.string().min(1).max(64);

export const SignInRequest = z.object({ payment_required: Challenge, wallet: WalletName }).openapi('TestSignInRequest');

export const PayRequest = z
  .object({
    payment_id: PaymentUuid.optional(),
    payment_required: Challenge.optional(),
    payment_identifier: z
      .string()
      .max(256)
      .optional()
      .describe(
        'Name for the x402 payment (extension `payment-identifier`): 16 to 128 of `A-Z a-z 0-9 _ -`. Others are refused when you settle.',
      ),
    transaction: WireTransaction.optional().describe(
      'Transaction, signed as a test wallet. Sent to the simulated chain if no other signature is missing; otherwise only signed.',
    ),
    outcome: z.enum(OUTCOMES).default('paid').describe('Result of the test payment; `paid` by default.'),
    wallet: WalletName.optional().describe('Name of a persistent test wallet. By default a new one is used each time.'),
  })
  .openapi('TestPaymentRequest', { example: { payment_id: '01a1fc21-d414-7315-8bae-d95e4ff00293', outcome: 'paid' } });

type Deliveries = z.infer<typeof SandboxSessionBody>['deliveries'];
const NO_DELIVERIES: Deliveries = { sent: 0, succeeded: 0, failed: 0 };

export function toSandboxSessionResource(
  session: SandboxSession,
  deliveries: Deliveries = NO_DELIVERIES,
): z.infer<typeof SandboxSessionBody> {
  const advancedSeconds = Math.floor(session.advancedMs / SECOND);
  const objects = new Map(session.steps.flatMap(({ object }) => (object ? [[`${object.type} ${object.id}`, object] as const] : [])));
  return {
    session_id: session.id,
    scenario: session.scenario,
    status: session.status,
    livemode: false,
    seed: session.seed,
    clock: { now: iso(session.createdAt + advancedSeconds * SECOND), advanced_seconds: advancedSeconds },
    objects: [...objects.values()],
    steps: session.steps.map(({ at, action, object, state, eventId, eventType }) => ({
      at: iso(at),
      action,
      ...given('object', object ?? null),
      ...given('state', state ?? null),
      ...given('event_id', eventId ?? null),
      ...given('event_type', eventType ?? null),
    })),
    deliveries,
    created_at: iso(session.createdAt),
  };
}
