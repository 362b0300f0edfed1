import type { Context } from 'hono';
import { raise } from '#core/errors.ts';
import { type AppEnv, router } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { refuseInvalid } from '#platform/http/refuse-invalid.ts';
import type { PublishedDocument } from '../../discovery.ts';
import { sendGuidePage, sendSearchPage } from './pages.tsx';
import { readIndexMarkdown, readMarkdown } from './read-guides.ts';
import { SearchQuery } from './search-query.ts';

const MARKDOWN_HEADERS = { 'Content-Type': 'text/markdown; charset=utf-8', 'Cache-Control': 'public, max-age=300' };

/** Pages of docs/ and their search. They are not operations of the API. */
export function guideRoutes(readDocument: () => PublishedDocument) {
  const routes = router();
  routes.use('/docs/search', publicBucket('docs-search'));
  routes.use('/docs/search.json', publicBucket('docs-search'));
  routes.get('/docs/search.json', async (c) => {
    const asked = SearchQuery.safeParse(c.req.query());
    refuseInvalid({ json: undefined, query: SearchQuery })({ target: 'query', ...asked }, c);
    const { searchDocs } = await import('./search.ts');
    return c.json({ items: await searchDocs(c.var.ctx, readDocument(), asked.data!) });
  });
  routes.get('/docs/search', async (c) => {
    const query = c.req.query('q') ?? '';
    const asked = SearchQuery.safeParse({ q: query });
    if (!asked.success) return sendSearchPage(c, query, null);
    const { searchDocs } = await import('./search.ts');
    return sendSearchPage(c, query, await searchDocs(c.var.ctx, readDocument(), asked.data));
  });
  const sendMarkdown = async (c: Context<AppEnv>, name: string): Promise<Response> => {
    const markdown = await readMarkdown(c.var.ctx, name);
    return markdown === null ? raise('not_found') : c.body(markdown, 200, MARKDOWN_HEADERS);
  };
  routes.get('/docs.md', async (c) => c.body(await readIndexMarkdown(c.var.ctx), 200, MARKDOWN_HEADERS));
  for (const path of ['/docs/:page', '/docs/:folder/:page'])
    routes.get(path, (c) => {
      const { folder, page } = c.req.param() as { folder?: string; page: string };
      const name = folder === undefined ? page : `${folder}/${page}`;
      return name.endsWith('.md') ? sendMarkdown(c, name.slice(0, -'.md'.length)) : sendGuidePage(c, name);
    });
  return routes;
}
