import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { type ProtectOptions, protect } from '../../sdk/src/express.ts';
import { createClient } from '../../sdk/src/index.ts';
import { FakeService } from './service-double.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
const listen = async (server: Server): Promise<string> => {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
/** Waits until the condition holds. The test's timeout is the limit. */
const eventually = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
};

/** Express app with paid routes. `gate` releases the waiting handlers. */
async function protectedServer(options: Partial<ProtectOptions<express.Request>> = {}) {
  const service = new FakeService();
  const client = service.client();
  const gate = Promise.withResolvers<void>();
  const state = { served: 0, hungUp: 0 };
  const app = express();
  app.use((_req, res, next) => {
    res.once('close', () => {
      if (!res.writableFinished) state.hungUp++;
    });
    next();
  });
  app.use('/paid', protect({ client, product: 'p1', ...options }));
  app.get('/paid/forecast', (req, res) => {
    state.served++;
    res.set('Cache-Control', 'public, max-age=60').json({ left: req.svc!.remaining });
  });
  app.get('/paid/raw', (_req, res) => void res.writeHead(200, { 'cache-control': 's-maxage=60' }).end('raw'));
  app.get('/paid/crash', async () => {
    throw new Error('model crashed');
  });
  app.get('/paid/slow', async (_req, res) => {
    state.served++;
    await gate.promise;
    res.send('done');
  });
  app.get('/paid/slow-crash', async () => {
    state.served++;
    await gate.promise;
    throw new Error('model crashed');
  });
  app.get('/paid/stream', async (_req, res) => {
    res.write('first half');
    await gate.promise;
    res.end();
  });
  // Prevents Express from printing the errors of handlers.
  app.use(((_error, _req, res, _next) => void res.status(500).send('oops')) as express.ErrorRequestHandler);
  const base = await listen(createServer(app));
  const ask = (path: string, payment?: string, headers: Record<string, string> = {}) =>
    fetch(base + path, { headers: { ...(payment ? { 'PAYMENT-SIGNATURE': payment } : {}), ...headers } });
  return { service, state, gate, base, ask };
}

describe('protect for Express', () => {
  it('a request without consumption is not served, and a payment is served once', async () => {
    const { ask, service, state } = await protectedServer();
    const refused = await ask('/paid/forecast?city=Oslo');
    expect([refused.status, refused.headers.has('PAYMENT-REQUIRED'), refused.headers.get('Cache-Control')]).toEqual([
      402,
      true,
      'no-store',
    ]);
    expect((service.seen[0]!.body.resource as { url: string }).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/paid\/forecast$/);
    const paid = await ask('/paid/forecast', 'pay:bob:1');
    expect([paid.status, await paid.json(), paid.headers.has('PAYMENT-RESPONSE')]).toEqual([200, { left: 0 }, true]);
    expect(paid.headers.get('Cache-Control')).toBe('private, max-age=60');
    expect((await ask('/paid/forecast', 'pay:bob:1')).status).toBe(409);
    expect([state.served, service.openUses]).toEqual([1, 1]);
  });

  it('an answer written with writeHead gets the payment headers', async () => {
    const { ask } = await protectedServer();
    const response = await ask('/paid/raw', 'pay:bob:1');
    expect([await response.text(), response.headers.get('Cache-Control'), response.headers.has('PAYMENT-RESPONSE')]).toEqual([
      'raw',
      'private',
      true,
    ]);
  });

  it('a throwing handler is refunded before the answer is sent, and the same payment is then served', async () => {
    const { ask, service } = await protectedServer();
    expect((await ask('/paid/crash', 'pay:bob:1')).status).toBe(500);
    expect(service.openUses).toBe(0);
    expect((await ask('/paid/forecast', 'pay:bob:1')).status).toBe(200);
  });

  it('a buyer who hangs up before the handler starts is refunded and not served', async () => {
    const service = new FakeService();
    const settled = Promise.withResolvers<void>();
    const fetchLate = async (request: Request) => {
      const isSettle = request.url.endsWith('/settle');
      const answer = await service.fetch(request);
      if (isSettle) await settled.promise;
      return answer;
    };
    const { state, base } = await protectedServer({ client: createClient({ baseUrl: 'https://svc.test', fetch: fetchLate }) });
    const call = httpRequest(`${base}/paid/slow`, { headers: { 'PAYMENT-SIGNATURE': 'pay:bob:1' } }).on('error', () => {});
    call.end();
    await eventually(() => service.openUses === 1);
    call.destroy();
    await eventually(() => state.hungUp === 1);
    settled.resolve();
    await eventually(() => service.openUses === 0);
    expect(state.served).toBe(0);
  });

  it('a buyer who hangs up while the handler works is not refunded', async () => {
    const { service, state, base, gate, ask } = await protectedServer();
    const call = httpRequest(`${base}/paid/slow`, { headers: { 'PAYMENT-SIGNATURE': 'pay:bob:1' } }).on('error', () => {});
    call.end();
    await eventually(() => state.served === 1);
    call.destroy();
    await eventually(() => state.hungUp === 1);
    gate.resolve();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(service.openUses).toBe(1);
    expect((await ask('/paid/slow', 'pay:bob:1')).status).toBe(409);
    expect(state.served).toBe(1);
  });

  it('a handler that fails after the buyer hung up is refunded', async () => {
    const { service, state, base, gate } = await protectedServer();
    const call = httpRequest(`${base}/paid/slow-crash`, { headers: { 'PAYMENT-SIGNATURE': 'pay:bob:1' } }).on('error', () => {});
    call.end();
    await eventually(() => state.served === 1);
    call.destroy();
    await eventually(() => state.hungUp === 1);
    expect(service.openUses).toBe(1);
    gate.resolve();
    await eventually(() => service.openUses === 0);
  });

  it('a buyer who hangs up half way through the answer is not refunded', async () => {
    const { service, state, base, gate } = await protectedServer();
    const call = httpRequest(`${base}/paid/stream`, { headers: { 'PAYMENT-SIGNATURE': 'pay:bob:1' } }).on('error', () => {});
    call.end();
    const [response] = await once(call, 'response');
    await once(response, 'data');
    call.destroy();
    await eventually(() => state.hungUp === 1);
    gate.resolve();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(service.openUses).toBe(1);
  });

  it('a refund that hangs delays the answer for less than five seconds', async () => {
    const { ask, service } = await protectedServer();
    service.faults.push(null, 'late');
    const start = Date.now();
    expect((await ask('/paid/crash', 'pay:bob:1')).status).toBe(500);
    expect(Date.now() - start).toBeLessThan(5_000);
  });

  it('an unreachable service answers 503 and serves nothing', async () => {
    const { ask, service, state } = await protectedServer();
    service.faults.push('unreachable', 'unreachable', 'unreachable');
    const response = await ask('/paid/forecast', 'pay:bob:1');
    expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '5']);
    expect(state.served).toBe(0);
  });
});
