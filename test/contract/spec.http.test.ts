import { expect, it } from 'vitest';
import { NETWORKS } from '#solana/assets.ts';
import { ofDeployment } from '../../worker/published/reference/of-deployment.ts';
import { publishedDocument } from '../support/clients/call.ts';
import { World } from '../support/world.ts';
import { builtRoutes, fill, nameOf, notBuiltYet, routes } from './spec-routes.ts';

it('the service serves the document that it was built with', async () => {
  const served = await new World().call('GET', '/v1/openapi.json');
  const built = ofDeployment(publishedDocument, {
    baseUrl: 'https://svc.test',
    operator: null,
    usdcMint: NETWORKS.devnet.usdcMint,
    chainHeader: 'Rpc-Signature',
  });
  expect(served.body).toEqual(JSON.parse(JSON.stringify(built)));
  expect(served.body.servers).toEqual([{ url: 'https://svc.test', description: 'This deployment' }]);
});

it('unbuilt routes answer 404, or 405 if another method of the path is built', async () => {
  const w = new World();
  const built = new Set(builtRoutes.map(({ path }) => path));
  const answers = await Promise.all(
    routes
      .filter((route) => notBuiltYet.has(nameOf(route)))
      .map(async (route) => ({ route, status: (await w.call(route.method, fill(route.path))).status })),
  );
  for (const { route, status } of answers) expect(status, nameOf(route)).toBe(built.has(route.path) ? 405 : 404);
});
