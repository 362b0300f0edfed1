import { z } from '@hono/zod-openapi';
import { revokeKey } from '#features/accounts/keys/keys.ts';
import { routes } from '#platform/http/route.ts';
import { HookBody, toHookResource } from '../automation/routes.ts';
import { EndpointBody, toEndpointResource } from '../resource.ts';
import { disableEndpointsOfKey, loadResourcesOfKey } from './endpoints-of-key.ts';

export const keyResourceRoutes = routes('API keys', 'keys')
  .read({
    path: 'GET /keys/{key_id}/resources',
    id: 'listKeyResources',
    sdk: 'keys.listResources',
    summary: 'List resources of a key',
    description:
      'Lists webhook endpoints and automation hooks that the key created, or that have a URL or secret set by the key, and counts the products that it created or changed. They outlive the key.',
    returns: z
      .object({
        endpoints: z.array(EndpointBody).describe('Webhook endpoints.'),
        hooks: z.array(HookBody),
        products: z.int().describe('Number of products.'),
      })
      .openapi('KeyResources'),
    codes: ['not_found'],
    answer: async ({ scope, actor, params }) => {
      const { endpoints, products } = await loadResourcesOfKey(scope, actor, params.key_id);
      return {
        endpoints: endpoints.filter(({ kind }) => kind === 'webhook').map(toEndpointResource),
        hooks: endpoints.filter(({ kind }) => kind === 'automation').map(toHookResource),
        products,
      };
    },
  })
  .person({
    path: 'DELETE /keys/{key_id}',
    id: 'revokeKey',
    sdk: 'keys.revoke',
    agent: { confirm: true },
    summary: 'Revoke a key',
    description:
      'Revokes a key, immediately and permanently. `with=endpoints` also disables the endpoints and hooks that the key created (`disabled_reason: key_revoked`).',
    query: z.object({ with: z.enum(['endpoints']).optional().describe('`endpoints`: also disable the endpoints that the key created.') }),
    returns: { 204: { description: 'Revoked' } },
    codes: ['not_found'],
    leased: async ({ scope, actor, params, query }) => {
      await revokeKey(scope, actor, params.key_id);
      // The key is revoked already: a call of it that is under way stores no endpoint any more.
      if (query.with === 'endpoints') await disableEndpointsOfKey(scope, actor, params.key_id);
    },
    audit: ['key.revoked', 'endpoint.disabled'],
    present: () => undefined,
  });
