import { createRoute, z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import type { EndpointId } from '#core/ids.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import type { Endpoint } from '#platform/db/tables/webhooks.ts';
import { merchantErrors, merchantRoute, merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerLeased, answerOnce, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { created, idOf, idParam, jsonBody, ModeQuery, ok, optionalJsonBody, PageQuery, pageOf, router } from '#platform/http/openapi.ts';
import { recoverEndpoint } from '../deliveries/fan-out.ts';
import { CreateEndpointRequest, EndpointBody, EndpointSecretBody, toEndpointResource, UpdateEndpointRequest } from '../resource.ts';
import { listEndpoints } from '../store.ts';
import { changeEndpoint, createEndpoint, disableEndpoint, type EndpointWithSecret } from './endpoint.ts';
import { rotateSecret } from './rotate-secret.ts';

const tags = ['Webhooks'];
const params = idParam('endpoint_id', idOf<EndpointId>());
const query = z.object(ModeQuery);
const read = merchantRoute('read');
const headers = OptionalIdempotencyHeader;
const isSecret = true;

const list = createRoute({
  method: 'get',
  path: '/webhooks/endpoints',
  operationId: 'listWebhookEndpoints',
  tags,
  summary: 'List endpoints',
  description: 'Endpoints, newest first.',
  ...read,
  request: { query: z.object({ ...PageQuery, ...ModeQuery }) },
  responses: { ...ok(pageOf(EndpointBody, 'WebhookEndpointPage')), ...merchantErrors() },
});
const create = createRoute({
  method: 'post',
  path: '/webhooks/endpoints',
  operationId: 'createWebhookEndpoint',
  tags,
  summary: 'Create an endpoint',
  description: 'Create an endpoint; its secret is shown here and at rotation only.',
  ...writeRoute,
  request: { headers, query, ...jsonBody(CreateEndpointRequest) },
  responses: { ...created(EndpointSecretBody), ...merchantWriteErrors('plan_limit_reached') },
});
const change = createRoute({
  method: 'patch',
  path: '/webhooks/endpoints/{endpoint_id}',
  operationId: 'updateWebhookEndpoint',
  tags,
  summary: 'Update an endpoint',
  description: 'Change what is given; `status: enabled` revives.',
  ...writeRoute,
  request: { headers, params, query, ...jsonBody(UpdateEndpointRequest) },
  responses: { ...ok(EndpointBody), ...merchantWriteErrors('not_found', 'plan_limit_reached', 'state_conflict') },
});
const disable = createRoute({
  method: 'delete',
  path: '/webhooks/endpoints/{endpoint_id}',
  operationId: 'disableWebhookEndpoint',
  tags,
  summary: 'Disable an endpoint',
  description: 'Disable an endpoint; it is not erased.',
  ...writeRoute,
  request: { headers, params, query },
  responses: { ...ok(EndpointBody), ...merchantWriteErrors('not_found', 'state_conflict') },
});
const OVERLAP_HOURS = 24;
const rotate = createRoute({
  method: 'post',
  path: '/webhooks/endpoints/{endpoint_id}/rotate-secret',
  operationId: 'rotateWebhookSecret',
  tags,
  summary: 'Rotate a secret',
  description: 'A new secret; the old one signs beside it for a while.',
  ...writeRoute,
  request: {
    headers,
    params,
    query,
    ...optionalJsonBody(z.object({ overlap_hours: z.int().min(0).max(168).default(OVERLAP_HOURS) }).openapi('RotateSecretRequest')),
  },
  responses: { ...ok(EndpointSecretBody), ...merchantWriteErrors('not_found', 'state_conflict') },
});
const recover = createRoute({
  method: 'post',
  path: '/webhooks/endpoints/{endpoint_id}/recover',
  operationId: 'recoverWebhookEndpoint',
  tags,
  summary: 'Recover missed events',
  description: 'At most 90 days back, and 20,000 events at a time, oldest first: ask again until `scheduled` is 0.',
  ...writeRoute,
  request: {
    headers,
    params,
    query,
    ...jsonBody(
      z
        .object({ since: z.iso.datetime({ offset: true }), until: z.iso.datetime({ offset: true }).optional() })
        .refine(({ since, until }) => until === undefined || Date.parse(since) <= Date.parse(until), {
          path: ['until'],
          message: 'Expected until not to be before since',
          params: { type: 'reversed_range' },
        })
        .openapi('RecoverWebhookRequest'),
    ),
  },
  responses: {
    202: {
      description: 'Scheduled',
      content: { 'application/json': { schema: z.object({ scheduled: z.int() }).openapi('WebhookRecovery') } },
    },
    ...merchantWriteErrors('not_found', 'state_conflict'),
  },
});

const presentEndpoint = (endpoint: Endpoint) => ({ status: 200, body: toEndpointResource(endpoint) });
const presentSecret =
  (status: 200 | 201) =>
  ({ endpoint, rawSecret }: EndpointWithSecret) => ({ status, body: { ...toEndpointResource(endpoint), secret: rawSecret } });

export const webhookRoutes = router()
  .openapi(list, async (c) => {
    const { scope: ctx } = c.var;
    const page = pageRequest(c.req.valid('query'));
    return c.json(toPage(page, await listEndpoints(ctx, page), toEndpointResource), 200);
  })
  .openapi(create, async (c) => {
    const { actor, scope: ctx } = c.var;
    const input = { ...c.req.valid('json'), kind: 'webhook' as const };
    const answer = await answerOnce<EndpointWithSecret>(
      c,
      (storeAnswer) => createEndpoint(ctx, actor, input, storeAnswer),
      presentSecret(201),
      {
        isSecret,
      },
    );
    return sendStored(c, answer);
  })
  .openapi(change, async (c) => {
    const { actor, scope: ctx } = c.var;
    const input = { ...c.req.valid('json'), endpointId: c.req.valid('param').endpoint_id };
    return sendStored(c, await answerOnce<Endpoint>(c, (storeAnswer) => changeEndpoint(ctx, actor, input, storeAnswer), presentEndpoint));
  })
  .openapi(disable, async (c) => {
    const { actor, scope: ctx } = c.var;
    const endpointId = c.req.valid('param').endpoint_id;
    return sendStored(
      c,
      await answerOnce<Endpoint>(c, (storeAnswer) => disableEndpoint(ctx, actor, endpointId, storeAnswer), presentEndpoint),
    );
  })
  .openapi(rotate, async (c) => {
    const { actor, scope: ctx } = c.var;
    const { overlap_hours: overlapHours = OVERLAP_HOURS } = c.req.valid('json');
    const named = { endpointId: c.req.valid('param').endpoint_id, overlapHours };
    const run = (storeAnswer: StoreAnswer<EndpointWithSecret>) => rotateSecret(ctx, actor, { ...named, storeAnswer });
    return sendStored(c, await answerOnce(c, run, presentSecret(200), { isSecret }));
  })
  .openapi(recover, async (c) => {
    const { scope: ctx } = c.var;
    const { since, until } = c.req.valid('json');
    const to = until === undefined ? ctx.now : Date.parse(until);
    // The clock of a sandbox session may be ahead, and with it its events: there only the range is judged.
    if (Date.parse(since) > (ctx.livemode ? ctx.now : to)) {
      const problem = { loc: ['body', 'since'], msg: 'Expected a moment that has passed', type: 'in_future' };
      throw new ApiError('validation_error', { problems: [problem] });
    }
    const endpointId = c.req.valid('param').endpoint_id;
    const run = () => recoverEndpoint(ctx, endpointId, Date.parse(since), to);
    return sendStored(c, await answerLeased(c, run, (scheduled) => ({ status: 202, body: { scheduled } })));
  });
