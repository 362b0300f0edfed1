import type { Context } from 'hono';
import { nearestFirst } from '#core/text/nearest.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { Article, MarkdownTools, sendGuide } from './frame.tsx';
import { type GuideEntry, readChapters, readGuide } from './read-guides.ts';
import type { Found } from './search.ts';
import { QUERY_LENGTH } from './search-query.ts';

const NEAREST = 3;
const NAME_MAX = 64;

/** `GET /docs/{page}`. Unknown: 404 with the three nearest pages. */
export async function sendGuidePage(c: Context<AppEnv>, path: string): Promise<Response> {
  const { ctx } = c.var;
  const [chapters, html] = await Promise.all([readChapters(ctx), readGuide(ctx, path)]);
  const pages = chapters.flatMap((chapter) => chapter.pages);
  const index = pages.findIndex((page) => page.path === path);
  if (html === null) return sendUnknownGuide(c, path, pages);
  const { title, description } = pages[index]!;
  return sendGuide(
    c,
    { title, description, chapters, path },
    <>
      <MarkdownTools path={`/docs/${path}`} />
      <Article html={html} />
      <nav class="turns" aria-label="Previous and next page">
        <Turn rel="prev" page={pages[index - 1]} />
        <Turn rel="next" page={pages[index + 1]} />
      </nav>
    </>,
  );
}

const Turn = ({ rel, page }: { rel: 'prev' | 'next'; page: GuideEntry | undefined }) =>
  page ? (
    <a class="turn-link" rel={rel} href={`/docs/${page.path}`}>
      {rel === 'prev' ? `← ${page.title}` : `${page.title} →`}
    </a>
  ) : (
    <span />
  );

async function sendUnknownGuide(c: Context<AppEnv>, path: string, pages: GuideEntry[]): Promise<Response> {
  const name = path.slice(0, NAME_MAX).toLowerCase();
  const nearest = nearestFirst(name, pages, (page) => page.path).slice(0, NEAREST);
  return sendGuide(
    c,
    { title: 'No such page', chapters: await readChapters(c.var.ctx), status: 404 },
    <article>
      <h1>No such page</h1>
      <p>The documentation has no page at this address. Did you mean one of these?</p>
      <ul>
        {nearest.map(({ path: near, title }) => (
          <li>
            <a href={`/docs/${near}`}>{title}</a>
          </li>
        ))}
      </ul>
    </article>,
  );
}

/** `GET /docs/search`. `found` is null if the query is too short or too long. */
export async function sendSearchPage(c: Context<AppEnv>, query: string, found: Found[] | null): Promise<Response> {
  const isAsked = query !== '';
  return sendGuide(
    c,
    {
      title: 'Search',
      chapters: await readChapters(c.var.ctx),
      query: query.slice(0, QUERY_LENGTH.max),
      status: isAsked && !found ? 422 : 200,
    },
    <article>
      <h1>Search</h1>
      {!isAsked && <p>Enter what you look for in the field above.</p>}
      {isAsked && !found && (
        <p role="alert">
          A search has {QUERY_LENGTH.min} to {QUERY_LENGTH.max} characters. This one has {query.length}.
        </p>
      )}
      {found && (
        <p role="status">
          {found.length === 0 ? 'Nothing found' : `${found.length} found`} for “<bdi>{query}</bdi>”.
        </p>
      )}
      <ul class="results">
        {(found ?? []).map(({ title, url, kind, excerpt }) => (
          <li>
            <a href={url}>{title}</a> <span class="quiet">{kind}</span>
            <br />
            {excerpt}
          </li>
        ))}
      </ul>
    </article>,
  );
}
