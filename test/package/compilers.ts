import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Check, exec } from './checks.ts';
import { entries, examples, manifest, newProject, ROOT } from './pack.ts';

const COMPILERS = ['typescript', 'typescript-6', 'typescript-7'];
const RESOLUTIONS = [
  { name: 'node16', module: 'node16', moduleResolution: 'node16' },
  { name: 'nodenext', module: 'nodenext', moduleResolution: 'nodenext' },
  { name: 'bundler', module: 'esnext', moduleResolution: 'bundler' },
];
const STRICT = {
  strict: true,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  skipLibCheck: false,
  noEmit: true,
  target: 'es2022',
};
/** Entries and README examples that need no types of Node. */
const PORTABLE = entries.filter((entry) => !/\/(?:express|fastify)$/.test(entry));
const PORTABLE_EXAMPLES = examples.filter((code) => !/from '(?:node:|express|fastify)/.test(code));
const PROCESS = 'declare const process: Record<"stdout" | "stderr", { write(text: string): void }> & { env: Record<string, string> };';

/** Fails to compile if the types of the package resolve to `any`. */
const TYPED = `import { createClient } from '${manifest.name}';
export const product = await createClient({ baseUrl: '' }).products.get('p');
// @ts-expect-error a name is a string
export const wrong: number = product.name;
`;
const importAll = (names: string[]): string => names.map((name, n) => `export * as entry${n} from '${name}';\n`).join('');
const requireAll = (names: string[]): string =>
  names.map((name, n) => `import entry${n} = require('${name}');\nexport { entry${n} };\n`).join('');

/** Compiles the README examples and an import of every entry, without `skipLibCheck`, as the projects of users do. */
export function compilerChecks(home: string, archive: string): Check[] {
  const files = {
    ...Object.fromEntries(examples.map((code, n) => [`example-${n}.ts`, code])),
    'entries.ts': importAll(entries),
    'typed.ts': TYPED,
  };
  const portable = {
    ...Object.fromEntries(PORTABLE_EXAMPLES.map((code, n) => [`example-${n}.ts`, `${PROCESS}\n${code}`])),
    'entries.ts': importAll(PORTABLE),
    'typed.ts': TYPED,
  };
  const project = newProject(join(home, 'compilers'), archive, [
    'hono',
    'express',
    'fastify',
    '@types',
    'undici-types',
    '@cloudflare/workers-types',
  ]);
  const cases = [
    ...RESOLUTIONS.map(({ name, ...options }) => ({
      name: `${name}, lib ES2022, @types/node`,
      files: name === 'nodenext' ? { ...files, 'required.cts': requireAll(entries) } : files,
      options: { ...options, lib: ['es2022'], types: ['node'] },
    })),
    {
      name: 'bundler, lib DOM',
      files: portable,
      options: { ...RESOLUTIONS[2], name: undefined, lib: ['es2022', 'dom', 'dom.iterable'], types: [] },
    },
    {
      name: 'bundler, Workers',
      files: portable,
      options: { ...RESOLUTIONS[2], name: undefined, lib: ['es2022'], types: ['@cloudflare/workers-types'] },
    },
  ];
  return cases.flatMap(({ name, files: sources, options }, n) => {
    // Below the project, so that all share its packages.
    const folder = join(project, `case-${n}`);
    mkdirSync(folder);
    for (const [file, code] of Object.entries(sources)) writeFileSync(join(folder, file), code);
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...STRICT, ...options } }));
    return COMPILERS.map((compiler) => ({
      group: 'types',
      name: `${compiler.replace('typescript-', '').replace('typescript', '5.9')} ${name}`,
      run: async () => {
        const tsc = join(ROOT, 'node_modules', compiler, 'bin/tsc');
        await exec(process.execPath, [tsc, '-p', folder]);
        return `TypeScript ${(await exec(process.execPath, [tsc, '--version'])).replace('Version ', '')}`;
      },
    }));
  });
}
