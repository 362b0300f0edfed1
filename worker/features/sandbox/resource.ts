import { z } from '@hono/zod-openapi';
import { iso, SECOND } from '#core/time.ts';
import type { SandboxSession } from '#platform/db/tables/sandbox.ts';
import { given, Timestamp } from '#platform/http/openapi.ts';
import { SANDBOX_SESSION } from '#rules/states.ts';

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

export type Deliveries = z.infer<typeof SandboxSessionBody>['deliveries'];
export const NO_DELIVERIES: Deliveries = { sent: 0, succeeded: 0, failed: 0 };

export function toSandboxSessionResource(
  session: SandboxSession,
  deliveries: Deliveries = NO_DELIVERIES,
): z.infer<typeof SandboxSessionBody> {
  const objects = new Map(session.steps.flatMap(({ object }) => (object ? [[`${object.type} ${object.id}`, object] as const] : [])));
  return {
    session_id: session.id,
    scenario: session.scenario,
    status: session.status,
    livemode: false,
    seed: session.seed,
    clock: { now: iso(session.createdAt + session.advancedMs), advanced_seconds: Math.floor(session.advancedMs / SECOND) },
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
