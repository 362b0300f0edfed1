import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { generateTypes } from '../../sdk/generate.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

it('sdk/src/api.d.ts equals the output of `npm run sdk:generate`', async () => {
  expect(read('sdk/src/api/api.d.ts')).toBe(await generateTypes());
});

it('the package has the name of sdk/names.json and a changelog of its version', () => {
  const names = JSON.parse(read('sdk/names.json'));
  expect(names).toEqual({
    scope: '@paylatch',
    sdk: '@paylatch/sdk',
    cli: 'paylatch',
    binary: 'paylatch',
    create: 'create-paylatch',
    sandbox: '@paylatch/sandbox',
  });
  const { name, version } = JSON.parse(read('sdk/package.json'));
  expect(name).toBe(names.sdk);
  expect(read('sdk/CHANGELOG.md')).toContain(`\n## ${version}\n`);
});

it('no text, page, answer or package names the npm package svc, which is another project', () => {
  const left = /(?:^|\/)(?:node_modules|dist|\.git|\.wrangler|\.local)$/;
  const files = globSync(['*', '{.changeset,.ci,.github,docs,durable-objects,local,migrations,sdk,test,worker}/**/*'], {
    cwd: ROOT,
    exclude: ({ parentPath, name }) => left.test(join(parentPath, name)),
    withFileTypes: true,
  });
  const texts = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  expect(texts.length).toBeGreaterThan(1_500);
  // Assembled, so that this file does not match.
  const foreign = new RegExp(`npx ${'svc'}|@${'svc'}/|npm i(?:nstall)? ${'svc'}\\b`);
  expect(texts.filter((path) => foreign.test(readFileSync(path, 'utf8')))).toEqual([]);
});
