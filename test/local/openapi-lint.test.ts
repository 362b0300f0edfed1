import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { beforeAll, expect, it } from 'vitest';
import { readDocument } from '../../sdk/generate.ts';
import { ofDeployment } from '../../worker/published/reference/of-deployment.ts';

/** What stays, because the paths and the redirect are the specification’s: an id is a UUID and never `p`, and a provider’s callback leads on. */
const ACCEPTED = [
  'no-ambiguous-paths /v1/products/{product_id}/archive',
  'no-ambiguous-paths /v1/products/{product_id}/handoffs',
  'no-ambiguous-paths /v1/products/{product_id}/unarchive',
  'operation-2xx-response /v1/auth/oauth/{provider}/callback',
];

let text: string;
beforeAll(async () => {
  const document = (await readDocument()) as { info: object };
  text = JSON.stringify(ofDeployment(document, 'https://pay.svc.dev', { name: 'Svc', url: 'https://svc.dev' }));
}, 60_000);

it('is read by the major of redocly that is current, not by an earlier one that other packages bring', () => {
  const manifest = new URL('../../node_modules/@redocly/openapi-core/package.json', import.meta.url);
  expect(JSON.parse(readFileSync(manifest, 'utf8')).version).toMatch(/^2\./);
});

it('is a document in which redocly’s recommended rules find nothing but what the specification asks for', async () => {
  const config = await createConfig({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
  const found = problems.map(({ ruleId, location, message }) => {
    const path = /^#\/paths\/([^/]+)/.exec(location[0]?.pointer ?? '')?.[1]?.replaceAll('~1', '/');
    return path === undefined ? `${ruleId} ${location[0]?.pointer}: ${message}` : `${ruleId} ${path}`;
  });
  expect(found.toSorted()).toEqual(ACCEPTED);
}, 60_000);

it('is a document in which spectral’s rules for OpenAPI find nothing', async () => {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[rulesets.oas as RulesetDefinition, 'recommended']] });
  const problems = await linter.run(text);
  expect(problems.map(({ code, path, message }) => `${code} ${path.join('/')}: ${message}`)).toEqual([]);
}, 60_000);
