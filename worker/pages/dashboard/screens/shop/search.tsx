import { listBody } from '../../frame/list.tsx';
import type { Definition } from '../../frame/screen.tsx';

interface SearchResult {
  type: string;
  id: string;
  title: string;
  detail?: string;
  dashboard_url: string;
}

const results = listBody<SearchResult>({
  operation: 'search',
  filters: [{ name: 'q', label: 'Id, signature, name, or beginning of a wallet or email' }],
  needsFilter: true,
  caption: 'Results',
  head: ['Found', 'Kind', 'Details'],
  empty: null,
  row: ({ type, title, detail, dashboard_url: url }) => [
    <a href={url}>
      <bdi>{title}</bdi>
    </a>,
    type,
    <bdi>{detail}</bdi>,
  ],
});

export const SEARCH: Definition = { path: '/dashboard/search', title: 'Search', body: results, acts: {} };
