import MiniSearch, { type SearchResult } from 'minisearch';
import { ERRORS, type ErrorCode } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import type { Ctx } from '#platform/context.ts';
import { EVENT_TYPES } from '#rules/events.ts';
import { operationsOf, type PublishedDocument } from '../../discovery.ts';
import { ERROR_HELP } from '../../errors/words.ts';
import { EVENT_CATALOG } from '../../event-catalog.ts';
import { atThisAddress, readGuides, readSections } from './read-guides.ts';
import type { SearchKind, SearchQuery } from './search-query.ts';

/** Result of a search. `uri` names it for agents, `url` is its page. */
export interface Found {
  uri: string;
  kind: SearchKind;
  title: string;
  url: string;
  excerpt: string;
}

interface Entry extends Omit<Found, 'url' | 'excerpt'> {
  id: string;
  /** Title of the page that contains it. */
  pageTitle: string;
  path: string;
  text: string;
}

const EXCERPT_MAX = 200;
/** Words of questions that say nothing of their subject. */
const EMPTY_WORDS = new Set(
  'a an and are as at be by can do does find for from get how i if in is it my of on or the there this to we what when where which who why will with you your'.split(
    ' ',
  ),
);
const FUZZY_FROM = 5;

const entriesOfGuides = async (ctx: Ctx): Promise<Entry[]> => {
  const titles = new Map((await readGuides(ctx)).map(({ path, title }) => [path, title]));
  return (await readSections(ctx)).map(({ page, id, title, text }) => ({
    id: `docs://guides/${page}#${id}`,
    uri: `docs://guides/${page}`,
    kind: 'guide',
    title: id === '' ? title : `${titles.get(page)}: ${title}`,
    pageTitle: titles.get(page) ?? '',
    path: `/docs/${page}${id === '' ? '' : `#${id}`}`,
    text,
  }));
};

const namedEntry = (kind: SearchKind, folder: string, name: string, entry: Pick<Entry, 'path' | 'text' | 'pageTitle'>): Entry => ({
  id: `docs://${folder}/${name}`,
  uri: `docs://${folder}/${name}`,
  kind,
  title: name,
  ...entry,
});

const entriesOfErrors = (): Entry[] =>
  (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
    const text = `${ERRORS[code].message} ${ERROR_HELP[code].why} ${ERROR_HELP[code].next}`;
    return namedEntry('error', 'errors', code, { path: `/docs/errors/${code}`, text, pageTitle: 'Error code' });
  });

const entriesOfEvents = (): Entry[] =>
  EVENT_TYPES.map((type) =>
    namedEntry('event', 'events', type, {
      path: `/schemas/events/${type}.json`,
      text: EVENT_CATALOG[type].description,
      pageTitle: 'Event',
    }),
  );

const entriesOfOperations = (document: PublishedDocument): Entry[] =>
  operationsOf(document).map(({ method, path, operation: { operationId, summary = '' } }) =>
    namedEntry('operation', 'operations', operationId, {
      path: `/v1/docs/${operationId}.md`,
      text: `${method} ${path} ${summary}`,
      pageTitle: summary,
    }),
  );

const indexes = new Memory<'docs', MiniSearch<Entry>>(1);

/** Index of all guides, operations, errors and events, made by the first search of an isolate. */
async function loadIndex(ctx: Ctx, document: PublishedDocument): Promise<MiniSearch<Entry>> {
  const known = indexes.get('docs');
  if (known) return known;
  const index = new MiniSearch<Entry>({
    fields: ['title', 'pageTitle', 'text'],
    storeFields: ['uri', 'kind', 'title', 'path', 'text'],
    processTerm: (term) => {
      const word = term.toLowerCase();
      return EMPTY_WORDS.has(word) ? null : word.replace(/(?<=\w{3})(?:ies|s)$/, (end) => (end === 'ies' ? 'y' : ''));
    },
  });
  index.addAll([...(await entriesOfGuides(ctx)), ...entriesOfErrors(), ...entriesOfEvents(), ...entriesOfOperations(document)]);
  indexes.set('docs', index);
  return index;
}

/** Guides answer questions. References, operations, errors and events are found by their names. */
const weightOf = (id: string): number => (!id.startsWith('docs://guides/') ? 0.5 : /\/(?:reference|architecture)\//.test(id) ? 1 : 2);

/** Part of a text around the first of the words. */
export function excerptOf(text: string, words: string[]): string {
  const lower = text.toLowerCase();
  const positions = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const first = positions.length > 0 ? Math.min(...positions) : 0;
  const begin = first < EXCERPT_MAX / 2 ? 0 : lower.lastIndexOf(' ', first - EXCERPT_MAX / 4) + 1;
  const part = text.slice(begin, begin + EXCERPT_MAX).trim();
  return `${begin > 0 ? '… ' : ''}${part}${begin + EXCERPT_MAX < text.length ? ' …' : ''}`;
}

const wordsInTitle = ({ match }: SearchResult): number => Object.values(match).filter((fields) => fields.includes('title')).length;

/** True if a page's title has most of the words that `section` has, and the title of `section` adds none. */
const isAbout = (beginning: SearchResult, section: SearchResult): boolean =>
  wordsInTitle(beginning) >= wordsInTitle(section) && wordsInTitle(beginning) * 2 > section.queryTerms.length;

/** Finds at most `limit` pages, operations, errors and events. Of a page, its best section, or its beginning if all of it is about the words. */
export async function searchDocs(ctx: Ctx, document: PublishedDocument, { q: query, kind, limit }: SearchQuery): Promise<Found[]> {
  const index = await loadIndex(ctx, document);
  const results = index.search(query, {
    boost: { title: 3, pageTitle: 2 },
    prefix: (term) => term.length > 2,
    fuzzy: (term) => (term.length >= FUZZY_FROM ? 0.2 : false),
    boostDocument: (id) => weightOf(String(id)),
    filter: (result) => kind === undefined || result.kind === kind,
  });
  const best = new Map<string, SearchResult>();
  for (const result of results) {
    const better = best.get(result.uri);
    if (!better || (result.id.endsWith('#') && isAbout(result, better))) best.set(result.uri, result);
  }
  return [...best.values()].slice(0, limit).map(({ uri, kind: found, title, path, text, terms }) => {
    const excerpt = excerptOf(atThisAddress(ctx, text), terms);
    return { uri, kind: found, title, url: ctx.baseUrl + path, excerpt };
  });
}
