import { describe, expect, it } from 'vitest';
import { filesIn, folderOf, program, readmes, sources, tests } from './sources.ts';

/** Of how many files a folder may consist: registries of one kind may be longer. */
const FILES_MAX = 12;
const LONG_FOLDERS: Record<string, number> = { 'worker/platform/db/tables': 24, 'worker/pages/checkout/client': 24 };

describe('names and budgets', () => {
  const lines = (text: string): number => text.trimEnd().split('\n').length;
  const LINES_MAX = 350;

  it('has no file named for being a leftover', () => {
    expect([...sources.keys()].filter((path) => /util|helper|common|misc|manager|V\d+\b/i.test(path))).toEqual([]);
    expect([...sources.keys()].filter((path) => !/^[a-z0-9./-]+$/.test(path))).toEqual([]);
  });

  it('keeps folders within their budget, and features within three levels', () => {
    const folders = Map.groupBy(program.keys(), folderOf);
    const full = [...folders].filter(([folder, files]) => files.length > (LONG_FOLDERS[folder] ?? FILES_MAX));
    expect(full.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
    expect([...folders.keys()].filter((folder) => /^worker\/features(?:\/[^/]+){3}/.test(folder))).toEqual([]);
  });

  it('keeps worker/ itself for entry files', () => {
    const entries = [...sources.keys()].filter((path) => folderOf(path) === 'worker');
    expect(entries).toEqual(['app', 'followers', 'front', 'index', 'jobs', 'serve', 'sweeps'].map((name) => `worker/${name}.ts`));
  });

  it('cites only what is here: a heading of a README beside the code', () => {
    const slugOf = (heading: string): string =>
      heading
        .toLowerCase()
        .replace(/[^\w\s-]/g, '')
        .trim()
        .replaceAll(' ', '-');
    const headings = new Set(
      Object.entries(readmes).flatMap(([path, text]) =>
        [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => `${path.slice(6)}#${slugOf(heading!)}`),
      ),
    );
    const cited = [...sources].flatMap(([path, text]) =>
      [...text.matchAll(/[\w./-]+README\.md#[\w-]+/g)].map(([citation]) => ({ path, citation })),
    );
    expect(cited.length).toBeGreaterThan(5);
    expect(cited.filter(({ citation }) => !headings.has(citation))).toEqual([]);
    const elsewhere = filesIn(/\((?:contract|protocols|reliability|architecture) (?:section|trap|D?\d)/);
    expect(elsewhere).toEqual([]);
  });

  it('describes in its READMEs files that are there', () => {
    const here = [...sources.keys(), ...tests.map(([path]) => path), 'test/contract/sources.ts'];
    const named = Object.entries(readmes).flatMap(([path, text]) =>
      [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, file]) => ({ readme: path.slice(6), file: file! })),
    );
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter(({ file }) => !here.some((path) => path === file || path.endsWith(`/${file}`)))).toEqual([]);
  });

  it('keeps files within their budget, tests too', () => {
    const long = [...program].filter(([, text]) => lines(text) > LINES_MAX).map(([path, text]) => `${path}: ${lines(text)}`);
    const longTests = tests.filter(([, text]) => lines(text) > LINES_MAX).map(([path, text]) => `${path}: ${lines(text)}`);
    expect([...long, ...longTests]).toEqual([]);
  });

  it('keeps functions within 60 lines', () => {
    const long: string[] = [];
    let seen = 0;
    for (const [path, text] of program) {
      const rows = text.split('\n');
      for (const [start, row] of rows.entries()) {
        const opens =
          /^(\s*)(?!(?:if|for|while|switch|else|catch|try|class|interface)\b)(?:.*\bfunction\b.*|.*=> |(?:\w+ )*#?\w+\(.*\).*)\{$/.exec(
            row,
          );
        if (!opens) continue;
        // The formatter closes a block at the indent of the line that opened it.
        const end = rows.findIndex((line, index) => index > start && line.startsWith(`${opens[1]}}`));
        seen++;
        if (end - start + 1 > 60) long.push(`${path}:${start + 1}: ${end - start + 1} lines`);
      }
    }
    expect(seen).toBeGreaterThan(100);
    expect(long).toEqual([]);
  });
});
