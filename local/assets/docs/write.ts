import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../cli/directories.ts';
import { CHAPTERS } from './contents.ts';
import { OPERATIONS_ID, operationsNamedIn, operationsSection } from './operations.ts';
import { renderPage, withoutHeadingIds } from './render.ts';
import { errorListMarkdown, errorPages, indexMarkdown } from './site-pages.ts';

const DOCS = join(ROOT, 'docs');

function requireAllListed(): void {
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'));
  const listed = CHAPTERS.flatMap(({ pages }) => pages.map((page) => `${page}.md`));
  const wrong = [...files.filter((path) => !listed.includes(path)), ...listed.filter((path) => !files.includes(path))];
  if (wrong.length > 0) throw new Error(`local/assets/docs/contents.ts and docs/ differ: ${wrong.join(', ')}`);
}

type Write = (path: string, text: string) => void;

/** Reference pages are about all operations, so they end with none. */
const endsWithOperations = (page: string): boolean => !page.startsWith('reference/');

async function writeGuide(write: Write, page: string) {
  const markdown = readFileSync(join(DOCS, `${page}.md`), 'utf8');
  const operations = endsWithOperations(page) ? operationsNamedIn(markdown) : [];
  const ids = operations.map(({ id }) => id);
  const html = markdown + operationsSection(operations, ({ id }) => `/v1/redoc#operation/${id}`);
  const rendered = await renderPage(page, html);
  write(`docs-pages/${page}.md`, markdown + operationsSection(operations, ({ id }) => `https://pay.example.com/v1/docs/${id}.md`));
  write(`docs-pages/${page}.json`, JSON.stringify({ html: rendered.html }));
  // A list of further pages would be found by the words of those.
  const sections = rendered.sections
    .filter(({ id, title }) => id !== OPERATIONS_ID && title !== 'Next')
    .map((section) => ({ page, ...section }));
  return { sections, entry: { path: page, title: rendered.title, description: rendered.description, operations: ids } };
}

async function writeSitePage(write: Write, name: string, markdown: string): Promise<void> {
  const { html } = await renderPage(name, markdown);
  write(`docs-pages/${name}.md`, withoutHeadingIds(markdown));
  write(`docs-pages/${name}.json`, JSON.stringify({ html }));
}

/**
 * Renders docs/ into static files that the Worker frames: each page as Markdown and as JSON, the contents, and the sections for the search.
 * The index and the pages of error codes follow.
 */
export async function writeDocs(write: Write): Promise<void> {
  requireAllListed();
  const sections = [];
  const chapters = [];
  for (const { title, pages } of CHAPTERS) {
    const written = [];
    for (const page of pages) written.push(await writeGuide(write, page));
    chapters.push({ title, pages: written.map(({ entry }) => entry) });
    sections.push(...written.flatMap((page) => page.sections));
  }
  write('docs-pages/contents.json', JSON.stringify(chapters));
  write('docs-pages/sections.json', JSON.stringify(sections));
  const lists = chapters.map(({ title, pages }) => `### ${title}\n\n${pages.map(linkTo).join('\n')}\n`);
  const index = indexMarkdown();
  await writeSitePage(write, '_index', index);
  write('docs-pages/_index.md', `${withoutHeadingIds(index)}\n## Pages\n\n${lists.join('\n')}`);
  for (const [code, markdown] of Object.entries(errorPages())) await writeSitePage(write, `errors/${code}`, markdown);
  write('docs-pages/errors.md', errorListMarkdown());
}

const linkTo = ({ path, title }: { path: string; title: string }): string => `- [${title}](https://pay.example.com/docs/${path}.md)`;
