import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../cli/directories.ts';
import { CHAPTERS } from './contents.ts';
import { renderPage } from './render.ts';

const DOCS = join(ROOT, 'docs');

function requireAllListed(): void {
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.md'));
  const listed = CHAPTERS.flatMap(({ pages }) => pages.map((page) => `${page}.md`));
  const wrong = [...files.filter((path) => !listed.includes(path)), ...listed.filter((path) => !files.includes(path))];
  if (wrong.length > 0) throw new Error(`local/assets/docs/contents.ts and docs/ differ: ${wrong.join(', ')}`);
}

/**
 * Renders docs/ into static files that the Worker frames: each page as markdown and as JSON, the contents, and the sections for the search.
 */
export async function writeDocs(write: (path: string, text: string) => void): Promise<void> {
  requireAllListed();
  const sections = [];
  const chapters = [];
  for (const { title, pages } of CHAPTERS) {
    const entries = [];
    for (const page of pages) {
      const markdown = readFileSync(join(DOCS, `${page}.md`), 'utf8');
      const rendered = await renderPage(page, markdown);
      write(`docs-pages/${page}.md`, markdown);
      write(`docs-pages/${page}.json`, JSON.stringify({ html: rendered.html }));
      entries.push({ path: page, title: rendered.title, description: rendered.description });
      sections.push(...rendered.sections.map((section) => ({ page, ...section })));
    }
    chapters.push({ title, pages: entries });
  }
  write('docs-pages/contents.json', JSON.stringify(chapters));
  write('docs-pages/sections.json', JSON.stringify(sections));
}
