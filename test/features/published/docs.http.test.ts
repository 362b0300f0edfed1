import { createExecutionContext } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import assetHeaders from '../../../dist/assets/_headers?raw';
import worker from '../../../worker/index.ts';
import { World } from '../../support/world.ts';

const w = new World();
const get = (path: string) => worker.fetch(new Request(`https://svc.test${path}`), w.env, createExecutionContext());

describe.each(['/v1/docs', '/v1/redoc'])('%s', (path) => {
  it('the page loads only own assets and the own document', async () => {
    const response = await get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const html = await response.text();
    expect(html).not.toMatch(/https?:|\/\/[a-z]/i);
    const scripts = [...html.matchAll(/<script src="([^"]+)"/g)].map(([, source]) => source);
    expect(scripts).toHaveLength(2);
    for (const source of scripts) expect(source).toMatch(/^\/assets\/[\w.-]+-[0-9a-f]{8}\.js$/);
    expect(html).toContain('/v1/openapi.json');
  });

  it('the content security policy forbids foreign hosts and inline scripts', async () => {
    const policy = (await get(path)).headers.get('content-security-policy')!;
    const directives = Object.fromEntries(policy.split('; ').map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1)]));
    expect(directives).toMatchObject({
      'default-src': ["'none'"],
      'script-src': ["'self'"],
      'connect-src': ["'self'"],
      'base-uri': ["'none'"],
      'form-action': ["'none'"],
      'frame-ancestors': ["'none'"],
    });
    expect(policy).not.toMatch(/https?:|\*|unsafe-eval/);
  });

  it('the page names existing assets, which are cached as immutable', async () => {
    const html = await (await get(path)).text();
    const laidOut = Object.keys(import.meta.glob('../../../dist/assets/assets/*.js')).map((file) =>
      file.replace(/^.*\/assets\/assets/, '/assets'),
    );
    for (const [, source] of html.matchAll(/<script src="([^"]+)"/g)) expect(laidOut).toContain(source);
    expect(assetHeaders).toMatch(/^\/assets\/\*\n {2}Cache-Control: public, max-age=31536000, immutable\n/);
  });
});
