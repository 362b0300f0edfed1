import { z } from '@hono/zod-openapi';

export const QUERY_LENGTH = { min: 2, max: 100 };
const [LIMIT_MAX, LIMIT] = [20, 10];

export const SEARCH_KINDS = ['guide', 'operation', 'error', 'event'] as const;
export type SearchKind = (typeof SEARCH_KINDS)[number];

/** Parameters of `GET /docs/search.json`. */
export const SearchQuery = z.object({
  q: z.string().trim().min(QUERY_LENGTH.min).max(QUERY_LENGTH.max),
  kind: z.enum(SEARCH_KINDS).optional(),
  limit: z.coerce.number().int().min(1).max(LIMIT_MAX).default(LIMIT),
});
export type SearchQuery = z.infer<typeof SearchQuery>;
