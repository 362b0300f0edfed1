import { describe, expect, it } from 'vitest';
import { codeOf, shop } from './shop.ts';

describe.concurrent('when the service is away', () => {
  const outages = [
    ['unreachable', 'unreachable'],
    ['silent', 'late'],
    ['broken', { status: 502, body: '<h1>Bad gateway</h1>' }],
    ['overloaded', { status: 429, body: { code: 'rate_limited', retryable: true }, headers: { 'Retry-After': '30' } }],
    ['refusing our key', { status: 401, body: { code: 'invalid_authorization' } }],
  ] as const;

  it.each(outages)('fails closed: %s', async (_what, fault) => {
    for (const headers of [{}, { 'PAYMENT-SIGNATURE': 'pay:bob:1' }] as Record<string, string>[]) {
      const { ask, service, served, errors } = shop();
      service.faults.push(fault, fault, fault);
      const response = await ask(headers);
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
      expect(response.headers.has('PAYMENT-REQUIRED')).toBe(false);
      expect(await codeOf(response)).toBe('access_unavailable');
      expect(served).toEqual([]);
      expect(errors.length).toBe(1);
    }
  });

  it.each(outages)('fails open only where the merchant chose so: %s', async (_what, fault) => {
    const { ask, service, served } = shop({ failOpen: true });
    service.faults.push(fault, fault, fault);
    expect((await ask()).status).toBe(200);
    expect(served[0]).toMatchObject({ isFailOpen: true, consumptionId: null, units: 0 });
    service.faults.length = 0;
    expect((await ask()).status, 'a verdict is still a verdict').toBe(402);
  });

  it('fails closed on the merchant’s own mistakes, even with failOpen', async () => {
    for (const units of [0, -1, 1.5, Number.NaN]) {
      const { ask, served, errors } = shop({ units, failOpen: true });
      expect((await ask()).status).toBe(503);
      expect(served).toEqual([]);
      expect(errors.length).toBe(1);
    }
    const { ask, served } = shop({
      failOpen: true,
      customer: () => {
        throw new Error('session store is down');
      },
    });
    expect((await ask()).status).toBe(503);
    expect(served).toEqual([]);
  });
});
