import { isSvcError, verifyWebhook } from '@paylatch/sdk';
import { storeMembership } from '../../lib/members';

/** Receives `membership.*`. The signature covers the raw body. */
export async function POST(request: Request): Promise<Response> {
  try {
    const event = await verifyWebhook(await request.text(), request.headers, process.env.SVC_WEBHOOK_SECRET!);
    switch (event.type) {
      case 'membership.activated':
      case 'membership.renewed':
      case 'membership.grace_started':
      case 'membership.expired':
      case 'membership.access_revoked':
        storeMembership(event.data.object);
        console.log(`${event.type}: ${event.data.object.customer.customer_ref}`);
    }
    return new Response(null, { status: 204 });
  } catch (error) {
    if (isSvcError(error, 'webhook_signature_failed')) return new Response(error.message, { status: 400 });
    throw error;
  }
}
