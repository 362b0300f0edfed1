import { describe, expect, it } from 'vitest';
import { referencePages } from '../../local/assets/reference-pages.ts';
import { openApi } from '../support/clients/call.ts';

const PAGE_LINES_MAX = 300;
const README_LINES_MAX = 250;

const withoutRoot = (path: string): string => path.replace(/^(?:\.\.\/)+/, '');
const markdown = Object.entries(
  import.meta.glob<string>(
    ['../../*.md', '../../docs/**/*.md', '../../{worker,durable-objects,sdk,examples}/**/README.md', '../README.md'],
    {
      query: '?raw',
      import: 'default',
      eager: true,
    },
  ),
).map(([path, text]) => ({ path: path === '../README.md' ? 'test/README.md' : withoutRoot(path), text }));
const pages = markdown
  .filter(({ path }) => path === 'README.md' || path === 'CONTRIBUTING.md' || path.startsWith('docs/'))
  .sort((a, b) => Number(b.path === 'README.md') - Number(a.path === 'README.md'));

/** Files of the repository. A glob without `eager` loads none of them. */
const files = [
  ...Object.keys(
    import.meta.glob(['../../*', '../../{worker,durable-objects,local,migrations,sdk,examples,bruno}/**/*', '!**/node_modules/**']),
  ).map(withoutRoot),
  ...Object.keys(import.meta.glob('../**/*.ts')).map((path) => `test/${withoutRoot(path.replace(/^\.\//, 'contract/'))}`),
  ...markdown.map(({ path }) => path),
];
const isThere = (path: string): boolean => files.some((file) => file === path || file.startsWith(`${path.replace(/\/$/, '')}/`));

function resolveFrom(page: string, link: string): string {
  const parts = page.split('/').slice(0, -1);
  for (const part of link.split('/'))
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  return parts.join('/');
}

/** Text without blocks of code. */
const proseOf = (text: string): string => text.replace(/^```[\s\S]*?^```$/gm, '');

const anchorsOf = (path: string): string[] =>
  [...proseOf(markdown.find((page) => page.path === path)?.text ?? '').matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading!
      .toLowerCase()
      .replace(/[^\w\s-]/g, '')
      .trim()
      .replaceAll(' ', '-'),
  );

describe('docs/reference', () => {
  it.each(Object.entries(referencePages()))('%s is what the code says: `npm run docs:reference` writes it', async (name, text) => {
    await expect(text).toMatchFileSnapshot(`../../docs/reference/${name}`);
  });

  it('docs/reference has no other page', () => {
    const names = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/reference/'));
    expect(names.sort()).toEqual(
      Object.keys(referencePages())
        .map((name) => `docs/reference/${name}`)
        .sort(),
    );
  });
});

describe('README.md and docs/', () => {
  it('a page has at most 300 lines, README.md at most 250, and no line over 200 characters outside a table', () => {
    const long = pages.filter(({ path, text }) => text.split('\n').length > (path === 'README.md' ? README_LINES_MAX : PAGE_LINES_MAX));
    expect(long.map(({ path }) => path)).toEqual([]);
    const wide = pages.flatMap(({ path, text }) =>
      proseOf(text)
        .split('\n')
        .filter((line) => line.length > 200 && !line.startsWith('|') && !path.startsWith('docs/reference/'))
        .map((line) => `${path}: ${line.slice(0, 80)}`),
    );
    expect(wide).toEqual([]);
  });

  it('a link leads to a file and a heading that exist', () => {
    const broken = markdown.flatMap(({ path, text }) =>
      [...proseOf(text).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)].flatMap(([link, to, anchor]) => {
        const target = to === '' ? path : resolveFrom(path, to!);
        const isRight = isThere(target) && (anchor === undefined || anchorsOf(target).includes(anchor));
        return isRight ? [] : [`${path}: ${link}`];
      }),
    );
    expect(broken).toEqual([]);
  });

  it('every page under docs/ is linked from README.md', () => {
    const readme = pages[0]!.text;
    expect(pages.map(({ path }) => path).filter((path) => path.startsWith('docs/') && !readme.includes(`(${path})`))).toEqual([]);
  });

  it('a call that a page names is an operation of the document', () => {
    const shape = (path: string): string => path.replace(/\{[^}]*\}/g, '{}').replace(/\?.*$/, '');
    const operations = new Set(
      Object.entries(openApi.paths).flatMap(([path, methods]) =>
        Object.keys(methods!).map((method) => `${method.toUpperCase()} ${shape(path)}`),
      ),
    );
    const named = pages.flatMap(({ path, text }) =>
      [...text.matchAll(/`(GET|POST|PUT|PATCH|DELETE) (\/v1\/[^\s`]*)/g)].map(([, method, route]) => ({
        path,
        call: `${method} ${shape(route!)}`,
      })),
    );
    expect(named.length).toBeGreaterThan(60);
    expect(named.filter(({ call }) => !operations.has(call) && !call.endsWith('/v1/openapi.json') && !call.includes('<'))).toEqual([]);
  });
});

describe('GET /v1/openapi.json', () => {
  it('a description begins with a noun or a verb, never with a question word or a possessive', () => {
    const described: string[] = [];
    const visit = (node: unknown): void => {
      if (node === null || typeof node !== 'object') return;
      const { description } = node as { description?: unknown };
      if (typeof description === 'string') described.push(description);
      for (const child of Object.values(node)) visit(child);
    };
    visit(openApi);
    expect(described.length).toBeGreaterThan(1000);
    expect([...new Set(described)].filter((text) => /^(?:Its|Their|How|Which|What|Of|Whose|Who|When|Where|That)\b/.test(text))).toEqual([]);
  });
});
