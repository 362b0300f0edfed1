import { createExecutionContext } from 'cloudflare:test';
import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '#core/errors.ts';
import type { Env } from '#platform/context.ts';
import worker from '../../../worker/index.ts';
import { LETTERS } from '../../../worker/letters/letters.ts';
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

describe('the site of the service itself', () => {
  it('says at / what this is, and leads to a demo checkout, sign-in, docs and status', async () => {
    const { response, status, text } = await read('/', named.env);
    expect([status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    for (const href of ['/p/demo', '/login', '/docs', '/health', '/v1/docs', '/llms.txt']) expect(text).toContain(`href="${href}"`);
    expect(textOf(text)).toContain('It never holds money or keys.');
    expect(text).toContain('Svc &lt;GmbH&gt;');
    expect(text).not.toContain('<meta name="robots"');
    expect(text).toContain('<meta property="og:title"');
  });

  it('leads to no demo checkout where the operator has named none', async () => {
    expect((await read('/')).text).not.toContain('href="/p/');
  });

  it('names at the foot of every page who runs it, where terms and privacy are, and where to report', async () => {
    for (const path of ['/', '/docs', '/login', '/p/nothing']) {
      const { text } = await read(path, named.env);
      for (const href of ['https://svc.example', 'https://svc.example/terms', 'https://svc.example/privacy', 'mailto:security@svc.example'])
        expect(text, path).toContain(`<a href="${href}"`);
      expect((await read(path)).text, path).not.toContain('svc.example');
    }
  });

  it('leads only to paths that exist', async () => {
    for (const path of ['/', '/docs', '/docs/errors', '/docs/errors/not_found']) {
      const { text } = await read(path);
      const links = [...text.matchAll(/href="(\/[^"#]*)(?:#[^"]*)?"/g)].map(([, link]) => link!);
      expect(links.length).toBeGreaterThan(0);
      for (const link of new Set(links)) expect([link, (await read(link)).status]).toEqual([link, 200]);
    }
  });

  it('lists error codes by status, and lets the keyboard scroll every block of code', async () => {
    const { text } = await read('/docs/errors');
    const statuses = [...text.matchAll(/<h2 id="status-(\d{3})">/g)].map(([, status]) => Number(status));
    expect(statuses).toEqual([...new Set(Object.values(ERRORS).map(({ status }) => status))].toSorted((a, b) => a - b));
    for (const path of ['/docs', '/docs/errors/not_found']) expect((await read(path)).text).not.toContain('<pre>');
  });

  it('finds error codes by words of their names or of what is said of them, without a script, and shows no markup that was asked for', async () => {
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
    expect((await read('/docs')).response.headers.get('content-security-policy')).toContain("form-action 'none'");
  });

  it('has a section for every anchor that an e-mail leads to, and names there only calls that exist', async () => {
    const anyFacts = new Proxy({}, { get: () => 'x' });
    const links = Object.values(LETTERS).map((letter) =>
      (letter.path as ((facts: object, token: string) => string) | undefined)?.(anyFacts, 'x'),
    );
    const paths = links.flatMap((link) => (link?.startsWith('/docs#') ? [link.slice('/docs#'.length)] : []));
    const { text } = await read('/docs');
    expect(new Set(paths)).toEqual(new Set(['not-you', 'unmatched', 'refunded', 'endpoints', 'plan', 'tickets']));
    for (const anchor of paths) expect(text).toContain(`<h2 id="${anchor}">`);
    const called = [...text.matchAll(/<code>((?:GET|POST|PUT|PATCH|DELETE) \/v1\/[^<?]+)/g)].map(([, call]) => call);
    expect(called.length).toBeGreaterThan(10);
    expect(called.filter((call) => !builtRoutes.map(nameOf).includes(call!))).toEqual([]);
  });

  it('has what the email about a new payout wallet leads to: calls that set it back, end keys and end sessions', async () => {
    const [page, anchor] = '/docs#not-you'.split('#') as [string, string];
    const { text } = await read(page);
    const section = text.slice(text.indexOf(`<h2 id="${anchor}">`)).replaceAll(/<[^>]+>/g, '');
    for (const call of ['PUT /v1/access/rail-settings/{rail_id}', 'DELETE /v1/keys/{key_id}', 'PATCH /v1/account/me/security']) {
      expect(section).toContain(call);
      expect(builtRoutes.map(nameOf)).toContain(call);
    }
  });

  it('names no page for what only the API can do', async () => {
    expect((await read('/docs/errors/plan_limit_reached')).text).toContain('POST /v1/billing/checkout/processor');
    expect((await read('/')).text).toContain('with one call of the API');
  });

  it('keeps search engines away from buyers, accounts and the API, and lets them read the reference', async () => {
    const { response, text } = await read('/robots.txt');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    const allowed = ['Allow: /v1/docs', 'Allow: /v1/openapi.json'];
    const kept = ['Disallow: /v1/', 'Disallow: /r/', 'Disallow: /dashboard', 'Disallow: /login', 'Disallow: /sign'];
    expect(text.split('\n')).toEqual(['User-agent: *', ...allowed, ...kept, '']);
  });

  it('names in security.txt a contact, and a day it is good until that is less than a year away (RFC 9116)', async () => {
    const { status, text } = await read('/.well-known/security.txt', named.env);
    expect(status).toBe(200);
    expect(text).toMatch(/^Contact: mailto:security@svc\.example$/m);
    expect(text).toMatch(/^Canonical: https:\/\/svc\.test\/\.well-known\/security\.txt$/m);
    const expires = Date.parse(/^Expires: (\S+)$/m.exec(text)![1]!);
    expect(expires).toBeGreaterThan(Date.now() + 90 * 86_400_000);
    expect(expires).toBeLessThan(Date.now() + 365 * 86_400_000);
  });

  it('shows its icon to browsers that look for it where they always do', async () => {
    const { status, response } = await read('/favicon.ico');
    expect([status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });
});

describe('the page of an error code', () => {
  it.each(Object.keys(ERRORS) as ErrorCode[])('says of %s what happened, why, what to do, and how it looks', async (code) => {
    const { status, text, response } = await read(`/docs/errors/${code}`);
    expect([status, response.headers.get('content-security-policy')]).toEqual([200, expect.stringContaining("default-src 'none'")]);
    const words = textOf(text);
    for (const part of ['What happened', ERRORS[code].message, 'Why', 'What to do', 'How it looks', `"code": "${code}"`])
      expect(words).toContain(part.replace(/\s+/g, ' '));
    expect(text).toContain(`Status ${ERRORS[code].status}.`);
    expect(text).toContain(`https://svc.test/docs/errors/${code}`);
  });

  it.each(['invalid_idempotency_key', 'request_timeout', 'connection_failed', 'unexpected_response'])(
    'shows a page for %s, which the SDK alone answers, and lists it',
    async (code) => {
      const { status, text } = await read(`/docs/errors/${code}`);
      expect([status, text.includes('What to do'), text.includes('From the SDK')]).toEqual([200, true, true]);
      expect((await read('/docs/errors')).text).toContain(`href="/docs/errors/${code}"`);
    },
  );

  it('is 404 for a code that does not exist, with the one that is nearest, and shows nothing of what was asked', async () => {
    const { status, text } = await read('/docs/errors/not_foudn');
    expect(status).toBe(404);
    expect(text).toContain('href="/docs/errors/not_found"');
    expect((await read('/docs/errors/%3Cscript%3Ealert(1)%3C%2Fscript%3E')).text).not.toMatch(/alert\(1\)/);
  });

  it('is listed with all others', async () => {
    const { text } = await read('/docs/errors');
    for (const code of Object.keys(ERRORS)) expect(text).toContain(`href="/docs/errors/${code}"`);
  });
});
