import { afterEach, describe, expect, it, vi } from 'vitest';
import { present } from '../../sdk/src/access/present.ts';
import { paymentRequired } from '../../sdk/src/access/refusals.ts';
import { protectedHandler } from './protected.ts';

const CHALLENGE = {
  x402Version: 2,
  resource: { url: 'https://weather.test/forecast', description: 'A <b>forecast</b>' },
  accepts: [
    {
      scheme: 'exact',
      network: 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
      asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
      amount: '10000',
      payTo: 'w',
    },
  ],
};
const header = (value: object) => btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(value))));
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

describe('402 response', () => {
  it('the body repeats the challenge of the header', async () => {
    const { ask } = protectedHandler();
    const response = await ask();
    expect(response.headers.get('Content-Type')).toBe('application/json');
    const body = (await response.json()) as { code: string; payment_required: unknown };
    expect(body.code).toBe('entitlement_missing');
    expect(body.payment_required).toEqual(JSON.parse(atob(response.headers.get('PAYMENT-REQUIRED')!)));
  });

  it('a browser gets a page with the price and the header, and seller texts are escaped', () => {
    const { body, headers } = present(paymentRequired(header(CHALLENGE), 'entitlement_missing', 'Pay.'), BROWSER);
    expect(headers['Content-Type']).toBe('text/html; charset=utf-8');
    expect(headers['PAYMENT-REQUIRED']).toBe(header(CHALLENGE));
    expect(headers.Vary).toBe('Accept');
    expect(body).toContain('<strong>0.01 USDC on Solana devnet (test money)</strong>');
    expect(body).toContain('A &lt;b&gt;forecast&lt;/b&gt;');
    expect(body).not.toContain('<b>');
  });

  it.each(['*/*', 'application/json', null])('a client that accepts %s gets JSON', (accept) => {
    const { headers } = present(paymentRequired(header(CHALLENGE), 'entitlement_missing', 'Pay.'), accept);
    expect(headers['Content-Type']).toBe('application/json');
  });

  it.each([
    ['1', '0.000001 USDC'],
    ['12500000', '12.50 USDC'],
    ['123456789', '123.456789 USDC'],
  ])('an amount of %s base units is shown as %s', (amount, shown) => {
    const challenge = { ...CHALLENGE, accepts: [{ ...CHALLENGE.accepts[0], amount }] };
    expect(present(paymentRequired(header(challenge), 'c', 'd'), 'text/html').body).toContain(`<strong>${shown} on Solana devnet`);
  });

  it('an unknown token or an unreadable header shows no price', () => {
    const unknown = { ...CHALLENGE, accepts: [{ ...CHALLENGE.accepts[0], asset: 'another' }] };
    for (const one of [header(unknown), 'not base64!']) {
      const { body } = present(paymentRequired(one, 'entitlement_missing', 'Pay.'), BROWSER);
      expect(body).not.toContain('USDC');
      expect(body).toContain('entitlement_missing');
    }
  });
});

describe('protect() without onError', () => {
  afterEach(() => vi.restoreAllMocks());

  it('a failure that the merchant must fix is logged once per kind', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { ask, service } = protectedHandler({ onError: undefined });
    service.isPayable = false;
    for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(503);
    expect(said.mock.calls.filter(([line]) => String(line).includes('entitlement_missing'))).toHaveLength(1);
    expect(String(said.mock.calls[0]![0])).toMatch(/^@paylatch\/sdk protect: .+ \(reported once; set onError/);
  });

  it('a failure of the buyer is not logged', async () => {
    const said = vi.spyOn(console, 'error').mockImplementation(() => undefined);
    const { ask } = protectedHandler({ onError: undefined });
    expect((await ask()).status).toBe(402);
    expect(said).not.toHaveBeenCalled();
  });
});
