import { createExecutionContext } from 'cloudflare:test';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '#core/errors.ts';
import { PUBLIC_BUCKETS } from '#rules/plans.ts';
import worker from '../../../worker/index.ts';
import { World } from '../../support/world.ts';
import { QUESTIONS } from './questions.ts';

const PAGE_KB_MAX = 60;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

const w = new World();
const get = (path: string, { env = w.env, address = '203.0.113.7' } = {}) =>
  worker.fetch(
    new Request(`https://svc.test${path}`, { headers: { 'CF-Connecting-IP': address, Accept: 'text/html' } }),
    env,
    createExecutionContext(),
  );
const read = async (path: string) => (await get(path)).text();

const files = import.meta.glob<string>('../../../docs/**/*.md', { query: '?raw', import: 'default', eager: true });
const PAGES = Object.keys(files).map((path) => path.replace(/^.*\/docs\/(.*)\.md$/, '$1'));
const idsIn = (html: string): string[] => [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id!);
const hrefsIn = (html: string): string[] => [...html.matchAll(/ href="([^"]+)"/g)].map(([, href]) => href!.replaceAll('&#x26;', '&'));

interface Item {
  uri: string;
  kind: string;
  title: string;
  url: string;
  excerpt: string;
}
const searchFor = async (query: Record<string, string>): Promise<Item[]> => {
  const response = await get(`/docs/search.json?${new URLSearchParams(query)}`);
  expect(response.status).toBe(200);
  return ((await response.json()) as { items: Item[] }).items;
};

describe('GET /docs/{page}', () => {
  it('every page of docs/ is served under its policy, with one heading, its Markdown and its neighbours', async () => {
    expect(PAGES.length).toBeGreaterThan(30);
    for (const page of PAGES) {
      const response = await get(`/docs/${page}`);
      expect(response.status, page).toBe(200);
      expect(response.headers.get('content-security-policy')).toBe(POLICY);
      const html = await response.text();
      expect(html.match(/<h1/g), page).toHaveLength(1);
      expect(html).toContain('aria-current="page"');
      expect(html).toMatch(/rel="(?:prev|next)"/);
      const markdown = await get(`/docs/${page}.md`);
      expect(markdown.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      expect((await markdown.text()).split('\n')[0]).toBe(files[`../../../docs/${page}.md`]!.split('\n')[0]);
    }
  });

  it('a link of a page leads to a page and a heading that exist', async () => {
    const html = new Map<string, string>(
      await Promise.all(PAGES.map(async (page) => [`/docs/${page}`, await read(`/docs/${page}`)] as const)),
    );
    html.set('/docs', await read('/docs'));
    const broken = [...html].flatMap(([path, text]) =>
      hrefsIn(text)
        .filter((href) => href.startsWith('#') || href.startsWith('/docs'))
        .filter((href) => {
          const [to, anchor] = href.split('#');
          const target = html.get(to === '' ? path : to!);
          if (target === undefined) return !/^\/docs(?:\/errors|[\w/-]*\.md)/.test(to!);
          return anchor !== undefined && !idsIn(target).includes(anchor);
        })
        .map((href) => `${path}: ${href}`),
    );
    expect(broken).toEqual([]);
  });

  it('examples name the address of this deployment', async () => {
    for (const path of ['/docs/operations/monitoring', '/docs/operations/monitoring.md', '/docs/pay-per-request']) {
      const text = await read(path);
      expect(text).toContain('https://svc.test');
      expect(text).not.toContain('https://pay.example.com');
    }
  });

  it('a page loads at most 60 KB, compressed, and nothing of another origin', async () => {
    const assets = import.meta.glob<string>('../../../dist/assets/assets/docs-*', { query: '?raw', import: 'default', eager: true });
    const sizeOf = (text: string) => gzipSync(text).length;
    for (const page of PAGES) {
      const html = await read(`/docs/${page}`);
      const loaded = [...html.matchAll(/<(?:script|link|img)[^>]* (?:src|href)="([^"]+)"/g)].map(([, source]) => source!);
      expect(loaded.every((source) => source.startsWith('/'))).toBe(true);
      const own = Object.entries(assets).filter(([path]) => loaded.some((source) => path.endsWith(source)));
      expect(own).toHaveLength(2);
      const bytes = own.reduce((sum, [, text]) => sum + sizeOf(text), sizeOf(html));
      expect(bytes, page).toBeLessThan(PAGE_KB_MAX * 1024);
    }
  });

  it.each(['/docs/webhoks', '/docs/WEBHOOKS', '/docs/operations/..%2fwebhooks', '/docs/%2e%2e%2fpackage', '/docs/a/b'])(
    '%s is not a page: 404 with the three nearest',
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(404);
      const html = await response.text();
      const [, article = ''] = html.split('<article>');
      const near = hrefsIn(article.split('</article>')[0]!);
      expect(near).toHaveLength(3);
      if (/webho/i.test(path) && !path.includes('%')) expect(near[0]).toBe('/docs/webhooks');
    },
  );

  it.each(['nothing', 'index', '_index', 'errors/nothing', 'not_found'])('/docs/%s.md is a 404 with a code', async (page) => {
    const response = await get(`/docs/${page}.md`);
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'not_found' });
  });

  it('/llms.txt links the Markdown of every page, of the index and of all error codes', async () => {
    const text = await read('/llms.txt');
    expect(PAGES.filter((page) => !text.includes(`(https://svc.test/docs/${page}.md)`))).toEqual([]);
    for (const path of ['/docs.md', '/docs/errors.md']) expect(text).toContain(`(https://svc.test${path})`);
  });
});

