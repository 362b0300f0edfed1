import { describe, expect, it } from 'vitest';
import { builtRoutes, fill, nameOf } from '../../contract/spec-routes.ts';
import { World } from '../../support/world.ts';

/** What is no account's call: it shows no credential, or one that says nothing of who calls. */
const PUBLIC = ['none', 'session', 'viewer', 'signature', 'connector_secret', 'setup_secret', 'proof'];

describe('the ceiling over an address', () => {
  const w = new World();
  let addresses = 0;
  const publicRoutes = builtRoutes.filter(({ auth }) => PUBLIC.includes(auth));

  it('knows the routes it is over', () => expect(publicRoutes.length).toBeGreaterThan(25));

  it.each(publicRoutes.map((route) => [nameOf(route), route] as const))('is over %s', async (_name, route) => {
    // One call in a minute is all an address has here.
    const env = { ...w.env, RATE_MULTIPLIER: '0.0001' };
    const headers = { 'CF-Connecting-IP': `192.0.2.${++addresses}` };
    const call = () => w.call(route.method, fill(route.path), { env, headers, ...(route.method === 'GET' ? {} : { body: {} }) });
    await w.call('GET', '/v1/products/p/any', { env, headers });
    const { status, headers: answered } = await call();
    expect([status, Number(answered.get('Retry-After')) >= 1]).toEqual([429, true]);
  });
});
