import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { type Check, exec, require } from './checks.ts';
import { entries, manifest, newProject, ROOT } from './pack.ts';

const ARCHIVE_BYTES_MAX = 130_000;
const DECLARATION_BYTES_MAX = 450_000;
const FRAMEWORKS = ['express', 'fastify', 'hono', 'next'];
/** Largest size of what a user bundles, minified and gzipped. */
const BUNDLES = [
  { name: 'webhooks', code: `export * from '${manifest.name}/webhooks'`, bytesMax: 2_500 },
  { name: 'client', code: `export * from '${manifest.name}'`, bytesMax: 13_000 },
  { name: 'protect by fetch', code: `export * from '${manifest.name}/fetch'`, bytesMax: 12_000 },
  { name: 'protect by Hono', code: `export * from '${manifest.name}/hono'`, bytesMax: 12_000 },
  { name: 'protect by Express', code: `export * from '${manifest.name}/express'`, bytesMax: 12_000 },
  { name: 'protect by Fastify', code: `export * from '${manifest.name}/fastify'`, bytesMax: 12_000 },
  { name: 'protect by Next.js', code: `export * from '${manifest.name}/next'`, bytesMax: 12_000 },
];

const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);
const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} KB`;

function withinLimit(bytes: number, bytesMax: number): string {
  const text = `${kilobytes(bytes)} of at most ${kilobytes(bytesMax)}`;
  require(bytes <= bytesMax, text);
  return text;
}

/** Checks what is in the archive, how it resolves, how large it is, and that npm would publish it. */
export function archiveChecks(home: string, archive: string): Check[] {
  const project = newProject(join(home, 'archive'), archive);
  const installed = join(project, 'node_modules', manifest.name);
  const files = globSync('**/*', { cwd: installed, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1));
  const group = 'archive';
  return [
    { group, name: 'files', run: () => checkFiles(files) },
    { group, name: 'imports', run: () => checkImports(installed, files) },
    { group, name: 'publint --strict', run: () => exec(bin('publint'), ['run', archive, '--strict']).then(() => 'no finding') },
    {
      group,
      name: 'attw esm-only',
      run: () => exec(bin('attw'), [archive, '--profile', 'esm-only', '--format', 'ascii']).then(() => 'no problem'),
    },
    {
      group,
      name: 'npm publish --dry-run',
      run: () =>
        exec('npm', ['publish', archive, '--dry-run', '--tag', 'latest'], { cwd: project }).then(
          () => `${manifest.name}@${manifest.version}`,
        ),
    },
    { group: 'size', name: 'archive', run: () => withinLimit(statSync(archive).size, ARCHIVE_BYTES_MAX) },
    {
      group: 'size',
      name: 'declarations',
      run: () =>
        withinLimit(
          sizeOf(
            installed,
            files.filter((file) => file.endsWith('.d.ts')),
          ),
          DECLARATION_BYTES_MAX,
        ),
    },
    ...BUNDLES.map(({ name, code, bytesMax }) => ({
      group: 'size',
      name,
      run: async () => withinLimit(await bundledSize(project, code), bytesMax),
    })),
  ];
}

const sizeOf = (folder: string, files: string[]): number => files.reduce((sum, file) => sum + statSync(join(folder, file)).size, 0);

function checkFiles(files: string[]): string {
  const expected = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json'];
  const others = files.filter((file) => !/^dist\/.+(?:\.js|\.d\.ts)$/.test(file)).sort();
  require(others.join() === expected.join(), `outside dist: ${others.join(', ')}\nexpected: ${expected.join(', ')}`);
  const untyped = files.filter((file) => file.endsWith('.js') && !files.includes(file.replace(/\.js$/, '.d.ts')));
  require(untyped.length === 0, `no declarations for ${untyped.join(', ')}`);
  require(manifest.dependencies === undefined, 'the package has runtime dependencies');
  return `${files.length} files`;
}

/** Code imports files of the package only. Declarations may name a framework too. Each relative import exists with its ending. */
function checkImports(installed: string, files: string[]): string {
  const wrong: string[] = [];
  let count = 0;
  for (const file of files.filter((name) => /\.(?:js|d\.ts)$/.test(name))) {
    const text = readFileSync(join(installed, file), 'utf8');
    for (const [, from] of text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*['"]([^'"\s]+)['"]/g)) {
      count++;
      const isFramework = FRAMEWORKS.some((name) => from === name || from!.startsWith(`${name}/`));
      const target = join(file, '..', from!).replace(/\.js$/, file.endsWith('.d.ts') ? '.d.ts' : '.js');
      const isFound = /^\.\.?\/.*\.js$/.test(from!) && files.includes(target);
      if (!isFound && !(isFramework && file.endsWith('.d.ts'))) wrong.push(`${file} imports ${from}`);
    }
  }
  require(wrong.length === 0, wrong.join('\n'));
  require(count > entries.length, 'no import was found');
  return `${count} imports exist`;
}

async function bundledSize(project: string, code: string): Promise<number> {
  const { outputFiles } = await build({
    stdin: { contents: code, resolveDir: project },
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    external: FRAMEWORKS,
    write: false,
  });
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length;
}
