import { once } from 'node:events';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { type ProtectOptions, protect } from '../../sdk/src/express.ts';
import { createClient } from '../../sdk/src/index.ts';
import { StandIn } from './stand-in.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
const listen = async (server: Server): Promise<string> => {
  servers.push(server.listen(0, '127.0.0.1'));
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
/** However long it takes: the test ends where it never comes. */
const eventually = async (isTrue: () => boolean): Promise<void> => {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 10));
};

/** An Express app with paid routes, listening; `gate` opens the handler that waits. */
async function protectedServer(options: Partial<ProtectOptions<express.Request>> = {}) {
  const service = new StandIn();
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
  // Express prints what its handlers throw.
  app.use(((_error, _req, res, _next) => void res.status(500).send('oops')) as express.ErrorRequestHandler);
  const base = await listen(createServer(app));
  const ask = (path: string, payment?: string, headers: Record<string, string> = {}) =>
    fetch(base + path, { headers: { ...(payment ? { 'PAYMENT-SIGNATURE': payment } : {}), ...headers } });
  return { service, state, gate, base, ask };
}

describe('Express', () => {
  it('never serves without consumption, and serves a payment once', async () => {
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
    expect([state.served, service.standingUses]).toEqual([1, 1]);
  });

  it('marks an answer written by hand too', async () => {
    const { ask } = await protectedServer();
    const response = await ask('/paid/raw', 'pay:bob:1');
    expect([await response.text(), response.headers.get('Cache-Control'), response.headers.has('PAYMENT-RESPONSE')]).toEqual([
      'raw',
      'private',
      true,
    ]);
  });

  it('refunds when the handler throws, before the answer is sent: the same payment is served at once', async () => {
    const { ask, service } = await protectedServer();
    expect((await ask('/paid/crash', 'pay:bob:1')).status).toBe(500);
    expect(service.standingUses).toBe(0);
    expect((await ask('/paid/forecast', 'pay:bob:1')).status).toBe(200);
  });

  it('refunds when the buyer is gone before the handler began', async () => {
    const service = new StandIn();
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
    await eventually(() => service.standingUses === 1);
    call.destroy();
    await eventually(() => state.hungUp === 1);
    settled.resolve();
    await eventually(() => service.standingUses === 0);
    expect(state.served).toBe(0);
  });

  it('does not refund a buyer who hangs up while the handler works: no work for free', async () => {
    const { service, state, base, gate, ask } = await protectedServer();
    const call = httpRequest(`${base}/paid/slow`, { headers: { 'PAYMENT-SIGNATURE': 'pay:bob:1' } }).on('error', () => {});
    call.end();
    await eventually(() => state.served === 1);
    call.destroy();
    await eventually(() => state.hungUp === 1);
    gate.resolve();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(service.standingUses).toBe(1);
    expect((await ask('/paid/slow', 'pay:bob:1')).status).toBe(409);
    expect(state.served).toBe(1);
  });

  it('refunds when the handler fails after the buyer hung up', async () => {
    const { service, state, base, gate } = await protectedServer();
    const call = httpRequest(`${base}/paid/slow-crash`, { headers: { 'PAYMENT-SIGNATURE': 'pay:bob:1' } }).on('error', () => {});
    call.end();
    await eventually(() => state.served === 1);
    call.destroy();
    await eventually(() => state.hungUp === 1);
    expect(service.standingUses).toBe(1);
    gate.resolve();
    await eventually(() => service.standingUses === 0);
  });

  it('does not refund a buyer who hangs up half way through the answer', async () => {
    const { service, state, base, gate } = await protectedServer();
    const call = httpRequest(`${base}/paid/stream`, { headers: { 'PAYMENT-SIGNATURE': 'pay:bob:1' } }).on('error', () => {});
    call.end();
    const [response] = await once(call, 'response');
    await once(response, 'data');
    call.destroy();
    await eventually(() => state.hungUp === 1);
    gate.resolve();
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(service.standingUses).toBe(1);
  });

  it('a refund that hangs holds the answer only for so long', async () => {
    const { ask, service } = await protectedServer();
    service.faults.push(null, 'late');
    const start = Date.now();
    expect((await ask('/paid/crash', 'pay:bob:1')).status).toBe(500);
    expect(Date.now() - start).toBeLessThan(5_000);
  });

  it('fails closed', async () => {
    const { ask, service, state } = await protectedServer();
    service.faults.push('unreachable', 'unreachable', 'unreachable');
    const response = await ask('/paid/forecast', 'pay:bob:1');
    expect([response.status, response.headers.get('Retry-After')]).toEqual([503, '5']);
    expect(state.served).toBe(0);
  });
});
