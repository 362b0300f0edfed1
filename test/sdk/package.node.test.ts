import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

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

it.each([
  ['sandbox', 'local/sandbox'],
  ['create', 'local/create'],
])('the %s package has its name of sdk/names.json and a changelog of its version', (key, folder) => {
  const { name, version } = JSON.parse(read(`${folder}/package.json`));
  expect(name).toBe(JSON.parse(read('sdk/names.json'))[key]);
  expect(read(`${folder}/CHANGELOG.md`)).toContain(`\n## ${version}\n`);
});

it('the README states the versions of Node that the package and its first example need', () => {
  const [{ engines }, service] = [JSON.parse(read('sdk/package.json')), JSON.parse(read('package.json'))];
  expect(read('sdk/README.md')).toContain(`| Node ${engines.node.replace('>=', '')} and later | \`import\` and \`require()\``);
  expect(read('sdk/README.md')).toContain(`node shop.ts     # Node ${service.engines.node.replace('>=', '')} or later`);
  expect(JSON.parse(read('package-lock.json')).packages.sdk.engines).toEqual(engines);
});

it('the release publishes to the registry that npm is set to', () => {
  expect(read('.github/workflows/release.yml')).not.toMatch(/registry|npmjs/);
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

it('the error table of the README names codes of the service or of the package', () => {
  const [, table] = /\| `code` \| What to do \|\n([\s\S]*?)\n\n/.exec(read('sdk/README.md'))!;
  const named = table!.split('\n').flatMap((row) => [...row.split('|')[1]!.matchAll(/`(\w+)`/g)].map(([, code]) => code!));
  expect(named.length).toBeGreaterThan(15);
  const known = read('sdk/src/generated/error-codes.ts') + read('sdk/src/errors/svc-error.ts');
  expect(named.filter((code) => !known.includes(`'${code}'`))).toEqual([]);
});
