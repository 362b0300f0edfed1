import { expect, it } from 'vitest';
import { app } from '../../../worker/app.ts';
import { isInFront } from '../../../worker/critical-routes.ts';

const requestOf = ({ method, path }: { method: string; path: string }) =>
  new Request(`https://svc.test${path.replace(/:(\w+)(?:\{[^}]+\})?/g, 'some-$1').replace('*', 'rest')}`, { method });

it('critical routes are answered by the same route as in the full app', () => {
  const routes = app.routes.filter(({ method, path }) => method !== 'ALL' && !path.includes('*'));
  const inFront = routes.filter((route) => isInFront(requestOf(route)));
  expect([...new Set(inFront.map(({ method, path }) => `${method} ${path}`))]).toEqual([
    'POST /v1/access/entitlements/consume',
    'POST /v1/access/entitlements/grant',
    'POST /v1/access/entitlements/refund',
    'GET /v1/access/entitlements',
    'GET /v1/access/entitlements/:entitlement_id',
    'POST /v1/access/x402/settle',
  ]);
});

it('other methods and unknown paths near critical routes go to the full app', () => {
  for (const [method, path] of [
    ['DELETE', '/v1/access/entitlements'],
    ['HEAD', '/v1/access/entitlements'],
    ['POST', '/v1/access/entitlements/some-id'],
    ['GET', '/v1/access/entitlements/some-id/more'],
    ['GET', '/v1/access/entitlement'],
  ])
    expect(isInFront(requestOf({ method: method!, path: path! })), `${method} ${path}`).toBe(false);
});
