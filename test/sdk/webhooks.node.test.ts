import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { runInNewContext } from 'node:vm';
import express from 'express';
import { Webhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { afterEach, describe, expect, it } from 'vitest';
import { newSecret, signatureHeaders } from '#features/webhooks/deliveries/signature.ts';
import { SvcError } from '../../sdk/src/index.ts';
import { verifyWebhook } from '../../sdk/src/webhooks.ts';

const EVENT = { id: 'evt_01JD7Q2Z8X3V5W6Y7A8B9C0D1E', type: 'payment.confirmed', data: { object: { name: 'Ada’s weather ☂' } } };
// A number that loses its zero when it is parsed and stringified again.
const BODY = JSON.stringify(EVENT).replace('}}', ',"amount":1.0}}');
const secret = newSecret();
const sign = () =>
  signatureHeaders(
    { eventId: EVENT.id, eventType: EVENT.type, deliveryId: 7, attempt: 1, body: BODY, signedPayload: 'timestamp.body' },
    [secret],
    Date.now(),
  );

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
/** Sends one delivery to a server and returns the status and text of its answer. */
async function deliver(server: Server, headers: Record<string, string> | [string, string][] = sign()): Promise<[number, string]> {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  const response = await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { method: 'POST', headers, body: BODY });
  return [response.status, await response.text()];
}
const answerOf = (error: unknown): string => {
  expect(error).toBeInstanceOf(SvcError);
  const { code, meta, message } = error as SvcError;
  return [code, meta.reason, message].join(' · ');
};

describe('verifyWebhook on a Node server', () => {
  it('headers of node:http and the bytes of the request verify', async () => {
    const server = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const body = Buffer.concat(chunks);
      const types = [(await verifyWebhook(body, request.headers, secret)).type];
      types.push((await verifyWebhook(body.toString(), request.headersDistinct, secret)).type);
      response.end(types.join());
    });
    expect(await deliver(server)).toEqual([200, 'payment.confirmed,payment.confirmed']);
  });

  it('a header that was sent twice is refused', async () => {
    const server = createServer(async (request, response) => {
      const reasons = await Promise.all(
        [request.headers, request.headersDistinct].map((headers) => verifyWebhook(BODY, headers, secret).catch(answerOf)),
      );
      response.end(JSON.stringify(reasons));
    });
    const headers = Object.entries(sign());
    const [, text] = await deliver(server, [...headers, ...headers.filter(([name]) => name === 'X-Svc-Signature')] as [string, string][]);
    expect(JSON.parse(text)).toEqual(Array(2).fill(expect.stringMatching(/^webhook_signature_failed · malformed_header/)));
  });

  it('express.raw gives a body that verifies, express.json one that does not', async () => {
    const app = express();
    app.post('/', express.raw({ type: '*/*' }), async (req, res) => {
      res.send((await verifyWebhook(req.body, req.headers, secret)).type);
    });
    expect(await deliver(createServer(app))).toEqual([200, 'payment.confirmed']);
    const mistaken = express();
    mistaken.post('/', express.json(), async (req, res) => {
      const parsed = await verifyWebhook(req.body, req.headers, secret).catch(answerOf);
      const stringified = await verifyWebhook(JSON.stringify(req.body), req.headers, secret).catch(answerOf);
      res.status(400).json([parsed, stringified]);
    });
    const [status, text] = await deliver(createServer(mistaken));
    expect(status).toBe(400);
    expect(JSON.parse(text)).toEqual([
      'webhook_signature_failed · mismatch · The body is neither text nor bytes. Pass the raw body, before anything parses it.',
      expect.stringMatching(/^webhook_signature_failed · mismatch · .*raw body.*parsed and stringified again/),
    ]);
  });

  it('bytes of another realm verify', async () => {
    const bytes = runInNewContext('Uint8Array.from(bytes)', { bytes: [...Buffer.from(BODY)] });
    expect(bytes).not.toBeInstanceOf(Uint8Array);
    expect((await verifyWebhook(bytes, sign(), secret)).id).toBe(EVENT.id);
  });
});

describe('libraries that sign with the crypto of Node', () => {
  it('stripe’s test header verifies, and stripe accepts what verifyWebhook accepts', async () => {
    const { webhooks } = new Stripe('sk_test_not_used');
    const header = webhooks.generateTestHeaderString({ payload: BODY, secret });
    const event = await verifyWebhook(BODY, { 'X-Svc-Signature': header }, secret);
    expect(webhooks.constructEvent(BODY, header, secret)).toEqual(event);
    expect(webhooks.constructEvent(Buffer.from(BODY), sign()['X-Svc-Signature']!, secret)).toEqual(event);
    const unsigned = webhooks.generateTestHeaderString({ payload: BODY, secret, scheme: 'v0' });
    expect(answerOf(await verifyWebhook(BODY, { 'X-Svc-Signature': unsigned }, secret).catch((error) => error))).toMatch(
      /malformed_header/,
    );
  });

  it('a signature of standardwebhooks verifies, and the library accepts what verifyWebhook accepts', async () => {
    const [library, at] = [new Webhook(secret), new Date()];
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': library.sign('msg_1', at, BODY),
    };
    expect(library.verify(BODY, headers)).toEqual(await verifyWebhook(BODY, headers, secret));
    expect(library.verify(BODY, sign())).toEqual(await verifyWebhook(BODY, sign(), secret));
  });
});
