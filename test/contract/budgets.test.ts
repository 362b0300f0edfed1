import { describe, expect, it } from 'vitest';
import { filesIn, folderOf, program, readmes, sources, tests } from './sources.ts';

const FILES_MAX = 12;
const LONG_FOLDERS: Record<string, number> = { 'worker/platform/db/tables': 24, 'worker/pages/checkout/client': 24 };

describe('file names and size budgets', () => {
  const lines = (text: string): number => text.trimEnd().split('\n').length;
  const LINES_MAX = 350;

  it('no file has a leftover name such as utils or misc', () => {
    expect([...sources.keys()].filter((path) => /util|helper|common|misc|manager|V\d+\b/i.test(path))).toEqual([]);
    expect([...sources.keys()].filter((path) => !/^[a-z0-9./-]+$/.test(path))).toEqual([]);
  });

  it('folders stay within their file budget, and features within three levels', () => {
    const folders = Map.groupBy(program.keys(), folderOf);
    const full = [...folders].filter(([folder, files]) => files.length > (LONG_FOLDERS[folder] ?? FILES_MAX));
    expect(full.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
    expect([...folders.keys()].filter((folder) => /^worker\/features(?:\/[^/]+){3}/.test(folder))).toEqual([]);
  });

  it('worker/ itself contains only entry files', () => {
    const entries = [...sources.keys()].filter((path) => folderOf(path) === 'worker');
    expect(entries).toEqual(
      ['app', 'critical-routes', 'event-handlers', 'index', 'jobs', 'middleware', 'sweeps'].map((name) => `worker/${name}.ts`),
    );
  });

  it('comments cite only existing README headings', () => {
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

  it('READMEs describe only existing files', () => {
    const here = [...sources.keys(), ...tests.map(([path]) => path), 'test/contract/sources.ts'];
    const named = Object.entries(readmes).flatMap(([path, text]) =>
      [...text.matchAll(/`([\w./-]+\.tsx?)`/g)].map(([, file]) => ({ readme: path.slice(6), file: file! })),
    );
    expect(named.length).toBeGreaterThan(40);
    expect(named.filter(({ file }) => !here.some((path) => path === file || path.endsWith(`/${file}`)))).toEqual([]);
  });

  it('source and test files stay within the line budget', () => {
    const long = [...program].filter(([, text]) => lines(text) > LINES_MAX).map(([path, text]) => `${path}: ${lines(text)}`);
    const longTests = tests.filter(([, text]) => lines(text) > LINES_MAX).map(([path, text]) => `${path}: ${lines(text)}`);
    expect([...long, ...longTests]).toEqual([]);
  });

  it('functions have at most 60 lines', () => {
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
        // The formatter closes a block at the indentation of its opening line.
        const end = rows.findIndex((line, index) => index > start && line.startsWith(`${opens[1]}}`));
        seen++;
        if (end - start + 1 > 60) long.push(`${path}:${start + 1}: ${end - start + 1} lines`);
      }
    }
    expect(seen).toBeGreaterThan(100);
    expect(long).toEqual([]);
  });
});
