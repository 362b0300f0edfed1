import { createRoute, z } from '@hono/zod-openapi';
import type { MembershipId } from '#core/ids.ts';
import { MembershipBody, toMembershipResource } from '#features/memberships/resource.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import type { Membership } from '#platform/db/tables/memberships.ts';
import { merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { idOf, idParam, ModeQuery, ok, router } from '#platform/http/openapi.ts';
import { retryDelivery } from './retry.ts';

const retry = createRoute({
  method: 'post',
  path: '/memberships/{membership_id}/retry-delivery',
  operationId: 'retryDelivery',
  tags: ['Memberships'],
  summary: 'Deliver access once more',
  description:
    'Harmless twice. What is delivered, needs no delivery or has ended stays as it is; what could not be taken away is tried again.',
  ...writeRoute,
  request: { headers: OptionalIdempotencyHeader, params: idParam('membership_id', idOf<MembershipId>()), query: z.object(ModeQuery) },
  responses: { ...ok(MembershipBody), ...merchantWriteErrors('not_found', 'state_conflict') },
});

export const placementRoutes = router().openapi(retry, async (c) => {
  const run = (storeAnswer: StoreAnswer<Membership>) => retryDelivery(c.var.scope, c.req.valid('param').membership_id, storeAnswer);
  return sendStored(
    c,
    await answerOnce(c, run, (membership) => ({ status: 200, body: toMembershipResource(membership, { isOwners: true }) })),
  );
});
