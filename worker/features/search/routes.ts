import { z } from '@hono/zod-openapi';
import { toSinglePage } from '#platform/db/page.ts';
import { given, pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { FOUND_TYPES, type FoundObject, searchObjects } from './search.ts';

const FoundBody = z
  .object({
    type: z.enum(FOUND_TYPES),
    id: z.string(),
    title: z.string(),
    detail: z.string().optional(),
    dashboard_url: z.string(),
  })
  .openapi('SearchResult');

export const searchRoutes = routes('Account', 'settings').read({
  path: 'GET /search',
  id: 'search',
  sdk: 'account.search',
  summary: 'Search',
  description:
    'Finds up to 20 objects by id or signature, else products by name and others by the `q` of their lists: words in the 2,000 newest.',
  query: { q: z.string().trim().min(2).max(200) },
  returns: pageOf(FoundBody, 'SearchPage'),
  answer: async ({ scope, actor, query }) => {
    const mode = scope.livemode ? '' : '?mode=sandbox';
    const shown = ({ path, detail = null, ...found }: FoundObject) => ({
      ...found,
      ...given('detail', detail),
      dashboard_url: `${scope.baseUrl}/dashboard/${path}${mode}`,
    });
    return toSinglePage((await searchObjects(scope, actor, query.q)).map(shown));
  },
});
