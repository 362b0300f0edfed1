import { describe, expect, it } from 'vitest';
import { createClient } from '../../sdk/src/index.ts';
import { protectedHandler, readCode } from './protected.ts';

const ada = { customer_ref: 'ada' };
const key = { 'Idempotency-Key': 'caller-key-1' };

function handlerOfAda(units: number, options: Parameters<typeof protectedHandler>[0] = {}) {
  const one = protectedHandler({ customer: () => ada, ...options });
  one.service.balances.set(JSON.stringify(ada), units);
  return one;
}

describe.concurrent('known customer with an own Idempotency-Key', () => {
  it.each(['unreachable', 'lost', 'late'] as const)(
    'a second process does not serve the request again if its first attempt is %s',
    async (fault) => {
      const { ask, service, served, open } = handlerOfAda(9);
      expect((await ask(key)).status).toBe(200);
      service.faults.push(fault);
      const again = await ask(key, open());
      expect([again.status, await readCode(again)]).toEqual([409, 'request_replayed']);
      expect([served.length, service.openUses]).toEqual([1, 1]);
    },
  );

  it.each(['unreachable', 'lost', 'late'] as const)('a request is served for one unit if its first attempt is %s', async (fault) => {
    const { ask, service, served } = handlerOfAda(9);
    service.faults.push(fault);
    expect((await ask(key)).status).toBe(200);
    expect([served.length, service.openUses]).toEqual([1, 1]);
    expect((await ask(key)).status).toBe(409);
  });

  it('a request with a lost answer is served once by the same process, and by no other', async () => {
    const { ask, service, served, open } = handlerOfAda(9);
    service.faults.push('lost', 'late', 'unreachable');
    expect((await ask(key)).status).toBe(503);
    expect((await ask(key, open())).status).toBe(409);
    expect((await ask(key)).status).toBe(200);
    expect((await ask(key)).status).toBe(409);
    expect([served.length, service.openUses]).toEqual([1, 1]);
  });

  it('a request with a lost answer is served later, although another one under its key was in progress meanwhile', async () => {
    let fetchSlowly = (_request: Request): Promise<Response> => Promise.reject(new Error('not open'));
    const fetch = (request: Request) => fetchSlowly(request);
    const client = createClient({ baseUrl: 'https://svc.test', key: 'svc_live_x', timeoutMs: 300, maxRetries: 0, fetch });
    const { ask, service, served } = handlerOfAda(9, { client });
    const inProgress = { code: 'idempotency_in_progress', detail: '', retryable: true, meta: {} };
    service.faults.push('late', { status: 409, body: inProgress });
    fetchSlowly = async (request) => {
      const answer = await service.fetch(request);
      if (answer.status === 409) await new Promise((resolve) => setTimeout(resolve, 250));
      return answer;
    };
    const lost = ask(key);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const [first, second] = await Promise.all([lost, ask(key)]);
    expect([first.status, second.status, await readCode(second)]).toEqual([503, 409, 'idempotency_in_progress']);
    expect([(await ask(key)).status, served.length, service.openUses]).toEqual([200, 1, 1]);
  });

  it('a request is served at most once for at most one unit, whatever answers are lost between two processes', async () => {
    const runs = Array.from({ length: 30 }, async (_, seed) => {
      const { ask, served, service, open } = handlerOfAda(99);
      const processes = [open(), open()];
      for (let i = 0; i < 10; i++) service.faults.push((['lost', null, 'unreachable', 'late', null] as const)[(seed * 7 + i * i) % 5]!);
      const asked = await Promise.all(Array.from({ length: 6 }, (_, i) => ask(key, processes[i % 2])));
      for (let i = 0; i < 4; i++) asked.push(await ask(key, processes[i % 2]));
      return { served: served.length, uses: service.openUses, story: asked.map(({ status }) => status) };
    });
    for (const { served, uses, story: statuses } of await Promise.all(runs)) {
      expect(served, `${statuses}`).toBeLessThanOrEqual(1);
      expect(uses, `${statuses}`).toBeLessThanOrEqual(1);
    }
  });

  it('a refunded request works again in its process, and needs a new key in another', async () => {
    const { ask, service, state, open } = handlerOfAda(1);
    state.handler = () => new Response('oops', { status: 503 });
    for (let i = 0; i < 3; i++) expect((await ask(key)).status).toBe(503);
    expect(service.balances.get(JSON.stringify(ada))).toBe(1);
    state.handler = () => new Response('sunny');
    const other = open();
    expect((await ask(key, other)).status).toBe(409);
    expect((await ask({ 'Idempotency-Key': 'caller-key-2' }, other)).status).toBe(200);
    service.balances.set(JSON.stringify(ada), 1);
    expect((await ask(key)).status).toBe(200);
    expect((await ask(key)).status).toBe(409);
  });

  it('the same key on another path is another request', async () => {
    const { service, open } = handlerOfAda(9);
    const app = open();
    for (const path of ['a', 'b']) {
      expect((await app(new Request(`https://weather.test/${path}`, { headers: key }))).status).toBe(200);
    }
    expect(new Set(service.keysOf('/consume')).size).toBe(2);
    expect(service.keysOf('/consume').every((sent) => /^[0-9a-f]{64}$/.test(sent!))).toBe(true);
  });

  it('a denial’s challenge does not contain the request fingerprint', async () => {
    const resource = { url: 'https://weather.test/forecast', description: 'A forecast' };
    const { ask, service } = handlerOfAda(0, { resource });
    const response = await ask(key);
    expect(response.status).toBe(402);
    const { url } = service.seen[0]!.body.resource as { url: string };
    expect(url).toMatch(/^https:\/\/weather\.test\/forecast#[0-9a-f-]{36}$/);
    expect(atob(response.headers.get('PAYMENT-REQUIRED')!)).not.toContain('#');
  });

  it('onReplay: serve serves a replay, and a failing replay is not refunded', async () => {
    const { ask, service, state, open } = handlerOfAda(9, { onReplay: 'serve' });
    expect((await ask(key)).status).toBe(200);
    state.handler = () => new Response('oops', { status: 500 });
    service.faults.push('unreachable');
    expect((await ask(key, open())).status).toBe(500);
    expect(service.openUses).toBe(1);
  });
});
