import type { OpenAPIHono } from '@hono/zod-openapi';
import type { AppEnv } from './openapi.ts';

export function registerSecuritySchemes(app: OpenAPIHono<AppEnv>): void {
  app.openAPIRegistry.registerComponent('securitySchemes', 'apiKey', { type: 'apiKey', in: 'header', name: 'X-Svc-Key' });
  app.openAPIRegistry.registerComponent('securitySchemes', 'chainSignature', {
    type: 'apiKey',
    in: 'header',
    name: 'Rpc-Signature',
    description: 'HMAC-SHA256 over the raw body, in hex, in the header that this deployment configures.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'mailSignature', {
    type: 'apiKey',
    in: 'header',
    name: 'svix-signature',
    description: 'Signature of the email provider over the raw body, with `svix-id` and `svix-timestamp`.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'processorSignature', {
    type: 'apiKey',
    in: 'header',
    name: 'Processor-Signature',
    description: '`t=…,v1=…`: HMAC-SHA256 over time and raw body, as the payment processor signs. Also accepted in `Stripe-Signature`.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'setupSecret', {
    type: 'apiKey',
    in: 'header',
    name: 'X-Svc-Setup-Secret',
    description: 'The `setup_secret` of agent-bootstrap, for an agent that sets up an account.',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'connectorSecret', {
    type: 'apiKey',
    in: 'header',
    name: 'X-Svc-Connector-Secret',
  });
  app.openAPIRegistry.registerComponent('securitySchemes', 'buyer', { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' });
  app.openAPIRegistry.registerComponent('securitySchemes', 'bearer', { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' });
}
