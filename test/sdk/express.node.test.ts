import type { Server } from 'node:http';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { type ProtectOptions, protect } from '../../sdk/src/express.ts';
import { listen, urlOf } from './adapter-hosts.ts';
import { FakeService } from './service-double.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

/** Express app with paid routes behind one middleware. */
async function protectedServer(options: Partial<ProtectOptions<express.Request>> = {}) {
  const service = new FakeService();
  const served: string[] = [];
  const errors: unknown[] = [];
  const seen: express.Response[] = [];
  const app = express();
  app.use((req, res, next) => {
    seen.push(res);
    res.set('Access-Control-Expose-Headers', 'X-Mine');
    next();
    if (req.get('X-Answer') !== 'early') return;
    // Still being sent when the check ends.
    res.status(504).write('too ');
    setTimeout(() => res.end('late'), 100);
  });
  app.use('/paid', protect({ client: service.client(), product: 'p1', onError: (error) => errors.push(error), ...options }));
  app.get('/paid/forecast', (req, res) => {
    served.push(req.path);
    res.send('sunny');
  });
  app.get('/paid/public', (_req, res) => void res.set('Cache-Control', 'public, max-age=60').send('sunny'));
  app.get('/paid/raw', (_req, res) => void res.writeHead(200, { 'cache-control': 's-maxage=60' }).end('raw'));
  app.get('/paid/crash', async () => {
    throw new Error('model crashed');
  });
  app.get('/paid/refuse', async () => {
    throw Object.assign(new Error('no such city'), { status: 404 });
  });
  // Prevents Express from printing the errors of handlers.
  const handleError: express.ErrorRequestHandler = (error, _req, res, _next) => void res.status(error.status ?? 500).send('oops');
  app.use(handleError);
  const server = await listen(app);
  servers.push(server);
  const ask = (path: string, payment: string, headers: Record<string, string> = {}) =>
    fetch(urlOf(server) + path, { headers: { 'PAYMENT-SIGNATURE': payment, ...headers } });
  return { service, errors, seen, served, ask };
}

describe('protect for Express', () => {
  it('the response has its own methods, and an earlier expose header is extended', async () => {
    const { ask, seen } = await protectedServer();
    const answer = await ask('/paid/forecast', 'pay:bob:1');
    expect(answer.headers.get('Access-Control-Expose-Headers')).toBe('X-Mine, PAYMENT-RESPONSE');
    for (const method of ['writeHead', 'end', 'write', 'setHeader']) expect(Object.hasOwn(seen[0]!, method), method).toBe(false);
  });

  it.each([
    ['/paid/public', 'public, max-age=60'],
    ['/paid/raw', 's-maxage=60'],
  ])('a handler that sets Cache-Control itself decides, and onError is warned once: %s', async (path, sent) => {
    const { ask, errors } = await protectedServer();
    for (const payment of ['pay:bob:1', 'pay:bob:2']) {
      const answer = await ask(path, payment);
      expect([answer.status, answer.headers.get('Cache-Control'), answer.headers.has('PAYMENT-RESPONSE')]).toEqual([200, sent, true]);
    }
    expect(errors.map(String)).toEqual([expect.stringContaining(`Cache-Control: ${sent}. Shared caches`)]);
  });

  it('a request that an earlier middleware answers during the check is refunded and not served', async () => {
    const { ask, service, served } = await protectedServer();
    const early = await ask('/paid/forecast', 'pay:bob:1', { 'X-Answer': 'early' });
    expect([early.status, await early.text()]).toEqual([504, 'too late']);
    while (service.keysOf('/refund').length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    expect([service.openUses, served]).toEqual([0, []]);
    expect((await ask('/paid/forecast', 'pay:bob:1')).status).toBe(200);
  });

  it('an error with a status below 500 counts as served', async () => {
    const { ask, service } = await protectedServer();
    expect((await ask('/paid/refuse', 'pay:bob:1')).status).toBe(404);
    expect(service.openUses).toBe(1);
  });

  it('a refund that hangs delays no answer, and the buyer’s next request for at most three seconds', async () => {
    const { ask, service } = await protectedServer();
    service.faults.push(null, 'late');
    const start = Date.now();
    expect((await ask('/paid/crash', 'pay:bob:1')).status).toBe(500);
    expect(Date.now() - start).toBeLessThan(1_000);
    expect((await ask('/paid/forecast', 'pay:eve:1')).status, 'another buyer does not wait').toBe(200);
    expect(Date.now() - start).toBeLessThan(1_000);
    expect((await ask('/paid/forecast', 'pay:bob:1')).status).toBe(200);
    const waited = Date.now() - start;
    expect([waited > 2_500, waited < 5_000]).toEqual([true, true]);
  });
});
