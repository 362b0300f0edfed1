import { createRoute, z } from '@hono/zod-openapi';
import type { KeyId } from '#core/ids.ts';
import { revokeKey } from '#features/accounts/keys/keys.ts';
import { keyedPersonRoute, merchantErrors, merchantRoute, merchantWriteErrors } from '#platform/http/callers.ts';
import { answerLeased, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { idOf, idParam, ModeQuery, ok, router } from '#platform/http/openapi.ts';
import { HookBody, toHookResource } from '../automation/routes.ts';
import { EndpointBody, toEndpointResource } from '../resource.ts';
import { disableEndpointsOfKey, listEndpointsOfKey } from './made-by-key.ts';

const tags = ['API keys'];
const params = idParam('key_id', idOf<KeyId>());

const resources = createRoute({
  method: 'get',
  path: '/keys/{key_id}/resources',
  operationId: 'listKeyResources',
  tags,
  summary: 'List what a key made',
  description: 'Webhook endpoints and automation hooks that the key created, or gave their present URL or secret. They outlive the key.',
  ...merchantRoute('read'),
  request: { params, query: z.object(ModeQuery) },
  responses: {
    ...ok(z.object({ endpoints: z.array(EndpointBody), hooks: z.array(HookBody) }).openapi('KeyResources')),
    ...merchantErrors('not_found'),
  },
});
const revoke = createRoute({
  method: 'delete',
  path: '/keys/{key_id}',
  operationId: 'revokeKey',
  tags,
  summary: 'Revoke a key',
  description:
    'Revoke a key, at once and for ever. `with=endpoints` also disables the endpoints and hooks that the key made (`disabled_reason: key_revoked`).',
  ...keyedPersonRoute(),
  request: { headers: OptionalIdempotencyHeader, params, query: z.object({ with: z.enum(['endpoints']).optional() }) },
  responses: { 204: { description: 'Revoked' }, ...merchantWriteErrors('not_found') },
});

export const keyResourceRoutes = router()
  .openapi(resources, async (c) => {
    const endpoints = await listEndpointsOfKey(c.var.scope, c.var.actor, c.req.valid('param').key_id);
    return c.json(
      {
        endpoints: endpoints.filter(({ kind }) => kind === 'webhook').map(toEndpointResource),
        hooks: endpoints.filter(({ kind }) => kind === 'automation').map(toHookResource),
      },
      200,
    );
  })
  .openapi(revoke, async (c) => {
    const { actor, scope: ctx } = c.var;
    const { key_id: keyId } = c.req.valid('param');
    const run = async () => {
      await revokeKey(ctx, actor, keyId);
      // The key is refused already, so it makes nothing that this would miss.
      if (c.req.valid('query').with === 'endpoints') await disableEndpointsOfKey(ctx, actor, keyId);
    };
    return sendStored(c, await answerLeased(c, run, () => ({ status: 204 })));
  });
