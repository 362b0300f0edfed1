import { afterEach, describe, expect, it } from 'vitest';
import type { Client } from '../../sdk/src/api/client.ts';
import { type Access, protect, protectProxy } from '../../sdk/src/next.ts';
import { memoryResponses } from '../../sdk/src/responses/responses.ts';
import { FakeService, identified } from './service-double.ts';

const URL_PAID = 'https://weather.test/forecast';
const CONTEXT = Symbol.for('@next/request-context');
afterEach(() => void Reflect.deleteProperty(globalThis, CONTEXT));

/** Next.js passes its own subclasses of the web's request and response. */
class NextRequest extends Request {
  readonly nextUrl = new URL(this.url);
}
const proceed = () => new Response(null, { headers: { 'x-middleware-next': '1', 'Cache-Control': 'public, max-age=60' } });
const paying = (payment: string) => new NextRequest(URL_PAID, { headers: { 'PAYMENT-SIGNATURE': payment } });

describe('protect for a route handler of Next.js', () => {
  it('the handler gets the request of Next.js, the access and the context', async () => {
    const service = new FakeService();
    const GET = protect(
      { client: service.client(), product: 'p1', units: (request: NextRequest) => request.nextUrl.pathname.length - 8 },
      async (request: NextRequest, access, { params }: { params: Promise<{ city: string }> }) =>
        Response.json({ path: request.nextUrl.pathname, city: (await params).city, units: access.units }),
    );
    service.unitsPerPayment = 2;
    const answer = await GET(paying('pay:bob:1'), { params: Promise.resolve({ city: 'Oslo' }) });
    expect(await answer.json()).toEqual({ path: '/forecast', city: 'Oslo', units: 1 });
  });

  it('the challenge names the public URL, not that of a self-hosted server', async () => {
    const service = new FakeService();
    const GET = protect({ client: service.client(), product: 'p1' }, () => new Response('sunny'));
    const forwarded = [
      ['X-Forwarded-Host', 'weather.test', 'https,http'],
      ['Host', 'weather.test', 'https'],
    ] as const;
    for (const [name, host, protocol] of forwarded) {
      const headers = { [name]: host, 'X-Forwarded-Proto': protocol };
      const refused = await GET(new Request('http://localhost:3000/forecast?city=Oslo', { headers }), {});
      const { resource } = JSON.parse(atob(refused.headers.get('PAYMENT-REQUIRED')!));
      expect(resource).toEqual({ method: 'GET', url: URL_PAID });
    }
  });

  it('a failed refund goes on in waitUntil of the platform', async () => {
    const service = new FakeService();
    const held: Promise<unknown>[] = [];
    Object.assign(globalThis, { [CONTEXT]: { get: () => ({ waitUntil: (work: Promise<unknown>) => held.push(work) }) } });
    const options = { client: service.client({ maxRetries: 0 }), product: 'p1', onError: () => {} };
    const GET = protect(options, () => new Response('oops', { status: 500 }));
    service.faults.push(null, 'unreachable');
    await GET(paying('pay:bob:1'), {});
    expect([held.length, service.openUses]).toEqual([1, 1]);
    await Promise.all(held);
    expect(service.openUses).toBe(0);
  });

  it('a route with metered asks for a session', async () => {
    const client = { meteredSessions: { create: async () => ({ challenge: { header: 'Payment id="1"' } }) } } as unknown as Client;
    const metered = { unitPrice: '0.00001', cap: '0.001', unitsMax: 3 };
    const GET = protect({ client, product: 'p1', metered }, (_request, access) => access.stream(['one']));
    const asked = await GET(new NextRequest(URL_PAID), {});
    expect([asked.status, asked.headers.get('WWW-Authenticate')]).toEqual([402, 'Payment id="1"']);
  });
});

describe('protectProxy for Next.js', () => {
  function openProxy(next: (request: NextRequest, access: Access) => Response = proceed) {
    const service = new FakeService();
    const proxy = protectProxy({ client: service.client({ maxRetries: 0 }), product: 'p1', onError: () => {} }, next);
    const held: Promise<unknown>[] = [];
    const event = { waitUntil: (work: Promise<unknown>) => void held.push(work) };
    return { service, held, ask: (request: NextRequest) => proxy(request, event) };
  }

  it('an unpaid request is answered by the proxy and does not proceed', async () => {
    const { ask } = openProxy();
    const refused = await ask(new NextRequest(URL_PAID));
    expect([refused.status, refused.headers.has('PAYMENT-REQUIRED'), refused.headers.has('x-middleware-next')]).toEqual([402, true, false]);
  });

  it('a paid request proceeds once, with the payment headers on the answer', async () => {
    const { ask, service } = openProxy();
    const answer = await ask(paying('pay:bob:1'));
    expect([answer.headers.get('x-middleware-next'), answer.headers.has('PAYMENT-RESPONSE'), answer.headers.get('Cache-Control')]).toEqual([
      '1',
      true,
      'private, max-age=60',
    ]);
    expect([(await ask(paying('pay:bob:1'))).status, service.openUses]).toEqual([409, 1]);
  });

  it('an answer is never stored, because it is not that of the page', async () => {
    const options = { client: new FakeService().client(), product: 'p1', responses: memoryResponses() };
    // @ts-expect-error A proxy has no such option.
    const proxy = protectProxy(options, proceed);
    const payment = identified('pay:bob:1', 'order_4711_of_bob');
    const ask = () => proxy(paying(payment), { waitUntil: () => {} });
    expect((await ask()).headers.get('x-middleware-next')).toBe('1');
    expect((await ask()).status).toBe(409);
  });

  it('a proxy that throws is refunded, and a failed refund goes on in waitUntil of its event', async () => {
    const { ask, service, held } = openProxy(() => {
      throw new Error('rewrite failed');
    });
    await expect(ask(paying('pay:bob:1'))).rejects.toThrow('rewrite failed');
    expect(service.openUses).toBe(0);
    service.faults.push(null, 'unreachable');
    await expect(ask(paying('pay:bob:2'))).rejects.toThrow('rewrite failed');
    expect(held.length).toBe(1);
    await Promise.all(held);
    expect(service.openUses).toBe(0);
  });
});
