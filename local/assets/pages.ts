/**
 * Bundles the scripts of the hosted pages, named by content hash, and checks their size.
 * @module
 */

import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build, transform } from 'esbuild';

const ROOT = join(import.meta.dirname, '../..');
const PAGES = join(ROOT, 'worker/pages');
const DOCS_STYLE = join(ROOT, 'worker/published/site/guides/guides.css');
const NAMES_FILE = join(PAGES, 'assets.ts');
/** Budget of all hosted-page scripts together, compressed. The demo wallet does not count. */
const GZIP_MAX_KIB = 120;

const ENTRIES = {
  checkout: { source: 'checkout/client/start.tsx', name: 'checkout' },
  account: { source: 'account/client/start.ts', name: 'account' },
  subscribing: { source: 'subscribing/client/start.tsx', name: 'subscribing' },
  signing: { source: 'signing/client/start.tsx', name: 'signing' },
  receipt: { source: 'receipt/client/start.ts', name: 'receipt' },
  dashboard: { source: 'dashboard/client/start.ts', name: 'dashboard' },
  me: { source: 'me/client/start.ts', name: 'me' },
  docs: { source: 'browser/read-docs.ts', name: 'docs' },
  testWallet: { source: 'checkout/client/test-wallet.ts', name: 'test-wallet' },
  demoWallet: { source: 'browser/own-wallet/demo-wallet.ts', name: 'demo-wallet' },
} as const;
type Entry = keyof typeof ENTRIES;

async function bundle(entry: Entry): Promise<{ path: string; text: string }> {
  const { outputFiles } = await build({
    entryPoints: [join(PAGES, ENTRIES[entry].source)],
    bundle: true,
    write: false,
    minify: true,
    format: 'esm',
    target: ['es2022'],
    charset: 'utf8',
    legalComments: 'none',
    tsconfigRaw: { compilerOptions: { jsx: 'react-jsx', jsxImportSource: 'hono/jsx/dom', target: 'ES2022' } },
  });
  const text = outputFiles[0]!.text;
  return { path: pathOf(ENTRIES[entry].name, 'js', text), text };
}

const pathOf = (name: string, extension: 'js' | 'css', text: string): string =>
  `/assets/${name}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.${extension}`;

async function writeDocsStyle(write: (path: string, text: string) => void): Promise<string> {
  const { code } = await transform(readFileSync(DOCS_STYLE, 'utf8'), { loader: 'css', minify: true });
  const path = pathOf('docs', 'css', code);
  write(path, code);
  return path;
}

/**
 * Writes the scripts, and their paths for the Worker. Deployments do not contain the script of the demo wallet, only its path.
 */
export async function writePages(write: (path: string, text: string, options?: { isForDeployment: boolean }) => void): Promise<void> {
  const entries = Object.keys(ENTRIES) as Entry[];
  const bundles = await Promise.all(entries.map(bundle));
  for (const [index, { path, text }] of bundles.entries()) write(path, text, { isForDeployment: entries[index] !== 'demoWallet' });
  const served = bundles.filter((_, index) => entries[index] !== 'demoWallet');
  const bytes = served.reduce((sum, { text }) => sum + gzipSync(text, { level: 9 }).length, 0);
  console.log(`pages: ${(bytes / 1024).toFixed(1)} KiB gzip of at most ${GZIP_MAX_KIB}`);
  if (bytes > GZIP_MAX_KIB * 1024) throw new Error('The scripts of the hosted pages are over their budget.');
  const names = entries.map((entry, index) => `  ${entry}: '${bundles[index]!.path}',\n`).join('');
  const style = `  docsStyle: '${await writeDocsStyle(write)}',\n`;
  const source = `/** Written by local/assets/pages.ts: paths of the hosted pages' scripts and style, named by their content. */\nexport const PAGE_ASSETS = {\n${names}${style}} as const;\n`;
  if (!existsSync(NAMES_FILE) || readFileSync(NAMES_FILE, 'utf8') !== source) writeFileSync(NAMES_FILE, source);
}
