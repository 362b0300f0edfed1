import { expect, it } from 'vitest';
import { app } from '../../../worker/app.ts';
import { isInFront } from '../../../worker/front.ts';

const requestOf = ({ method, path }: { method: string; path: string }) =>
  new Request(`https://svc.test${path.replace(/:(\w+)(?:\{[^}]+\})?/g, 'some-$1').replace('*', 'rest')}`, { method });

it('a request that the first module answers is answered by the same route as among all routes', () => {
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

it('a path in front with another method, and a path that is nowhere, are refused by the app that knows all routes', () => {
  for (const [method, path] of [
    ['DELETE', '/v1/access/entitlements'],
    ['HEAD', '/v1/access/entitlements'],
    ['POST', '/v1/access/entitlements/some-id'],
    ['GET', '/v1/access/entitlements/some-id/more'],
    ['GET', '/v1/access/entitlement'],
  ])
    expect(isInFront(requestOf({ method: method!, path: path! })), `${method} ${path}`).toBe(false);
});
