import { z } from '@hono/zod-openapi';
import { type TestResult, testEndpoint } from '#features/webhooks/endpoints/send-test-event.ts';
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

export const webhookTestRoutes = routes('Webhooks', 'webhooks').write({
  path: 'POST /webhooks/endpoints/{endpoint_id}/test',
  id: 'testWebhookEndpoint',
  sdk: 'webhookEndpoints.test',
  summary: 'Test an endpoint',
  description:
    'Sends the example of an event type now, signed and with `"test": true`, also to a disabled endpoint. Appears in no event list.',
  body: z
    .object({
      event_type: z.enum(EVENT_TYPES).optional().openapi({ default: 'webhook.test' }),
    })
    .openapi('TestWebhookRequest', { example: { event_type: 'payment.confirmed' } }),
  isBodyOptional: true,
  returns: z
    .object({
      delivery_id: z.int(),
      event_id: z.string().describe('Identifier of the event. Use it to process each event once.'),
      succeeded: z.boolean(),
      response_status: z.int().optional().describe('HTTP status that your server returned.'),
      response_ms: z.int().optional().describe('Response time of your server in milliseconds.'),
      error: z.string().optional().describe('Reason the attempt failed without a response.'),
    })
    .openapi('WebhookTestResult'),
  codes: ['not_found'],
  leased: ({ scope, params, body: { event_type: type = 'webhook.test' } }) => testEndpoint(scope, params.endpoint_id, exampleOf(type)),
  audit: ['endpoint.tested'],
  present: toTestResource,
});
