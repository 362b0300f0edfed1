import { execFileSync } from 'node:child_process';
import { copyFileSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SDK = import.meta.dirname;
const DIST = join(SDK, 'dist');

rmSync(DIST, { recursive: true, force: true });
execFileSync('tsc', ['-p', SDK], { stdio: 'inherit' });
// The compiler rewrites imports of code only. Declarations must import published files too.
for (const file of globSync(join(DIST, '**/*.d.ts'))) {
  const text = readFileSync(file, 'utf8');
  writeFileSync(file, text.replace(/((?:from|import)\s*\(?\s*)(['"])(\.{1,2}\/[^'"]+?)(?:\.d)?\.ts\2/g, '$1$2$3.js$2'));
}
copyFileSync(join(SDK, '../LICENSE'), join(SDK, 'LICENSE'));
