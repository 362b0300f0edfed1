import { describe, expect, it } from 'vitest';
import { builtRoutes, fill, nameOf } from '../../contract/spec-routes.ts';
import { World } from '../../support/world.ts';

/** Kinds of authentication that do not identify an account. */
const PUBLIC = ['none', 'session', 'viewer', 'signature', 'connector_secret', 'setup_secret', 'proof'];

describe('rate limit per address on public routes', () => {
  const w = new World();
  let addresses = 0;
  const publicRoutes = builtRoutes.filter(({ auth }) => PUBLIC.includes(auth));

  it('the tested list has more than 25 public routes', () => expect(publicRoutes.length).toBeGreaterThan(25));

  it.each(publicRoutes.map((route) => [nameOf(route), route] as const))(
    '%s is 429 above the limit of the address',
    async (_name, route) => {
      // Limits an address to one call per minute.
      const env = { ...w.env, RATE_MULTIPLIER: '0.0001' };
      const headers = { 'CF-Connecting-IP': `192.0.2.${++addresses}` };
      const call = () => w.call(route.method, fill(route.path), { env, headers, ...(route.method === 'GET' ? {} : { body: {} }) });
      await w.call('GET', '/v1/products/p/any', { env, headers });
      const { status, headers: answered } = await call();
      expect([status, Number(answered.get('Retry-After')) >= 1]).toEqual([429, true]);
    },
  );
});
