import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { describe, expect, it } from 'vitest';
import { type ProtectOptions, protect, type SvcEnv } from '../../sdk/src/hono.ts';
import { FakeService } from './service-double.ts';

function protectedApp(options: Partial<ProtectOptions<Context>> = {}) {
  const service = new FakeService();
  const app = new Hono<SvcEnv>();
  app.use('/paid/*', protect({ client: service.client(), product: { external_product_id: 'weather' }, ...options }));
  app.get('/paid/forecast', (c) => c.json({ left: c.get('svc').remaining }));
  app.get('/paid/crash', () => {
    throw new Error('model crashed');
  });
  app.get('/paid/refuse', () => {
    throw new HTTPException(404);
  });
  app.get('/paid/passed-on', () => fetchedElsewhere());
  const ask = (path: string, payment?: string) => app.request(path, { headers: payment ? { 'PAYMENT-SIGNATURE': payment } : {} });
  return { service, app, ask };
}

/** Answers of `fetch` have immutable headers. */
const fetchedElsewhere = () => Response.redirect('https://weather.test/elsewhere');

describe('protect for Hono', () => {
  it('a product can be named by its external id', async () => {
    const { ask, service } = protectedApp();
    expect(await (await ask('/paid/forecast', 'pay:bob:1')).json()).toEqual({ left: 0 });
    expect(service.seen[0]!.body).toMatchObject({ external_product_id: 'weather' });
  });

  it('a throwing handler is refunded, whatever the app makes of the error', async () => {
    const { ask, service, app } = protectedApp();
    expect((await ask('/paid/crash', 'pay:bob:1')).status).toBe(500);
    expect(service.openUses).toBe(0);
    app.onError((_error, c) => c.json({ oops: true }, 200));
    expect((await ask('/paid/crash', 'pay:bob:2')).status).toBe(200);
    expect(service.openUses).toBe(0);
  });

  it('a refusal thrown with HTTPException counts as served', async () => {
    const { ask, service } = protectedApp();
    expect((await ask('/paid/refuse', 'pay:bob:1')).status).toBe(404);
    expect(service.openUses).toBe(1);
  });

  it('the payment headers are added to an immutable response', async () => {
    const { ask } = protectedApp();
    const response = await ask('/paid/passed-on', 'pay:bob:1');
    expect([response.status, response.headers.has('PAYMENT-RESPONSE')]).toEqual([302, true]);
  });

  it('a route outside the middleware stays free', async () => {
    const { app, service } = protectedApp();
    app.get('/free', (c) => c.text('hello'));
    expect((await app.request('/free')).status).toBe(200);
    expect(service.seen).toEqual([]);
  });
});
