import type { Context } from 'hono';
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { ICON_PATH } from '#platform/http/icon.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { PAGE_ASSETS } from '../../../pages/assets.ts';
import { Footer, openPage } from '../../../pages/document.tsx';
import type { Chapter } from './read-guides.ts';
import { QUERY_LENGTH } from './search-query.ts';

/** Contract of the documentation pages: nothing of another origin, and no inline code. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Language': 'en',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cache-Control': 'public, max-age=300',
};

interface GuideFrame {
  title: string;
  description?: string;
  chapters: Chapter[];
  /** Path of the page, to mark it in the contents. */
  path?: string;
  query?: string;
  status?: 200 | 404 | 422;
}

/** Sends a page with the contents of `/docs` and the search. `html` is from this repository's docs/. */
export async function sendGuide(c: Context<AppEnv>, frame: GuideFrame, children: Child): Promise<Response> {
  const { title, description, status = 200 } = frame;
  const page = await openPage(c, 'en');
  const html = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {status !== 200 && <meta name="robots" content="noindex" />}
        {description && <meta name="description" content={description} />}
        <title>{`${title} · Documentation`}</title>
        <link rel="icon" href={ICON_PATH} type="image/svg+xml" />
        <link rel="stylesheet" href={PAGE_ASSETS.docsStyle} />
        <script type="module" src={PAGE_ASSETS.docs} />
      </head>
      <body>
        <a class="skip" href="#main">
          Skip to the page
        </a>
        <Head query={frame.query ?? ''} path={frame.path ?? ''} />
        <div class="layout">
          <Contents {...frame} />
          <main id="main">{children}</main>
        </div>
        <Footer {...page} hasLanguages={false} />
      </body>
    </html>
  );
  return c.body(`<!doctype html>${html}`, status, HEADERS);
}

/** Link to the Markdown of a page, and a button that copies it. */
export const MarkdownTools = ({ path }: { path: string }) => (
  <p class="tools">
    <a class="turn-link" href={`${path}.md`}>
      This page as Markdown
    </a>
    <button type="button" data-markdown={`${path}.md`} hidden>
      Copy for your agent
    </button>
  </p>
);

export const Article = ({ html }: { html: string }) => <article>{raw(html)}</article>;

/** Page of the contents that leads to each error code. */
const ERROR_CODES = 'reference/errors';

/** Marks an entry of the contents: the open page, or the one above an open error code. */
const currentOf = (entry: string, path = ''): { 'aria-current'?: 'page' | 'true' } => {
  if (entry === path) return { 'aria-current': 'page' };
  return entry === ERROR_CODES && /^errors\b/.test(path) ? { 'aria-current': 'true' } : {};
};

const Head = ({ query, path }: { query: string; path: string }) => (
  <header class="site">
    <nav aria-label="Site">
      <a class="bar-link" href="/">
        Home
      </a>
      <a class="bar-link" href="/docs">
        Documentation
      </a>
      <a class="bar-link" href="/v1/docs">
        API reference
      </a>
      <a class="bar-link" href="/docs/errors" {...currentOf('errors', path)}>
        Error codes
      </a>
      <a class="bar-link" href="/dashboard">
        Dashboard
      </a>
    </nav>
    <search>
      <form action="/docs/search">
        <input
          type="search"
          name="q"
          value={query}
          aria-label="Search the documentation"
          placeholder="Search"
          minlength={QUERY_LENGTH.min}
          maxlength={QUERY_LENGTH.max}
          required
          autocomplete="off"
        />
        <button type="submit">Search</button>
      </form>
      <ul class="found" hidden />
    </search>
  </header>
);

const Contents = ({ chapters, path }: GuideFrame) => (
  <nav class="contents" aria-label="Contents">
    <details>
      <summary>Contents</summary>
      {chapters.map(({ title, pages }) => (
        <>
          <h2 class="chapter">{title}</h2>
          <ul>
            {pages.map((page) => (
              <li>
                <a class="page-link" href={`/docs/${page.path}`} {...currentOf(page.path, path)}>
                  {page.title}
                </a>
              </li>
            ))}
          </ul>
        </>
      ))}
    </details>
  </nav>
);
