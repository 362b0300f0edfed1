import { serve } from '@hono/node-server';
import { createClient, isSvcError, verifyWebhook } from '@paylatch/sdk';
import { Hono } from 'hono';

const { SVC_BASE_URL, SVC_API_KEY, SVC_WEBHOOK_SECRET, PORT } = process.env;
const client = createClient({ baseUrl: SVC_BASE_URL!, key: SVC_API_KEY! });

const app = new Hono();

/** Members of now, for the owner of the channel. Put your own sign-in before it. */
app.get('/', async (c) => {
  const { items } = await client.memberships.list({ status: 'active' });
  return c.json(items.map(({ customer, expires_at, delivery }) => ({ customer, expires_at, delivery: delivery.status })));
});

// The bot invites and removes members without this server. It learns of it here.
app.post('/hooks', async (c) => {
  try {
    const event = await verifyWebhook(await c.req.text(), c.req.raw.headers, SVC_WEBHOOK_SECRET!);
    switch (event.type) {
      case 'membership.activated':
      case 'membership.renewed':
        console.log(`${event.type}: paid through ${event.data.object.paid_through}`);
        break;
      case 'membership.grace_started':
        console.log(`${event.type}: not renewed, in the channel until ${event.data.object.grace_until}`);
        break;
      case 'delivery.failed':
        console.log(`${event.type}: ${event.data.object.delivery.last_error}. The payment remains valid: help this member`);
        break;
      default:
        console.log(event.type);
    }
    return c.body(null, 204);
  } catch (error) {
    if (isSvcError(error, 'webhook_signature_failed')) return c.text(error.message, 400);
    throw error;
  }
});

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT ?? 3000) });
