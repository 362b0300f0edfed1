import { get, type Server } from 'node:http';
import express, { type Response as Reply } from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { protect as protectExpress } from '../../sdk/src/express.ts';
import { memoryResponses } from '../../sdk/src/index.ts';
import { listen, urlOf } from './adapter-hosts.ts';
import { FakeService, identified } from './service-double.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});
const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe('protect for Express with responses', () => {
  const payment = identified('pay:bob:1', 'order_of_bob_in_express');

  /** Answers a repeat after the buyer disconnected. The handler writes `first`, and runs `onClose` at the disconnection. */
  async function abandoned(first: string | Buffer | null, onClose: (res: Reply) => void) {
    const service = new FakeService();
    const app = express();
    let served = 0;
    app.get('/forecast', protectExpress({ client: service.client(), product: 'p1', responses: memoryResponses() }), (req, res) => {
      served++;
      if (first !== null) res.write(first);
      req.on('close', () => onClose(res));
    });
    const server = await listen(app);
    servers.push(server);
    const url = `${urlOf(server)}/forecast`;
    const call = get(url, { headers: { 'PAYMENT-SIGNATURE': payment }, agent: false }).on('error', () => {});
    while (served === 0) await sleep(5);
    await sleep(20);
    call.destroy();
    await sleep(50);
    const again = await fetch(url, { headers: { 'PAYMENT-SIGNATURE': payment } });
    return [again.status, again.headers.get('Idempotent-Replayed'), served];
  }

  it.each<[string, string | null, (res: Reply) => void]>([
    ['ends a stream because its buyer left', 'first ', (res) => void res.end()],
    ['ends a stream with a text because its buyer left', 'first ', (res) => void res.end('sorry')],
    ['writes and ends after its buyer left', null, (res) => void (res.write('sorry') && res.end())],
    ['never ends a stream whose buyer left', 'first ', () => {}],
  ])('nothing is stored of a handler that %s', async (_, first, onClose) => {
    const began = Date.now();
    expect(await abandoned(first, onClose)).toEqual([409, null, 1]);
    expect(Date.now() - began).toBeLessThan(4_000);
  });

  it('a body that is sent at once after its buyer left is stored', async () => {
    expect(await abandoned(null, (res) => void res.end('sunny'))).toEqual([200, 'true', 1]);
  });

  it('a buffer that the handler uses again is stored as it was sent', async () => {
    const app = express();
    app.get(
      '/forecast',
      protectExpress({ client: new FakeService().client(), product: 'p1', responses: memoryResponses() }),
      async (_req, res) => {
        const buffer = Buffer.from('sunny');
        await new Promise<void>((done) => res.write(buffer, () => done()));
        buffer.fill('x');
        res.end();
      },
    );
    const server = await listen(app);
    servers.push(server);
    const ask = () => fetch(`${urlOf(server)}/forecast`, { headers: { 'PAYMENT-SIGNATURE': payment } });
    expect(await (await ask()).text()).toBe('sunny');
    await sleep(20);
    const again = await ask();
    expect([again.headers.get('Idempotent-Replayed'), await again.text()]).toEqual(['true', 'sunny']);
  });
});
