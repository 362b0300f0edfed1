import { execFileSync } from 'node:child_process';
import { existsSync, globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../cli/directories.ts';

const SDK = join(ROOT, 'sdk');
export const BUILT_SDK = join(SDK, 'dist/index.js');

/** Builds the package that the examples import, unless the build is newer than its sources. */
export function buildSdk(onProgress: (step: string) => void): void {
  const changedAt = Math.max(...globSync(join(SDK, 'src/**/*.ts')).map((path) => statSync(path).mtimeMs));
  if (existsSync(BUILT_SDK) && statSync(BUILT_SDK).mtimeMs > changedAt) return;
  onProgress('Building @paylatch/sdk');
  const PATH = `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}`;
  execFileSync(process.execPath, [join(SDK, 'build.ts')], { env: { ...process.env, PATH }, stdio: 'inherit' });
}
