import { createExecutionContext } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '#core/errors.ts';
import type { Env } from '#platform/context.ts';
import worker from '../../../worker/index.ts';
import { builtRoutes, nameOf } from '../../contract/spec-routes.ts';
import { World } from '../../support/world.ts';

const w = new World();
const named = new World({
  OPERATOR_NAME: 'Svc <GmbH>',
  OPERATOR_URL: 'https://svc.example',
  OPERATOR_CONTACT: 'mailto:security@svc.example',
  TERMS_URL: 'https://svc.example/terms',
  PRIVACY_URL: 'https://svc.example/privacy',
  DEMO_SLUG: 'demo',
});
async function read(path: string, env: Env = w.env) {
  const response = await worker.fetch(new Request(`https://svc.test${path}`), env, createExecutionContext());
  return { response, status: response.status, text: await response.text() };
}
const textOf = (html: string): string =>
  html
    .replace(/<style[\s\S]*?<\/style>|<[^>]+>/g, ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .replace(/\s+/g, ' ');

describe('public site', () => {
  it('/ describes the service and links to the demo checkout, sign-in, docs and status', async () => {
    const { response, status, text } = await read('/', named.env);
    expect([status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const href of ['/p/demo', '/login', '/docs', '/health', '/v1/docs', '/llms.txt']) expect(text).toContain(`href="${href}"`);
    expect(textOf(text)).toContain('It never holds money or keys.');
    expect(text).toContain('Svc &lt;GmbH&gt;');
    expect(text).not.toContain('<meta name="robots"');
    expect(text).toContain('<meta property="og:title"');
  });

  it('/ has no demo checkout without DEMO_SLUG', async () => {
    expect((await read('/')).text).not.toContain('href="/p/');
  });

  it('every footer names the operator, terms, privacy and contact', async () => {
    for (const path of ['/', '/docs', '/login', '/p/nothing']) {
      const { text } = await read(path, named.env);
      for (const href of ['https://svc.example', 'https://svc.example/terms', 'https://svc.example/privacy', 'mailto:security@svc.example'])
        expect(text, path).toContain(`<a href="${href}"`);
      expect((await read(path)).text, path).not.toContain('svc.example');
    }
  });

  it('every link leads to an existing path', async () => {
    for (const path of ['/', '/docs', '/docs/errors', '/docs/errors/not_found']) {
      const { text } = await read(path);
      const hrefs = [...text.matchAll(/href="(\/[^"#]*)(?:#[^"]*)?"/g)].map(([, link]) => link!);
      // The platform serves assets, not the Worker.
      const links = hrefs.filter((link) => !link.startsWith('/assets/'));
      expect(links.length).toBeGreaterThan(0);
      for (const link of new Set(links)) {
        const { status, response } = await read(link);
        // A visitor without a session signs in first.
        if (link === '/dashboard') expect([status, response.headers.get('location')]).toEqual([303, '/login?next=%2Fdashboard']);
        else expect([link, status]).toEqual([link, 200]);
      }
    }
  });

  it('/docs/errors lists codes by status, and code blocks scroll by keyboard', async () => {
    const { text } = await read('/docs/errors');
    const statuses = [...text.matchAll(/<h2 id="status-(\d{3})">/g)].map(([, status]) => Number(status));
    expect(statuses).toEqual([...new Set(Object.values(ERRORS).map(({ status }) => status))].toSorted((a, b) => a - b));
    for (const path of ['/docs', '/docs/errors/not_found']) expect((await read(path)).text).not.toContain('<pre>');
  });

  it('the search of error codes works without a script and escapes its query', async () => {
    const codesIn = (text: string) => [...text.matchAll(/href="\/docs\/errors\/(\w+)"/g)].map(([, code]) => code);
    const all = codesIn((await read('/docs/errors')).text);
    const found = await read('/docs/errors?q=PLAN+limit');
    expect(codesIn(found.text)).toContain('plan_limit_reached');
    expect(codesIn(found.text).length).toBeLessThan(all.length / 4);
    expect(found.response.headers.get('content-security-policy')).toContain("form-action 'self'");
    const none = await read('/docs/errors?q=%3Cscript%3Enothing');
    expect(codesIn(none.text)).toEqual([]);
    expect(none.text).toContain('No error code has these words.');
    expect(none.text).not.toContain('<script>nothing');
  });

  it('/docs names only existing calls', async () => {
    const { text } = await read('/docs');
    const called = [...text.matchAll(/<code>((?:GET|POST|PUT|PATCH|DELETE) \/v1\/[^<?]+)/g)].map(([, call]) => call);
    expect(called.length).toBeGreaterThan(5);
    expect(called.filter((call) => !builtRoutes.map(nameOf).includes(call!))).toEqual([]);
  });

  it('/docs#not-you names the calls that reset a wallet, revoke keys and end sessions', async () => {
    const [page, anchor] = '/docs#not-you'.split('#') as [string, string];
    const { text } = await read(page);
    const section = text.slice(text.indexOf(`<h2 id="${anchor}">`)).replaceAll(/<[^>]+>/g, '');
    for (const call of ['PUT /v1/access/rail-settings/{rail_id}', 'DELETE /v1/keys/{key_id}', 'PATCH /v1/account/me/security']) {
      expect(section).toContain(call);
      expect(builtRoutes.map(nameOf)).toContain(call);
    }
  });

  it('pages name an API call for what has no page', async () => {
    expect((await read('/docs/errors/plan_limit_reached')).text).toContain('POST /v1/billing/checkout/processor');
    expect((await read('/')).text).toContain('with one call of the API');
  });

  it('robots.txt excludes buyers, accounts and the API, and allows the reference', async () => {
    const { response, text } = await read('/robots.txt');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    const allowed = ['Allow: /v1/docs', 'Allow: /v1/openapi.json'];
    const disallowed = ['Disallow: /v1/', 'Disallow: /r/', 'Disallow: /dashboard', 'Disallow: /login', 'Disallow: /sign'];
    expect(text.split('\n')).toEqual(['User-agent: *', ...allowed, ...disallowed, '']);
  });

  it('security.txt has a contact and expires within a year (RFC 9116)', async () => {
    const { status, text } = await read('/.well-known/security.txt', named.env);
    expect(status).toBe(200);
    expect(text).toMatch(/^Contact: mailto:security@svc\.example$/m);
    expect(text).toMatch(/^Canonical: https:\/\/svc\.test\/\.well-known\/security\.txt$/m);
    const expires = Date.parse(/^Expires: (\S+)$/m.exec(text)![1]!);
    expect(expires).toBeGreaterThan(Date.now() + 90 * 86_400_000);
    expect(expires).toBeLessThan(Date.now() + 365 * 86_400_000);
  });

  it('/favicon.ico is the SVG icon', async () => {
    const { status, response } = await read('/favicon.ico');
    expect([status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });
});

describe('page of an error code', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])('the page of %s explains the error, its cause, its fix and its body', async (code) => {
    const { status, text, response } = await read(`/docs/errors/${code}`);
    expect([status, response.headers.get('content-security-policy')]).toEqual([200, expect.stringContaining("default-src 'none'")]);
    const pageText = textOf(text);
    for (const part of ['What happened', ERRORS[code].message, 'Why', 'What to do', 'How it looks', `"code": "${code}"`])
      expect(pageText).toContain(part.replace(/\s+/g, ' '));
    expect(text).toContain(`Status ${ERRORS[code].status}.`);
    expect(text).toContain(`https://svc.test/docs/errors/${code}`);
  });

  it.each(['invalid_idempotency_key', 'request_timeout', 'connection_failed', 'unexpected_response'])(
    'the SDK error %s has a page and is listed',
    async (code) => {
      const { status, text } = await read(`/docs/errors/${code}`);
      expect([status, text.includes('What to do'), text.includes('From the SDK')]).toEqual([200, true, true]);
      expect((await read('/docs/errors')).text).toContain(`href="/docs/errors/${code}"`);
    },
  );

  it('an unknown code is 404 with the nearest one and without the requested text', async () => {
    const { status, text } = await read('/docs/errors/not_foudn');
    expect(status).toBe(404);
    expect(text).toContain('href="/docs/errors/not_found"');
    expect((await read('/docs/errors/%3Cscript%3Ealert(1)%3C%2Fscript%3E')).text).not.toMatch(/alert\(1\)/);
  });

  it('every error code is listed', async () => {
    const { text } = await read('/docs/errors');
    for (const code of Object.keys(ERRORS)) expect(text).toContain(`href="/docs/errors/${code}"`);
  });
});
