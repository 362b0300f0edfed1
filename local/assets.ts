/**
 * Lays out what the Worker serves as files: the two API references, copied from their packages, so that the pages need no
 * foreign host, the scripts of the hosted pages, and the fonts of receipts. Runs after `npm ci`, before dev and tests, and before each
 * bundle; nothing it writes is committed. `dist/assets` is what a deployment uploads. `dist/dev-assets` holds the same and the demo wallet
 * of local development.
 * @module
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DOCS_ASSETS } from '../worker/published/docs-assets.ts';
import { writeFonts } from './assets/fonts.ts';
import { writePages } from './assets/pages.ts';
import { ASSETS_DIR, DEV_ASSETS_DIR, ROOT } from './cli/directories.ts';

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
function write(path: string, content: string | Uint8Array, { isForDeployment = true } = {}): void {
  for (const directory of isForDeployment ? [ASSETS_DIR, DEV_ASSETS_DIR] : [DEV_ASSETS_DIR]) {
    const target = join(directory, path);
    written.add(target);
    if (existsSync(target) && readFileSync(target).equals(Buffer.from(content as Uint8Array))) continue;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
}

/** True if both directories hold the file, which then stays. */
function keep(path: string): boolean {
  const targets = [ASSETS_DIR, DEV_ASSETS_DIR].map((directory) => join(directory, path));
  for (const target of targets) written.add(target);
  return targets.every((target) => existsSync(target));
}

function removeOthers(): void {
  for (const directory of [ASSETS_DIR, DEV_ASSETS_DIR])
    for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
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
await writePages(write);
await writeFonts(write, keep);
write('_headers', HEADERS);
removeOthers();
