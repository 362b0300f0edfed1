import { z } from '@hono/zod-openapi';
import { ASSETS } from '#core/money.ts';
import { iso, SECOND } from '#core/time.ts';
import type { SandboxSession } from '#platform/db/tables/sandbox.ts';
import { WireTransaction } from '#platform/http/bodies/wire-transaction.ts';
import { given, Timestamp } from '#platform/http/openapi.ts';
import { SANDBOX_SESSION } from '#rules/states.ts';
import { OUTCOMES } from './outcomes.ts';

const Named = z.object({ type: z.string(), id: z.string() });

export const SandboxSessionBody = z
  .object({
    session_id: z.uuid(),
    scenario: z.string(),
    status: z.enum(SANDBOX_SESSION.states),
    livemode: z.literal(false),
    seed: z.string(),
    clock: z.object({ now: Timestamp, advanced_seconds: z.int() }).openapi({ description: 'Stands still between moves.' }),
    objects: z.array(Named),
    steps: z.array(
      z.object({
        at: Timestamp,
        action: z.string(),
        object: Named.optional(),
        state: z.string().optional(),
        event_id: z.string().optional(),
        event_type: z.string().optional(),
      }),
    ),
    deliveries: z.object({ sent: z.int(), succeeded: z.int(), failed: z.int() }),
    created_at: Timestamp,
  })
  .openapi('SandboxSession');

/** A clock moves forward, and not further than a year or so at once. */
export const AdvanceSeconds = z
  .number()
  .int()
  .min(1)
  .max(400 * 86_400);

export const BeginRequest = z
  .object({
    scenario: z.string().max(64).openapi({ description: 'One of GET /v1/testing/scenarios.' }),
    seed: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .openapi({ description: 'Sessions of one scenario and seed go through the same steps in the same order.' }),
    product_id: z.uuid().optional().openapi({ description: 'What is sold; by default the session makes a product for itself.' }),
    endpoint_id: z.uuid().optional().openapi({ description: 'The only endpoint that hears of it; by default all of your sandbox.' }),
    advance_seconds: AdvanceSeconds.optional().openapi({ description: 'Moves the clock once more after the scenario.' }),
    options: z
      .object({
        amount: z.object({ asset: z.enum(ASSETS), amount: z.string().max(64), base_units: z.string().max(64).optional() }).optional(),
        delay_seconds: z.number().int().min(0).max(3600).optional(),
        failure: z.enum(['transaction_failed', 'session_expired']).optional(),
      })
      .default({}),
  })
  .openapi('SandboxSessionRequest', { example: { scenario: 'payment_confirmed', seed: 'monday', options: {} } });

export const PayRequest = z
  .object({
    payment_id: z.uuid().optional(),
    payment_required: z
      .union([z.string().max(65_536), z.record(z.string(), z.unknown())])
      .optional()
      .openapi({
        description: 'A challenge of x402: the value of PAYMENT-REQUIRED, or the object in it.',
      }),
    transaction: WireTransaction.optional().openapi({
      description: 'Signed as a test wallet. Sent to the simulated chain once nobody else has to sign; otherwise only signed.',
    }),
    outcome: z.enum(OUTCOMES).default('paid'),
    wallet: z
      .string()
      .min(1)
      .max(64)
      .optional()
      .openapi({ description: 'A name for a test wallet that lasts; without one it is another each time.' }),
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
