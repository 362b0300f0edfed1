import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { afterEach, describe, expect, it } from 'vitest';
import { type ProtectOptions, protect, protectRoutes } from '../../sdk/src/fastify.ts';
import { FakeService } from './service-double.ts';

const apps: FastifyInstance[] = [];
afterEach(async () => {
  await Promise.all(apps.splice(0).map((app) => app.close()));
});

function openShop(options: Partial<ProtectOptions<FastifyRequest>> = {}) {
  const service = new FakeService();
  const app = fastify();
  apps.push(app);
  const settings: ProtectOptions<FastifyRequest> = { client: service.client(), product: 'p1', ...options };
  const ask = (url: string, payment?: string) =>
    app.inject({ method: 'GET', url, headers: payment ? { 'payment-signature': payment } : {} });
  return { service, app, settings, ask };
}
const statusError = (status: object) => Object.assign(new Error('refused'), status);

describe('protect for Fastify', () => {
  it('the options go together with a schema, and an invalid request costs nothing', async () => {
    const { app, settings, service } = openShop({ units: (request) => (request.body as { days: number }).days });
    const schema = { body: { type: 'object', required: ['days'], properties: { days: { type: 'integer' } } } };
    app.post<{ Body: { days: number } }>('/forecast', { ...protect(settings), schema }, async (request) => ({ used: request.svc?.units }));
    service.unitsPerPayment = 3;
    const post = (payload: object) =>
      app.inject({ method: 'POST', url: '/forecast', headers: { 'payment-signature': 'pay:bob:1' }, payload });
    expect((await post({ days: 'many' })).statusCode).toBe(400);
    expect(service.seen).toEqual([]);
    expect((await post({ days: 3 })).json()).toEqual({ used: 3 });
  });

  it('a throwing handler is refunded, whatever the app makes of the error', async () => {
    const { app, settings, service, ask } = openShop();
    app.setErrorHandler(async (_error, _request, reply) => reply.code(200).send('never mind'));
    app.get('/crash', protect(settings), async () => {
      throw new Error('model crashed');
    });
    expect((await ask('/crash', 'pay:bob:1')).statusCode).toBe(200);
    expect(service.openUses).toBe(0);
  });

  it.each<[string, (reply: FastifyReply) => unknown]>([
    ['the reply', (reply) => reply.code(504).send('too late')],
    ['the raw response', ({ raw }) => raw.writeHead(504).write('too ') && setTimeout(() => raw.end('late'), 100)],
  ])('a request that an earlier hook answers by %s during the check is refunded and not served', async (_how, answer) => {
    const { app, settings, service, ask } = openShop();
    const client = service.client({ fetch: (request) => new Promise((resolve) => setTimeout(() => resolve(service.fetch(request)), 20)) });
    const served: string[] = [];
    app.addHook('onRequest', async (_request, reply) => void setImmediate(answer, reply));
    app.get('/forecast', protect({ ...settings, client }), async ({ url }) => served.push(url));
    const early = await ask('/forecast', 'pay:bob:1');
    expect([early.statusCode, early.body]).toEqual([504, 'too late']);
    while (service.keysOf('/refund').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect([service.openUses, served]).toEqual([0, []]);
  });

  it.each([{ statusCode: 404 }, { status: 404 }])('an error with a status below 500 counts as served: %j', async (status) => {
    const { app, settings, service, ask } = openShop();
    app.get('/refuse', protect(settings), async () => {
      throw statusError(status);
    });
    app.get('/coded', protect(settings), async (_request, reply) => {
      reply.code(404);
      throw new Error('refused');
    });
    expect([(await ask('/refuse', 'pay:bob:1')).statusCode, (await ask('/coded', 'pay:bob:2')).statusCode]).toEqual([404, 404]);
    expect(service.openUses).toBe(2);
  });

  it('private caching is merged into the headers of the reply and of a returned Response', async () => {
    const { app, settings, ask } = openShop();
    const headers = { 'Cache-Control': 'public, max-age=60' };
    app.addHook('onRequest', async (_request, reply) => void reply.header('Access-Control-Expose-Headers', 'X-Mine'));
    app.get('/reply', protect(settings), async (_request, reply) => reply.headers(headers).send('sunny'));
    app.get('/response', protect(settings), async () => new Response('sunny', { headers }));
    for (const [path, payment] of [
      ['/reply', 'pay:bob:1'],
      ['/response', 'pay:bob:2'],
    ] as const) {
      const answer = await ask(path, payment);
      expect(answer.headers, path).toMatchObject({
        'cache-control': 'private, max-age=60',
        'payment-response': expect.any(String),
        'access-control-expose-headers': 'X-Mine, PAYMENT-RESPONSE',
      });
      expect(answer.body).toBe('sunny');
    }
  });

  it('a returned Response of 500 is refunded', async () => {
    const { app, settings, service, ask } = openShop();
    app.get('/response', protect(settings), async () => new Response('oops', { status: 502 }));
    expect((await ask('/response', 'pay:bob:1')).statusCode).toBe(502);
    expect(service.openUses).toBe(0);
  });

  it('a handler that writes to reply.raw sends the payment headers, and is refunded for 500', async () => {
    const { app, settings, service, ask } = openShop();
    app.get<{ Querystring: { status: string } }>('/raw', protect(settings), (request, reply) => {
      reply.hijack();
      reply.raw.writeHead(Number(request.query.status), { 'Content-Type': 'text/plain' }).end('raw');
    });
    const answer = await ask('/raw?status=200', 'pay:bob:1');
    expect(answer.headers).toMatchObject({ 'cache-control': 'private', 'payment-response': expect.any(String) });
    expect((await ask('/raw?status=500', 'pay:bob:2')).statusCode).toBe(500);
    expect((await ask('/raw?status=200', 'pay:bob:2')).statusCode, 'after its refund').toBe(200);
    expect(service.openUses).toBe(2);
  });

  it('a refund that hangs delays the answer for at most three seconds', async () => {
    const { app, settings, service, ask } = openShop();
    app.get('/crash', protect(settings), async () => {
      throw new Error('model crashed');
    });
    service.faults.push(null, 'late');
    const start = Date.now();
    expect((await ask('/crash', 'pay:bob:1')).statusCode).toBe(500);
    expect(Date.now() - start).toBeLessThan(5_000);
  });

  it('the plugin protects each route of its scope and no other, and unknown paths stay free', async () => {
    const { app, settings, service, ask } = openShop();
    app.register(
      async (paid) => {
        paid.register(protectRoutes(settings));
        paid.get('/paid/forecast', async (request) => ({ left: request.svc?.remaining }));
        paid.get('/paid/wind', async () => 'calm');
        paid.setNotFoundHandler((_request, reply) => void reply.code(404).send('nothing'));
      },
      { prefix: '/v1' },
    );
    app.get('/free', async () => 'hello');
    expect([(await ask('/free')).statusCode, (await ask('/nowhere')).statusCode, (await ask('/v1/nowhere')).statusCode]).toEqual([
      200, 404, 404,
    ]);
    expect(service.seen).toEqual([]);
    expect([(await ask('/v1/paid/forecast')).statusCode, (await ask('/v1/paid/wind')).statusCode]).toEqual([402, 402]);
    expect((await ask('/v1/paid/forecast', 'pay:bob:1')).json()).toEqual({ left: 0 });
    expect((await ask('/v1/paid/wind', 'pay:bob:1')).statusCode).toBe(409);
  });
});
