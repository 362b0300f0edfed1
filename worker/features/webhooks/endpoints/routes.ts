import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { created, PageQuery, pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { recoverEndpoint } from '../deliveries/fan-out.ts';
import { CreateEndpointRequest, EndpointBody, EndpointSecretBody, toEndpointResource, UpdateEndpointRequest } from '../resource.ts';
import { listEndpoints } from '../store.ts';
import { changeEndpoint, createEndpoint, disableEndpoint, type EndpointWithSecret } from './endpoint.ts';
import { rotateSecret } from './rotate-secret.ts';

const OVERLAP_HOURS = 24;
const toSecretResource = ({ endpoint, rawSecret }: EndpointWithSecret) => ({ ...toEndpointResource(endpoint), secret: rawSecret });

export const webhookRoutes = routes('Webhooks')
  .read({
    path: 'GET /webhooks/endpoints',
    id: 'listWebhookEndpoints',
    summary: 'List endpoints',
    description: 'Endpoints, newest first.',
    query: { ...PageQuery },
    returns: pageOf(EndpointBody, 'WebhookEndpointPage'),
    answer: async ({ scope, query }) => {
      const page = pageRequest(query);
      return toPage(page, await listEndpoints(scope, page), toEndpointResource);
    },
  })
  .write({
    path: 'POST /webhooks/endpoints',
    id: 'createWebhookEndpoint',
    summary: 'Create an endpoint',
    description: 'Create an endpoint; its secret is shown here and at rotation only.',
    body: CreateEndpointRequest,
    returns: created(EndpointSecretBody),
    codes: ['plan_limit_reached'],
    once: ({ scope, actor, body }, storeAnswer) => createEndpoint(scope, actor, { ...body, kind: 'webhook' }, storeAnswer),
    present: toSecretResource,
    isSecret: true,
  })
  .write({
    path: 'PATCH /webhooks/endpoints/{endpoint_id}',
    id: 'updateWebhookEndpoint',
    summary: 'Update an endpoint',
    description: 'Change what is given; `status: enabled` revives.',
    body: UpdateEndpointRequest,
    returns: EndpointBody,
    codes: ['not_found', 'plan_limit_reached', 'state_conflict'],
    once: ({ scope, actor, params, body }, storeAnswer) =>
      changeEndpoint(scope, actor, { ...body, endpointId: params.endpoint_id }, storeAnswer),
    present: toEndpointResource,
  })
  .write({
    path: 'DELETE /webhooks/endpoints/{endpoint_id}',
    id: 'disableWebhookEndpoint',
    summary: 'Disable an endpoint',
    description: 'Disable an endpoint; it is not erased.',
    returns: EndpointBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, params }, storeAnswer) => disableEndpoint(scope, actor, params.endpoint_id, storeAnswer),
    present: toEndpointResource,
  })
  .write({
    path: 'POST /webhooks/endpoints/{endpoint_id}/rotate-secret',
    id: 'rotateWebhookSecret',
    summary: 'Rotate a secret',
    description: 'A new secret; the old one signs beside it for a while.',
    body: z.object({ overlap_hours: z.int().min(0).max(168).default(OVERLAP_HOURS) }).openapi('RotateSecretRequest'),
    isBodyOptional: true,
    returns: EndpointSecretBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, params, body: { overlap_hours: overlapHours = OVERLAP_HOURS } }, storeAnswer) =>
      rotateSecret(scope, actor, { endpointId: params.endpoint_id, overlapHours, storeAnswer }),
    present: toSecretResource,
    isSecret: true,
  })
  .write({
    path: 'POST /webhooks/endpoints/{endpoint_id}/recover',
    id: 'recoverWebhookEndpoint',
    summary: 'Recover missed events',
    description: 'At most 90 days back, and 20,000 events at a time, oldest first: ask again until `scheduled` is 0.',
    body: z
      .object({ since: z.iso.datetime({ offset: true }), until: z.iso.datetime({ offset: true }).optional() })
      .refine(({ since, until }) => until === undefined || Date.parse(since) <= Date.parse(until), {
        path: ['until'],
        message: 'Expected until not to be before since',
        params: { type: 'reversed_range' },
      })
      .openapi('RecoverWebhookRequest'),
    returns: {
      202: {
        description: 'Scheduled',
        content: { 'application/json': { schema: z.object({ scheduled: z.int() }).openapi('WebhookRecovery') } },
      },
    },
    codes: ['not_found', 'state_conflict'],
    check: ({ scope, body: { since, until } }) => {
      const to = until === undefined ? scope.now : Date.parse(until);
      // The clock of a sandbox session may be ahead, and with it its events: there only the range is judged.
      if (Date.parse(since) > (scope.livemode ? scope.now : to)) {
        const problem = { loc: ['body', 'since'], msg: 'Expected a moment that has passed', type: 'in_future' };
        throw new ApiError('validation_error', { problems: [problem] });
      }
      return { since: Date.parse(since), to };
    },
    leased: ({ scope, params, checked: { since, to } }) => recoverEndpoint(scope, params.endpoint_id, since, to),
    present: (scheduled) => ({ scheduled }),
  });
