import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import openapiTS, { astToString } from 'openapi-typescript';

const TARGET = new URL('./src/api/api.d.ts', import.meta.url).pathname;
const ROOT = join(import.meta.dirname, '..');
const HEAD = '// Made by sdk/generate.ts from our own OpenAPI document. Change the routes, not this file.\n\n';

/** What a caller's types need: no examples, no failures (they are `SvcError`), and nothing of what we send to merchants. */
function withoutNoise(value: unknown, place = ''): unknown {
  if (Array.isArray(value)) return value.map((inner) => withoutNoise(inner));
  if (typeof value !== 'object' || value === null) return value;
  // Under `properties` the names are a resource's own, and one of them is `example`.
  const isNoise = (name: string) => place !== 'properties' && /^(?:example|examples|webhooks|x-error-codes|[45]\d\d)$/.test(name);
  const kept = Object.entries(value).filter(([name]) => !isNoise(name));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutNoise(inner, name)]));
}

/** What the service publishes. Its pages are JSX, which Node does not read: the app is bundled, into a directory that finds its packages. */
export async function readDocument(): Promise<object> {
  const home = mkdtempSync(join(ROOT, 'node_modules/.sdk-types-'));
  const app = join(home, 'app.mjs');
  try {
    await build({
      entryPoints: [join(ROOT, 'worker/app.ts')],
      outfile: app,
      bundle: true,
      packages: 'external',
      format: 'esm',
      platform: 'node',
      target: 'node24',
      jsx: 'automatic',
      jsxImportSource: 'hono/jsx',
      logLevel: 'error',
    });
    // By a name the compiler does not follow: these are types for Node, those of the worker are another platform's.
    const { openApiDocument } = (await import(/* @vite-ignore */ pathToFileURL(app).href)) as { openApiDocument(): object };
    return openApiDocument();
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The text of `src/api/api.d.ts` as it should be now. */
export async function generateTypes(): Promise<string> {
  const nodes = await openapiTS(withoutNoise(await readDocument()) as Parameters<typeof openapiTS>[0], { defaultNonNullable: false });
  return execFileSync('biome', ['format', '--stdin-file-path=sdk/src/api/api.d.ts'], {
    input: HEAD + astToString(nodes),
    encoding: 'utf8',
  });
}

if (import.meta.main) writeFileSync(TARGET, await generateTypes());
