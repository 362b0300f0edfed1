import { describe, expect, it } from 'vitest';
import { protectedHandler, readCode } from './protected.ts';

describe.concurrent('protect() during an outage', () => {
  const outages = [
    ['unreachable', 'unreachable'],
    ['silent', 'late'],
    ['broken', { status: 502, body: '<h1>Bad gateway</h1>' }],
  ] as const;
  /** A buyer or a revoked key could cause these answers, so they must not open access. */
  const answers = [
    ['overloaded', { status: 429, body: { code: 'rate_limited', retryable: true }, headers: { 'Retry-After': '30' } }],
    ['refusing our key', { status: 401, body: { code: 'invalid_authorization' } }],
  ] as const;

  it.each([...outages, ...answers])('a service that is %s fails closed by default', async (_what, fault) => {
    for (const headers of [{}, { 'PAYMENT-SIGNATURE': 'pay:bob:1' }] as Record<string, string>[]) {
      const { ask, service, served, errors } = protectedHandler();
      service.faults.push(fault, fault, fault);
      const response = await ask(headers);
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('Retry-After'))).toBeGreaterThan(0);
      expect(response.headers.has('PAYMENT-REQUIRED')).toBe(false);
      expect(await readCode(response)).toBe('access_unavailable');
      expect(served).toEqual([]);
      expect(errors.length).toBe(1);
    }
  });

  it.each(outages)('a service that is %s fails open only with failOpen', async (_what, fault) => {
    const { ask, service, served } = protectedHandler({ failOpen: true });
    service.faults.push(fault, fault, fault);
    expect((await ask()).status).toBe(200);
    expect(served[0]).toMatchObject({ isFailOpen: true, consumptionId: null, units: 0 });
    service.faults.length = 0;
    expect((await ask()).status, 'a verdict is still a verdict').toBe(402);
  });

  it.each(answers)('a service that is %s fails closed even with failOpen', async (_what, fault) => {
    for (const headers of [{}, { 'PAYMENT-SIGNATURE': 'pay:bob:1' }] as Record<string, string>[]) {
      const { ask, service, served } = protectedHandler({ failOpen: true });
      service.faults.push(fault);
      const response = await ask(headers);
      expect([response.status, await readCode(response)]).toEqual([503, 'access_unavailable']);
      expect(response.headers.get('Retry-After')).toBe(fault.status === 429 ? '30' : '5');
      expect(served).toEqual([]);
    }
  });

  it('a last answer of the service fails closed even with failOpen, whatever failed before it', async () => {
    const { pay, service, served } = protectedHandler({ failOpen: true });
    service.faults.push('lost', answers[0][1]);
    expect((await pay('pay:bob:1')).status).toBe(503);
    expect((await pay('pay:bob:1')).status, 'and the lost answer is found again').toBe(200);
    expect([served.length, service.openUses]).toEqual([1, 1]);
  });

  it('the merchant’s own mistakes fail closed, even with failOpen', async () => {
    for (const units of [0, -1, 1.5, Number.NaN]) {
      const { ask, served, errors } = protectedHandler({ units, failOpen: true });
      expect((await ask()).status).toBe(503);
      expect(served).toEqual([]);
      expect(errors.length).toBe(1);
    }
    const { ask, served } = protectedHandler({
      failOpen: true,
      customer: () => {
        throw new Error('session store is down');
      },
    });
    expect((await ask()).status).toBe(503);
    expect(served).toEqual([]);
  });
});
