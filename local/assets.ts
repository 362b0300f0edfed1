/**
 * Lays out what the Worker serves as files: the two API references, copied from their packages, so that the pages need no
 * foreign host, the scripts of the hosted pages, and the fonts of receipts. Runs before dev, test and build; the directory is not committed.
 * `--demo-wallet` adds the wallet of local development, which a build that is deployed never gets.
 * @module
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DOCS_ASSETS } from '../worker/published/docs-assets.ts';
import { writeFonts } from './fonts.ts';
import { writePages } from './pages.ts';

const ROOT = join(import.meta.dirname, '..');
const OUT_DIR = join(ROOT, 'dist/assets');

// What a content security policy would otherwise need inline: one script for both pages, their settings in the page itself.
const START = `'use strict';
const configuration = JSON.parse(document.getElementById('configuration').textContent);
const page = document.getElementById('reference');
if (window.Scalar) window.Scalar.createApiReference(page, configuration);
else window.Redoc.init(configuration.url, configuration, page);
`;

// The names say what is inside, so a copy may be cached for ever.
const HEADERS = `/assets/*
  Cache-Control: public, max-age=31536000, immutable
  X-Content-Type-Options: nosniff
`;

/** A package's built script under its version; `rewrite` takes out what would call a foreign host. */
function readBundle(name: string, file: string, rewrite = (text: string) => text): { version: string; text: string } {
  const directory = join(ROOT, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string };
  const text = rewrite(readFileSync(join(directory, file), 'utf8')).replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
  return { version, text };
}

/** Redoc shows its maker's logo from its maker's server. An empty image in its place hides itself. */
function withoutLogo(text: string): string {
  const url = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
  if (text.split(url).length !== 2) throw new Error(`redoc no longer loads ${url}; look at what it loads instead.`);
  return text.replace(url, 'data:,');
}

const written = new Set<string>();

/** A file that is as it should be is left alone: a running server watches them all. */
function write(path: string, content: string | Uint8Array): void {
  const target = join(OUT_DIR, path);
  if (keep(path) && readFileSync(target).equals(Buffer.from(content as Uint8Array))) return;
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
}

/** Whether a file was laid out before; if so, it stays. */
function keep(path: string): boolean {
  written.add(join(OUT_DIR, path));
  return existsSync(join(OUT_DIR, path));
}

function removeOthers(): void {
  for (const entry of readdirSync(OUT_DIR, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isFile() && !written.has(path)) rmSync(path, { force: true });
  }
}

/** Writes an asset under the name the Worker's pages use, and only if it is the content that name stands for. */
function writeAsset(expected: string, name: string, text: string): void {
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  const path = `/assets/${name}-${hash}.js`;
  if (path !== expected)
    throw new Error(`worker/published/docs-assets.ts names ${expected}, the content is ${path}. Check it, then change the name.`);
  write(path, text);
}

const scalar = readBundle('@scalar/api-reference', 'dist/browser/standalone.js');
const redoc = readBundle('redoc', 'bundles/redoc.standalone.js', withoutLogo);
writeAsset(DOCS_ASSETS.scalar, `scalar-${scalar.version}`, scalar.text);
writeAsset(DOCS_ASSETS.redoc, `redoc-${redoc.version}`, redoc.text);
writeAsset(DOCS_ASSETS.start, 'start', START);
await writePages(write, { withDemoWallet: process.argv.includes('--demo-wallet') });
await writeFonts(write, keep);
write('_headers', HEADERS);
removeOthers();
