import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  checkL2ForOpenAPI,
  getL3ForOpenAPI,
  getOpenAPI,
  getWarningsForL2,
  getWarningsForOpenAPI,
  isOpenApiParseFailure,
} from '@agentcash/discovery';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { beforeAll, expect, it } from 'vitest';
import { readDocument } from '../../sdk/generate.ts';

/** Accepted findings, because the specification fixes the paths and the redirect: ids are UUIDs, and a provider's callback redirects. */
const ACCEPTED = [
  'no-ambiguous-paths /v1/products/{product_id}/archive',
  'no-ambiguous-paths /v1/products/{product_id}/handoffs',
  'no-ambiguous-paths /v1/products/{product_id}/unarchive',
  'operation-2xx-response /v1/auth/oauth/{provider}/callback',
];

const ROOT = join(import.meta.dirname, '../..');
/** By a name the compiler does not follow: the worker's types are another platform's. */
const OF_DEPLOYMENT = new URL('../../worker/published/reference/of-deployment.ts', import.meta.url).pathname;

let text: string;
beforeAll(async () => {
  const document = (await readDocument()) as { info: object };
  const { ofDeployment } = await import(OF_DEPLOYMENT);
  const operator = { name: 'Svc', url: 'https://svc.dev' };
  const [usdcMint, chainHeader] = ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'Rpc-Signature'];
  text = JSON.stringify(ofDeployment(document, { baseUrl: 'https://pay.svc.dev', operator, usdcMint, chainHeader }));
}, 60_000);

it('the installed redocly is version 2, not an older one of other packages', () => {
  const manifest = new URL('../../node_modules/@redocly/openapi-core/package.json', import.meta.url);
  expect(JSON.parse(readFileSync(manifest, 'utf8')).version).toMatch(/^2\./);
});

it('redocly’s recommended rules find only what the specification requires', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
  const found = problems.map(({ ruleId, location, message }) => {
    const path = /^#\/paths\/([^/]+)/.exec(location[0]?.pointer ?? '')?.[1]?.replaceAll('~1', '/');
    return path === undefined ? `${ruleId} ${location[0]?.pointer}: ${message}` : `${ruleId} ${path}`;
  });
  expect(found.toSorted()).toEqual(ACCEPTED);
}, 60_000);

it('spectral’s OpenAPI rules find nothing', async () => {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[rulesets.oas as RulesetDefinition, 'recommended']] });
  const problems = await linter.run(text);
  expect(problems.map(({ code, path, message }) => `${code} ${path.join('/')}: ${message}`)).toEqual([]);
}, 60_000);

it('mppx validates the payment discovery of the document without an error', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'openapi-')), 'openapi.json');
  writeFileSync(file, text);
  const said = execFileSync(join(ROOT, 'node_modules/.bin/mppx'), ['discover', 'validate', file], { encoding: 'utf8' });
  rmSync(dirname(file), { recursive: true });
  expect(said).toContain('Discovery document is valid');
  expect(said).not.toContain('[error]');
}, 60_000);

it('agentcash reads every operation, and the protocol that pays for each', async () => {
  const server = createServer((_request, response) => response.setHeader('content-type', 'application/json').end(text));
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening));
  const source = (await getOpenAPI(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))._unsafeUnwrap();
  server.close();
  if (source === null || isOpenApiParseFailure(source)) throw new Error('agentcash cannot read the document');
  expect(source.routes.length).toBeGreaterThan(140);
  const warnings = [...getWarningsForOpenAPI(source), ...getWarningsForL2(checkL2ForOpenAPI(source))];
  expect(warnings.filter(({ severity }) => severity === 'error')).toEqual([]);
  const protocolsOf = (path: string) => getL3ForOpenAPI(source, path, 'POST')?.protocols;
  expect(protocolsOf('/v1/access/metered-sessions/{session_id}/authorize')).toEqual(['mpp']);
  expect(protocolsOf('/v1/access/x402/activate/growth')).toEqual(['x402']);
});