describe('pages of /docs that the code writes', () => {
  it.each(['/docs', '/docs/errors', '/docs/errors/not_found', '/docs/errors/request_timeout'])(
    '%s has the contents, the search, the policy and a Markdown twin of a guide',
    async (path) => {
      const response = await get(path);
      expect(response.headers.get('content-security-policy')).toBe(POLICY);
      const html = await response.text();
      expect(html.match(/<h1/g)).toHaveLength(1);
      for (const part of ['aria-label="Contents"', 'action="/docs/search"', `href="${path}.md"`]) expect(html).toContain(part);
      const marked = path.startsWith('/docs/errors') ? ['/docs/reference/errors'] : [];
      expect([...html.matchAll(/href="([^"]+)" aria-current="true"/g)].map(([, href]) => href)).toEqual(marked);
      const twin = await get(`${path}.md`);
      expect([twin.status, twin.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8']);
      const markdown = await twin.text();
      expect(markdown).toMatch(/^# /);
      expect(markdown).not.toMatch(/pay\.example\.com|\{#/);
    },
  );

  it('the twin of the index links the Markdown of every page, and that of the codes the Markdown of every code', async () => {
    const [index, codes] = [await read('/docs.md'), await read('/docs/errors.md')];
    expect(PAGES.filter((page) => !index.includes(`(https://svc.test/docs/${page}.md)`))).toEqual([]);
    for (const code of Object.keys(ERRORS)) {
      expect(codes).toContain(`(https://svc.test/docs/errors/${code}.md)`);
      expect(await read(`/docs/errors/${code}.md`)).toContain(`"docs_url": "https://svc.test/docs/errors/${code}"`);
    }
  });
});

describe('GET /docs/search.json', () => {
  it('the right page is among the first three for at least 36 of forty questions', async () => {
    expect(QUESTIONS).toHaveLength(40);
    const missed: string[] = [];
    for (const [question, page] of QUESTIONS) {
      const items = await searchFor({ q: question });
      const first = items.slice(0, 3).map(({ uri }) => uri);
      if (!first.includes(`docs://guides/${page}`)) missed.push(`${question}: ${first.join(', ')} instead of ${page}`);
    }
    expect(missed.length, missed.join('\n')).toBeLessThanOrEqual(4);
  });

  it.each([
    ['sell an API per request', '/docs/pay-per-request'],
    ['find late money', '/docs/unmatched-and-refunds#late-short-double-and-unidentified-payments'],
  ])('"%s" leads to a page about it, or to the section with more of it in its title', async (q, path) => {
    expect((await searchFor({ q }))[0]?.url).toBe(`https://svc.test${path}`);
  });

  it('an error code, an event type and an operation are found by name, and by kind alone', async () => {
    expect((await searchFor({ q: 'setup_not_ready' })).map(({ uri }) => uri)).toContain('docs://errors/setup_not_ready');
    expect((await searchFor({ q: 'payment.confirmed', kind: 'event' }))[0]).toMatchObject({
      uri: 'docs://events/payment.confirmed',
      url: 'https://svc.test/schemas/events/payment.confirmed.json',
    });
    const operations = await searchFor({ q: 'create product', kind: 'operation', limit: '20' });
    expect(operations.map(({ uri }) => uri)).toContain('docs://operations/createProduct');
    expect(operations.every(({ kind }) => kind === 'operation')).toBe(true);
  });

  it('each result has a page that exists and an excerpt', async () => {
    for (const { url, excerpt } of await searchFor({ q: 'refund', limit: '20' })) {
      expect(excerpt.length).toBeGreaterThan(0);
      expect((await get(new URL(url).pathname)).status, url).toBe(200);
    }
    expect(await searchFor({ q: 'refund', limit: '2' })).toHaveLength(2);
  });

  it.each([
    ['', 'q'],
    ['?q=a', 'q'],
    [`?q=${'a'.repeat(10_000)}`, 'q'],
    ['?q=wallet&kind=page', 'kind'],
    ['?q=wallet&limit=21', 'limit'],
    ['?q=wallet&limit=0', 'limit'],
  ])('search.json%.20s is 422 at its field', async (query, field) => {
    const response = await get(`/docs/search.json${query}`);
    expect(response.status).toBe(422);
    expect(await response.json()).toMatchObject({ code: 'validation_error', detail: [{ loc: ['query', field] }] });
  });

  it('the 121st search of an address in a minute is 429', async () => {
    const address = '203.0.113.99';
    const env = { ...w.env, RATE_MULTIPLIER: '1' };
    for (let n = 0; n < PUBLIC_BUCKETS['docs-search'].max; n++)
      expect((await get('/docs/search.json?q=wallet', { env, address })).status).toBe(200);
    const refused = await get('/docs/search.json?q=wallet', { env, address });
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

describe('GET /docs/search', () => {
  it('shows results without JavaScript, and HTML or direction marks of a query as text', async () => {
    const html = await read('/docs/search?q=verify+webhook+signature');
    expect(html).toContain('href="https://svc.test/docs/webhooks');
    const hostile = await read(`/docs/search?q=${encodeURIComponent('<script>alert(1)</script>\u202Ewallet')}`);
    expect(hostile).not.toContain('<script>alert');
    expect(hostile).toContain('<bdi>&lt;script&gt;');
  });

  it('a query that is too short or too long is 422 and says what fits', async () => {
    for (const query of ['a', 'a'.repeat(10_000)]) {
      const response = await get(`/docs/search?q=${query}`);
      expect(response.status).toBe(422);
      const html = await response.text();
      expect(html).toContain('role="alert"');
      expect(html.length).toBeLessThan(20_000);
    }
    expect((await get('/docs/search')).status).toBe(200);
  });
});
