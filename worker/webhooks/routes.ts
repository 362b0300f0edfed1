import { createRoute, z } from '@hono/zod-openapi';
import type { AccountId, EndpointId } from '../core/ids.ts';
import { pageRequest, toPage } from '../db/page.ts';
import { merchantBodyErrors, merchantErrors, merchantRoute } from '../http/guards.ts';
import { created, given, jsonBody, ModeQuery, ok, PageQuery, pageOf, router, uuidParam } from '../http/openapi.ts';
import { testEndpoint } from './deliver.ts';
import { changeEndpoint, createEndpoint, disableEndpoint, rotateSecret } from './endpoints.ts';
import { recoverEndpoint } from './fan-out.ts';
import { CreateEndpointRequest, EndpointBody, EndpointWithSecret, toEndpointResource, UpdateEndpointRequest } from './resource.ts';
import { listEndpoints } from './store.ts';

const tags = ['Webhooks'];
const params = uuidParam('endpoint_id');
const query = z.object(ModeQuery);
const read = merchantRoute('read');
const write = merchantRoute('execute');

const list = createRoute({
  method: 'get',
  path: '/webhooks/endpoints',
  operationId: 'listWebhookEndpoints',
  tags,
  summary: 'Endpoints, newest first',
  ...read,
  request: { query: z.object({ ...PageQuery, ...ModeQuery }) },
  responses: { ...ok(pageOf(EndpointBody, 'WebhookEndpointPage')), ...merchantErrors() },
});
const create = createRoute({
  method: 'post',
  path: '/webhooks/endpoints',
  operationId: 'createWebhookEndpoint',
  tags,
  summary: 'Create an endpoint; its secret is shown here and at rotation only',
  ...write,
  request: { query, ...jsonBody(CreateEndpointRequest) },
  responses: { ...created(EndpointWithSecret), ...merchantBodyErrors('plan_limit_reached') },
});
const change = createRoute({
  method: 'patch',
  path: '/webhooks/endpoints/{endpoint_id}',
  operationId: 'updateWebhookEndpoint',
  tags,
  summary: 'Change what is given; `status: enabled` revives',
  ...write,
  request: { params, query, ...jsonBody(UpdateEndpointRequest) },
  responses: { ...ok(EndpointBody), ...merchantBodyErrors('not_found', 'plan_limit_reached', 'state_conflict') },
});
const disable = createRoute({
  method: 'delete',
  path: '/webhooks/endpoints/{endpoint_id}',
  operationId: 'disableWebhookEndpoint',
  tags,
  summary: 'Disable an endpoint; it is not erased',
  ...write,
  request: { params, query },
  responses: { ...ok(EndpointBody), ...merchantErrors('not_found', 'state_conflict') },
});
const rotate = createRoute({
  method: 'post',
  path: '/webhooks/endpoints/{endpoint_id}/rotate-secret',
  operationId: 'rotateWebhookSecret',
  tags,
  summary: 'A new secret; the old one signs beside it for a while',
  ...write,
  request: { params, query, ...jsonBody(z.object({ overlap_hours: z.int().min(0).max(168).default(24) }).openapi('RotateSecretRequest')) },
  responses: { ...ok(EndpointWithSecret), ...merchantBodyErrors('not_found', 'state_conflict') },
});
const test = createRoute({
  method: 'post',
  path: '/webhooks/endpoints/{endpoint_id}/test',
  operationId: 'testWebhookEndpoint',
  tags,
  summary: 'Send a real, signed test event now and say what came back',
  ...write,
  request: { params, query, ...jsonBody(z.object({ event_type: z.literal('webhook.test').optional() }).openapi('TestWebhookRequest')) },
  responses: {
    ...ok(
      z
        .object({
          delivery_id: z.int(),
          event_id: z.string(),
          succeeded: z.boolean(),
          response_status: z.int().optional(),
          response_ms: z.int().optional(),
          error: z.string().optional(),
        })
        .openapi('WebhookTestResult'),
    ),
    ...merchantBodyErrors('not_found'),
  },
});
const recover = createRoute({
  method: 'post',
  path: '/webhooks/endpoints/{endpoint_id}/recover',
  operationId: 'recoverWebhookEndpoint',
  tags,
  summary: 'Deliver everything of a time that never arrived',
  description: 'At most 90 days back, and 20,000 events at a time, oldest first: ask again until `scheduled` is 0.',
  ...write,
  request: {
    params,
    query,
    ...jsonBody(
      z
        .object({ since: z.iso.datetime({ offset: true }), until: z.iso.datetime({ offset: true }).optional() })
        .openapi('RecoverWebhookRequest'),
    ),
  },
  responses: {
    202: {
      description: 'Scheduled',
      content: { 'application/json': { schema: z.object({ scheduled: z.int() }).openapi('WebhookRecovery') } },
    },
    ...merchantBodyErrors('not_found', 'state_conflict'),
  },
});
export const webhookRoutes = router()
  .openapi(list, async (c) => {
    const { actor, ctx } = c.var;
    const page = pageRequest(c.req.valid('query'));
    const { items, total } = await listEndpoints(ctx.db, actor.accountId as AccountId, actor.livemode, page);
    return c.json(toPage(page, total, items.map(toEndpointResource)), 200);
  })
  .openapi(create, async (c) => {
    const { endpoint, rawSecret } = await createEndpoint(c.var.ctx, c.var.actor, { ...c.req.valid('json'), kind: 'webhook' });
    return c.json({ ...toEndpointResource(endpoint), secret: rawSecret }, 201);
  })
  .openapi(change, async (c) => {
    const endpoint = await changeEndpoint(c.var.ctx, c.var.actor, c.req.valid('param').endpoint_id as EndpointId, c.req.valid('json'));
    return c.json(toEndpointResource(endpoint), 200);
  })
  .openapi(disable, async (c) => {
    const endpoint = await disableEndpoint(c.var.ctx, c.var.actor, c.req.valid('param').endpoint_id as EndpointId);
    return c.json(toEndpointResource(endpoint), 200);
  })
  .openapi(rotate, async (c) => {
    const { overlap_hours: overlapHours } = c.req.valid('json');
    const { endpoint, rawSecret } = await rotateSecret(
      c.var.ctx,
      c.var.actor,
      c.req.valid('param').endpoint_id as EndpointId,
      overlapHours,
    );
    return c.json({ ...toEndpointResource(endpoint), secret: rawSecret }, 200);
  })
  .openapi(test, async (c) => {
    const { deliveryId, eventId, outcome } = await testEndpoint(c.var.ctx, c.var.actor, c.req.valid('param').endpoint_id as EndpointId);
    const status = outcome?.status ?? null;
    return c.json(
      {
        delivery_id: deliveryId,
        event_id: eventId,
        succeeded: status !== null && status >= 200 && status < 300,
        ...given('response_status', status),
        ...given('response_ms', outcome?.ms ?? null),
        ...given('error', outcome?.error ?? null),
      },
      200,
    );
  })
  .openapi(recover, async (c) => {
    const { since, until } = c.req.valid('json');
    const to = until === undefined ? c.var.ctx.now : Date.parse(until);
    const scheduled = await recoverEndpoint(c.var.ctx, c.var.actor, c.req.valid('param').endpoint_id as EndpointId, Date.parse(since), to);
    return c.json({ scheduled }, 202);
  });
