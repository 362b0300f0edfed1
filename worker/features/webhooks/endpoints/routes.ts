import { z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import type { AccountId, KeyId } from '#core/ids.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { created, idOf, PageQuery, pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { recoverEndpoint } from '../deliveries/fan-out.ts';
import { CreateEndpointRequest, EndpointBody, EndpointSecretBody, toEndpointResource, UpdateEndpointRequest } from '../resource.ts';
import { listEndpoints } from '../store.ts';
import { changeEndpoint, createEndpoint, disableEndpoint, type EndpointWithSecret, recordedEndpoint } from './endpoint.ts';
import { rotateSecret } from './rotate-secret.ts';

const OVERLAP_HOURS = 24;
const toSecretResource = ({ endpoint, rawSecret }: EndpointWithSecret) => ({ ...toEndpointResource(endpoint), secret: rawSecret });

export const webhookRoutes = routes('Webhooks', 'webhooks')
  .read({
    path: 'GET /webhooks/endpoints',
    id: 'listWebhookEndpoints',
    sdk: 'webhookEndpoints.list',
    summary: 'List endpoints',
    description: 'Lists endpoints, newest first.',
    query: {
      ...PageQuery,
      created_by: idOf<AccountId | KeyId>().optional().describe('Return only endpoints that this key or person created.'),
    },
    returns: pageOf(EndpointBody, 'WebhookEndpointPage'),
    answer: async ({ scope, query: { created_by: createdBy, ...query } }) => {
      const page = pageRequest(query);
      return toPage(page, await listEndpoints(scope, createdBy, page), toEndpointResource);
    },
  })
  .write({
    path: 'POST /webhooks/endpoints',
    id: 'createWebhookEndpoint',
    sdk: 'webhookEndpoints.create',
    summary: 'Create an endpoint',
    description: 'Creates an endpoint. The secret is shown only in this response and at rotation.',
    body: CreateEndpointRequest,
    returns: created(EndpointSecretBody),
    codes: ['plan_limit_reached'],
    once: ({ scope, actor, body }, storeAnswer) => createEndpoint(scope, actor, { ...body, kind: 'webhook' }, storeAnswer),
    audit: { action: 'endpoint.created', subject: 'endpoint', fields: ({ endpoint }) => recordedEndpoint(endpoint) },
    present: toSecretResource,
    isSecret: true,
  })
  .write({
    path: 'PATCH /webhooks/endpoints/{endpoint_id}',
    id: 'updateWebhookEndpoint',
    sdk: 'webhookEndpoints.update',
    summary: 'Update an endpoint',
    description: 'Updates the given fields. `status: enabled` enables a disabled endpoint.',
    body: UpdateEndpointRequest,
    returns: EndpointBody,
    codes: ['not_found', 'plan_limit_reached', 'state_conflict'],
    once: ({ scope, actor, params, body }, storeAnswer) =>
      changeEndpoint(scope, actor, { ...body, endpointId: params.endpoint_id }, storeAnswer),
    audit: { action: 'endpoint.changed', subject: 'endpoint', fields: recordedEndpoint },
    present: toEndpointResource,
  })
  .write({
    path: 'DELETE /webhooks/endpoints/{endpoint_id}',
    id: 'disableWebhookEndpoint',
    sdk: 'webhookEndpoints.disable',
    summary: 'Disable an endpoint',
    description: 'Disables an endpoint. Its data remains.',
    returns: EndpointBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, params }, storeAnswer) => disableEndpoint(scope, actor, params.endpoint_id, storeAnswer),
    audit: { action: 'endpoint.disabled', subject: 'endpoint', fields: recordedEndpoint },
    present: toEndpointResource,
  })
  .write({
    path: 'POST /webhooks/endpoints/{endpoint_id}/rotate-secret',
    id: 'rotateWebhookSecret',
    sdk: 'webhookEndpoints.rotateSecret',
    agent: { confirm: true },
    summary: 'Rotate a secret',
    description: 'Creates a new secret. The old one also signs for a limited time.',
    body: z
      .object({
        overlap_hours: z.int().min(0).max(168).default(OVERLAP_HOURS).describe('Hours for which the old secret also signs; 24 by default.'),
      })
      .openapi('RotateSecretRequest'),
    isBodyOptional: true,
    returns: EndpointSecretBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, params, body: { overlap_hours: overlapHours = OVERLAP_HOURS } }, storeAnswer) =>
      rotateSecret(scope, actor, { endpointId: params.endpoint_id, overlapHours, storeAnswer }),
    audit: {
      action: 'endpoint.secret_rotated',
      subject: 'endpoint',
      fields: ({ endpoint: { id } }, { body }) => ({ id, overlap_hours: body.overlap_hours ?? OVERLAP_HOURS }),
    },
    present: toSecretResource,
    isSecret: true,
  })
  .write({
    path: 'POST /webhooks/endpoints/{endpoint_id}/recover',
    id: 'recoverWebhookEndpoint',
    sdk: 'webhookEndpoints.recover',
    summary: 'Recover missed events',
    description:
      'Delivers missed events again: at most 90 days back and 20,000 events per call, oldest first. Repeat until `scheduled` is 0.',
    body: z
      .object({
        since: z.iso.datetime({ offset: true }),
        until: z.iso.datetime({ offset: true }).optional().describe('End of the time range; the current time by default.'),
      })
      .refine(({ since, until }) => until === undefined || Date.parse(since) <= Date.parse(until), {
        path: ['until'],
        message: 'Expected until after since',
        params: { type: 'reversed_range' },
      })
      .openapi('RecoverWebhookRequest'),
    returns: {
      202: {
        description: 'Scheduled',
        content: {
          'application/json': {
            schema: z.object({ scheduled: z.int() }).openapi('WebhookRecovery'),
          },
        },
      },
    },
    codes: ['not_found', 'state_conflict'],
    check: ({ scope, body: { since, until } }) => {
      const to = until === undefined ? scope.now : Date.parse(until);
      // A sandbox session's clock and events may be ahead, so only the range is checked in the sandbox.
      if (Date.parse(since) > (scope.livemode ? scope.now : to)) {
        const problem = { loc: ['body', 'since'], msg: 'Expected a time in the past', type: 'in_future' };
        throw new ApiError('validation_error', { problems: [problem] });
      }
      return { since: Date.parse(since), to };
    },
    leased: ({ scope, params, checked: { since, to } }) => recoverEndpoint(scope, params.endpoint_id, since, to),
    audit: ['endpoint.recovered'],
    present: (scheduled) => ({ scheduled }),
  });
