import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';
import type { Teardown } from '../cli/teardown.ts';
import { check } from './narrator.ts';
import type { Sale } from './purchase.ts';
import type { DemoContext, Shop } from './shop.ts';

export interface Received {
  headers: Record<string, string>;
  body: string;
}

interface Event {
  id: string;
  type: string;
  data: { object: { payment_id?: string } };
}

interface Mailbox {
  secret: string;
  received: Received[];
}

const ARRIVES_WITHIN_MS = 30_000;

export async function openMailbox({ api, narrator }: DemoContext, shop: Shop, teardown: Teardown): Promise<Mailbox> {
  narrator.step('She adds a webhook to her own server');
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    received.push({ headers, body: Buffer.concat(chunks).toString() });
    response.end('thanks');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  teardown.defer(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`;
  const body = { url, event_types: ['payment.*'] };
  const endpoint = await api.must<{ endpoint_id: string; secret: string }>('POST', '/v1/webhooks/endpoints', {
    credential: shop.key,
    body,
  });
  narrator.fact('endpoint', `${url}, payment.*, secret ${endpoint.secret.slice(0, 9)}… (shown once)`);
  return { secret: endpoint.secret, received };
}

/**
 * Checks that the sale's event arrived, that both public libraries accept its signatures and refuse a changed body, and that the event can
 * be replayed.
 */
export async function readMail({ api, narrator }: DemoContext, shop: Shop, { secret, received }: Mailbox, sale: Sale): Promise<void> {
  narrator.step('Her server got the event, and can prove its sender');
  const isTheSale = ({ body }: Received): boolean => {
    const event = JSON.parse(body) as Event;
    return event.type === 'payment.confirmed' && event.data.object.payment_id === sale.session.payment_id;
  };
  const first = await waitFor(() => received.find(isTheSale), 'payment.confirmed did not arrive');
  const event = verify(first, secret);
  narrator.fact('event', `${event.id}, ${event.type}, attempt ${first.headers['x-svc-attempt']}`);
  narrator.proven('The official stripe and standardwebhooks packages accept its signatures.');
  const forged = { ...first, body: first.body.replace('"5"', '"500"') };
  let isRefused = false;
  try {
    verify(forged, secret);
  } catch {
    isRefused = true;
  }
  check(isRefused && forged.body !== first.body, 'A changed event passed for genuine');
  narrator.proven('With "5" changed to "500" both refuse it.');

  narrator.step('She asks for it once more');
  const before = received.filter(isTheSale).length;
  await api.must('POST', `/v1/webhooks/deliveries/${first.headers['x-svc-delivery-id']}/replay`, { credential: shop.key });
  await waitFor(() => (received.filter(isTheSale).length > before ? true : undefined), 'The replay did not arrive');
  const again = verify(received.filter(isTheSale).at(-1)!, secret);
  check(again.id === event.id, 'The replay is another event');
  narrator.proven(`The same event, ${again.id}, as delivery ${received.filter(isTheSale).at(-1)!.headers['x-svc-delivery-id']}.`);
}

/** Verifies an event by both public libraries. Throws if one refuses. */
export function verify({ headers, body }: Received, secret: string): Event {
  new Stripe('sk_not_used').webhooks.constructEvent(body, headers['x-svc-signature']!, secret);
  return new Webhook(secret).verify(body, headers) as Event;
}

export async function waitFor<T>(read: () => T | undefined, otherwise: string): Promise<T> {
  const deadline = Date.now() + ARRIVES_WITHIN_MS;
  for (;;) {
    const found = read();
    if (found !== undefined) return found;
    check(Date.now() < deadline, otherwise);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
