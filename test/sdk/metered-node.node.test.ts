import { once } from 'node:events';
import { request as httpRequest, type Server } from 'node:http';
import express from 'express';
import fastify from 'fastify';
import { describe, expect, it } from 'vitest';
import type { Client } from '../../sdk/src/api/client.ts';
import { protect as protectExpress } from '../../sdk/src/express.ts';
import { protect as protectFastify } from '../../sdk/src/fastify.ts';
import type { MeteredOptions, Piece } from '../../sdk/src/fetch.ts';
import { listen, urlOf } from './adapter-hosts.ts';

const ANNOUNCE = '/__402/session/deliveries';
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
const session = {
  session_id: `ms_${'0'.repeat(26)}`,
  product_id: 'p1',
  unit_price: { base_units: '10' },
  deposit: { base_units: '1000' },
  cumulative: { base_units: '0' },
  reserved: { base_units: '0' },
  challenge: { header: 'Payment id="1"' },
};
const open = `Payment ${encode({ challenge: { request: encode({ externalId: session.session_id }) }, payload: { action: 'open' } })}`;

const answering =
  (answer: object, headers: Record<string, string> = {}) =>
  async () => ({ ...answer, response: { headers: new Headers(headers) } });
function fakeClient(reserved: string) {
  const announced: unknown[] = [];
  const meteredSessions = {
    create: answering(session),
    get: answering(session),
    authorize: answering(session, { 'Payment-Receipt': 'receipt' }),
    reserve: answering({ amount: reserved, deliveryId: 'delivery-1', sessionId: 'channel' }),
    announce: (body: object) => answering({ said: announced.push(body) })(),
  };
  return { client: { meteredSessions } as unknown as Client, announced };
}

type Pieces = () => AsyncIterable<Piece> | Iterable<Piece>;
const sellers: Record<string, (options: MeteredOptions, pieces: Pieces) => Promise<Server>> = {
  express: (options, pieces) => listen(express().use(expressRoutes(options, pieces))),
  'express with parsed bodies': (options, pieces) => listen(express().use(express.json(), expressRoutes(options, pieces))),
  fastify: async (options, pieces) => {
    const app = fastify();
    const sell = protectFastify(options);
    app.post(ANNOUNCE, sell, async () => {});
    app.get('/text', sell, async (request) => request.metered!.stream(pieces()));
    await app.listen({ port: 0, host: '127.0.0.1' });
    return app.server;
  },
};
function expressRoutes(options: MeteredOptions, pieces: Pieces): express.Router {
  const sell = protectExpress(options);
  const routes = express.Router();
  routes.post(ANNOUNCE, sell);
  routes.get('/text', sell, (req, _res, next) => void req.metered!.send(pieces()).catch(next));
  return routes;
}

describe.each(Object.entries(sellers))('metered sale with %s', (_name, serve) => {
  async function openShop(pieces: Pieces, reserved = '30') {
    const { client, announced } = fakeClient(reserved);
    const server = await serve({ client, product: 'p1', metered: { unitPrice: '0.00001', cap: '0.001', unitsMax: 3 } }, pieces);
    return { base: urlOf(server), announced, end: () => void server.close().closeAllConnections() };
  }

  it('the app sells by the piece and forwards client announcements', async () => {
    const shop = await openShop(() => ['one', 'two', 'three', 'four']);
    try {
      const asked = await fetch(`${shop.base}/text`);
      expect([asked.status, asked.headers.get('WWW-Authenticate')]).toEqual([402, 'Payment id="1"']);
      const answer = await fetch(`${shop.base}/text`, { headers: { Authorization: open } });
      expect([answer.status, answer.headers.get('Payment-Receipt'), answer.headers.get('Cache-Control')]).toEqual([
        200,
        'receipt',
        'private, no-store',
      ]);
      expect(answer.headers.get('Content-Type')).toBe('text/event-stream; charset=utf-8');
      expect((await answer.text()).match(/^data: (one|two|three|four)$/gm)).toEqual(['data: one', 'data: two', 'data: three']);
      const body = JSON.stringify({ amount: '10', deliveryId: 'mpp-1', sessionId: 'channel' });
      const headers = { 'Content-Type': 'application/json' };
      expect((await fetch(`${shop.base}${ANNOUNCE}`, { method: 'POST', headers, body })).status).toBe(201);
      expect(shop.announced).toEqual([JSON.parse(body)]);
    } finally {
      shop.end();
    }
  });

  it('the generator of pieces is ended after the buyer hung up', async () => {
    const ended = Promise.withResolvers<void>();
    async function* endlessPieces() {
      try {
        for (;;) {
          yield 'word';
          await new Promise((resolve) => setTimeout(resolve, 5));
        }
      } finally {
        ended.resolve();
      }
    }
    const shop = await openShop(endlessPieces, '1000000');
    try {
      const request = httpRequest(`${shop.base}/text`, { headers: { Authorization: open } });
      request.on('error', () => {});
      request.end();
      const [answer] = await once(request, 'response');
      await once(answer, 'data');
      request.destroy();
      await ended.promise;
    } finally {
      shop.end();
    }
  });
});
