import { readdirSync, readFileSync } from 'node:fs';

const TAG = /^\/\/ @module-tag (\w+)$/m;

export const TAGS = [
  { name: 'quick', description: 'One story of everything that is sold, paid, consumed and reported: npm run test:quick' },
  { name: 'volume', description: 'Fuzz, random histories, killed processes, the restore drill and load: npm run test:volume' },
];

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (entry.name === 'node_modules') return [];
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesIn(path) : /\.test\.ts$/.test(path) ? [path] : [];
  });

/**
 * Files left out by `TAG=quick` or `TAG=!volume`. Reads first lines, because the runner's own filter loads every file before it skips
 * tests.
 */
export function filesWithout(selection: string | undefined): string[] {
  if (!selection) return [];
  const [tag, isExcluded] = [selection.replace(/^!/, ''), selection.startsWith('!')];
  if (!TAGS.some(({ name }) => name === tag)) throw new Error(`TAG=${selection} names no tag of ${import.meta.filename}`);
  return filesIn('test').filter((path) => (TAG.exec(readFileSync(path, 'utf8'))?.[1] === tag) === isExcluded);
}
