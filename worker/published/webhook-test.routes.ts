import { z } from '@hono/zod-openapi';
import { type TestResult, testEndpoint } from '#features/webhooks/endpoints/test-endpoint.ts';
import { given } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { EVENT_TYPES } from '#rules/events.ts';
import { exampleOf } from './event-catalog.ts';

function toTestResource({ deliveryId, eventId, outcome }: TestResult) {
  const status = outcome?.status ?? null;
  return {
    delivery_id: deliveryId,
    event_id: eventId,
    succeeded: status !== null && status >= 200 && status < 300,
    ...given('response_status', status),
    ...given('response_ms', outcome?.ms ?? null),
    ...given('error', outcome?.error ?? null),
  };
}

/** Beside the catalog, whose examples are sent. */
export const webhookTestRoutes = routes('Webhooks').write({
  path: 'POST /webhooks/endpoints/{endpoint_id}/test',
  id: 'testWebhookEndpoint',
  summary: 'Test an endpoint',
  description:
    'Send the example of an event type now, signed and with `"test": true`, and say what came back. A disabled endpoint may be tested. ' +
    'A test changes nothing of the endpoint, whatever it answers, and is in no list of events.',
  body: z
    .object({
      event_type: z.enum(EVENT_TYPES).optional().openapi({ default: 'webhook.test', description: 'Any type of the catalog.' }),
    })
    .openapi('TestWebhookRequest', { example: { event_type: 'payment.confirmed' } }),
  isBodyOptional: true,
  returns: z
    .object({
      delivery_id: z.int(),
      event_id: z.string(),
      succeeded: z.boolean(),
      response_status: z.int().optional(),
      response_ms: z.int().optional(),
      error: z.string().optional(),
    })
    .openapi('WebhookTestResult'),
  codes: ['not_found'],
  leased: ({ scope, params, body: { event_type: type = 'webhook.test' } }) => testEndpoint(scope, params.endpoint_id, exampleOf(type)),
  present: toTestResource,
});
