import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readDocument } from '../../sdk/generate.ts';
import { type Check, exec } from './checks.ts';
import { ROOT } from './pack.ts';

const bin = (name: string): string => join(ROOT, 'node_modules/.bin', name);
const ORVAL = `export default { api: { input: { target: './openapi.json' }, output: {
  target: './orval/api.ts', client: 'fetch', mode: 'single', headers: true } } };\n`;
const GENERATORS = [
  { name: 'openapi-typescript', folder: 'openapi-typescript', args: ['openapi.json', '-o', 'openapi-typescript/api.ts'] },
  { name: '@hey-api/openapi-ts', folder: 'hey-api', program: 'openapi-ts', args: ['-i', 'openapi.json', '-o', 'hey-api'] },
  { name: 'orval', folder: 'orval', args: ['--config', 'orval.config.mjs'] },
];

/** Generates clients from the published document with generators that are not ours, and compiles them. */
export function generatorChecks(home: string): Check[] {
  const cwd = join(home, 'generators');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'orval.config.mjs'), ORVAL);
  writeFileSync(join(cwd, 'package.json'), '{"type":"module"}');
  let written: Promise<void> | undefined;
  const write = async () => writeFileSync(join(cwd, 'openapi.json'), JSON.stringify(await readDocument()));
  return GENERATORS.map(({ name, folder, program = name, args }) => ({
    group: 'generators',
    name,
    run: async () => {
      written ??= write();
      await written;
      mkdirSync(join(cwd, folder));
      await exec(bin(program), args, { cwd });
      const compilerOptions = {
        strict: true,
        noEmit: true,
        skipLibCheck: false,
        target: 'es2022',
        module: 'esnext',
        moduleResolution: 'bundler',
        lib: ['es2022', 'dom', 'dom.iterable'],
        types: [],
      };
      writeFileSync(join(cwd, folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
      await exec(bin('tsc'), ['-p', folder], { cwd });
      return 'read, and the result compiles';
    },
  }));
}
