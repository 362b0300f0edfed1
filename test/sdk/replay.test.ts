import { describe, expect, it } from 'vitest';
import { codeOf, protectedHandler } from './protected.ts';

const ada = { customer_ref: 'ada' };
const key = { 'Idempotency-Key': 'caller-key-1' };

function handlerOfAda(units: number, options: Parameters<typeof protectedHandler>[0] = {}) {
  const one = protectedHandler({ customer: () => ada, ...options });
  one.service.balances.set(JSON.stringify(ada), units);
  return one;
}

describe.concurrent('a known customer’s request under the caller’s own key', () => {
  it.each(['unreachable', 'lost', 'late'] as const)(
    'is never served twice: another process, whose first attempt is %s, does not take the replay for its own',
    async (fault) => {
      const { ask, service, served, open } = handlerOfAda(9);
      expect((await ask(key)).status).toBe(200);
      service.faults.push(fault);
      const again = await ask(key, open());
      expect([again.status, await codeOf(again)]).toEqual([409, 'request_replayed']);
      expect([served.length, service.standingUses]).toEqual([1, 1]);
    },
  );

  it.each(['unreachable', 'lost', 'late'] as const)('is served, for one unit, although its first attempt is %s', async (fault) => {
    const { ask, service, served } = handlerOfAda(9);
    service.faults.push(fault);
    expect((await ask(key)).status).toBe(200);
    expect([served.length, service.standingUses]).toEqual([1, 1]);
    expect((await ask(key)).status).toBe(409);
  });

  it('whose answer was lost for good is served once when it comes back to the same process, and never by another', async () => {
    const { ask, service, served, open } = handlerOfAda(9);
    service.faults.push('lost', 'late', 'unreachable');
    expect((await ask(key)).status).toBe(503);
    expect((await ask(key, open())).status).toBe(409);
    expect((await ask(key)).status).toBe(200);
    expect((await ask(key)).status).toBe(409);
    expect([served.length, service.standingUses]).toEqual([1, 1]);
  });

  it('is served at most once, and for at most one unit, whatever gets lost between two processes', async () => {
    const stories = Array.from({ length: 30 }, async (_, seed) => {
      const { ask, served, service, open } = handlerOfAda(99);
      const processes = [open(), open()];
      for (let i = 0; i < 10; i++) service.faults.push((['lost', null, 'unreachable', 'late', null] as const)[(seed * 7 + i * i) % 5]!);
      const asked = await Promise.all(Array.from({ length: 6 }, (_, i) => ask(key, processes[i % 2])));
      for (let i = 0; i < 4; i++) asked.push(await ask(key, processes[i % 2]));
      return { served: served.length, uses: service.standingUses, story: asked.map(({ status }) => status) };
    });
    for (const { served, uses, story } of await Promise.all(stories)) {
      expect(served, `${story}`).toBeLessThanOrEqual(1);
      expect(uses, `${story}`).toBeLessThanOrEqual(1);
    }
  });

  it('that was given back works again in its process, time and again; in another it needs a new key, and no unit is lost', async () => {
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

  it('is a different request with another path, and no key is shared with it', async () => {
    const { service, open } = handlerOfAda(9);
    const app = open();
    for (const path of ['a', 'b']) {
      expect((await app(new Request(`https://weather.test/${path}`, { headers: key }))).status).toBe(200);
    }
    expect(new Set(service.keysOf('/consume')).size).toBe(2);
    expect(service.keysOf('/consume').every((sent) => /^[0-9a-f]{64}$/.test(sent!))).toBe(true);
  });

  it('is denied with a challenge that shows nothing of how we tell requests apart', async () => {
    const resource = { url: 'https://weather.test/forecast', description: 'A forecast' };
    const { ask, service } = handlerOfAda(0, { resource });
    const response = await ask(key);
    expect(response.status).toBe(402);
    const { url } = service.seen[0]!.body.resource as { url: string };
    expect(url).toMatch(/^https:\/\/weather\.test\/forecast#[0-9a-f-]{36}$/);
    expect(atob(response.headers.get('PAYMENT-REQUIRED')!)).not.toContain('#');
  });

  it('is served again by `onReplay: serve`, and its one use is never given back for a repeat that may be another’s', async () => {
    const { ask, service, state, open } = handlerOfAda(9, { onReplay: 'serve' });
    expect((await ask(key)).status).toBe(200);
    state.handler = () => new Response('oops', { status: 500 });
    service.faults.push('unreachable');
    expect((await ask(key, open())).status).toBe(500);
    expect(service.standingUses).toBe(1);
  });
});
