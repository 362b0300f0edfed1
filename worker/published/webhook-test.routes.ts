import { createRoute, z } from '@hono/zod-openapi';
import type { EndpointId } from '#core/ids.ts';
import { type TestResult, testEndpoint } from '#features/webhooks/endpoints/test-endpoint.ts';
import { merchantWriteErrors, writeRoute } from '#platform/http/callers.ts';
import { answerLeased, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { given, idOf, idParam, ModeQuery, ok, optionalJsonBody, router } from '#platform/http/openapi.ts';
import { EVENT_TYPES } from '#rules/events.ts';
import { exampleOf } from './event-catalog.ts';

const route = createRoute({
  method: 'post',
  path: '/webhooks/endpoints/{endpoint_id}/test',
  operationId: 'testWebhookEndpoint',
  tags: ['Webhooks'],
  summary: 'Test an endpoint',
  description:
    'Send the example of an event type now, signed and with `"test": true`, and say what came back. A disabled endpoint may be tested. ' +
    'A test changes nothing of the endpoint, whatever it answers, and is in no list of events.',
  ...writeRoute,
  request: {
    headers: OptionalIdempotencyHeader,
    params: idParam('endpoint_id', idOf<EndpointId>()),
    query: z.object(ModeQuery),
    ...optionalJsonBody(
      z
        .object({
          event_type: z.enum(EVENT_TYPES).optional().openapi({ default: 'webhook.test', description: 'Any type of the catalog.' }),
        })
        .openapi('TestWebhookRequest', { example: { event_type: 'payment.confirmed' } }),
    ),
  },
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
    ...merchantWriteErrors('not_found'),
  },
});

function presentTest({ deliveryId, eventId, outcome }: TestResult) {
  const status = outcome?.status ?? null;
  const body = {
    delivery_id: deliveryId,
    event_id: eventId,
    succeeded: status !== null && status >= 200 && status < 300,
    ...given('response_status', status),
    ...given('response_ms', outcome?.ms ?? null),
    ...given('error', outcome?.error ?? null),
  };
  return { status: 200, body };
}

/** Beside the catalog, whose examples are sent. */
export const webhookTestRoutes = router().openapi(route, async (c) => {
  const { scope: ctx } = c.var;
  const { event_type: type = 'webhook.test' } = c.req.valid('json');
  const endpointId = c.req.valid('param').endpoint_id;
  return sendStored(c, await answerLeased(c, () => testEndpoint(ctx, endpointId, exampleOf(type)), presentTest));
});
