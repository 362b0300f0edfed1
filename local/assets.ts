/**
 * Builds the Worker's static files: the API references from their packages, the scripts of the hosted pages and the fonts of receipts. Runs
 * after `npm ci`, before dev, tests and each bundle. Nothing is committed.
 * `dist/assets` is deployed. `dist/dev-assets` adds the demo wallet of local development.
 * @module
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DOCS_ASSETS } from '../worker/published/docs-assets.ts';
import { writeDocs } from './assets/docs/write.ts';
import { writeFonts } from './assets/fonts.ts';
import { writePages } from './assets/pages.ts';
import { ASSETS_DIR, DEV_ASSETS_DIR, ROOT } from './cli/directories.ts';

// External script, because the content security policy forbids inline code. Both pages share it and contain their own settings.
const START = `'use strict';
const configuration = JSON.parse(document.getElementById('configuration').textContent);
const page = document.getElementById('reference');
fetch(configuration.url)
  .then((response) => response.json())
  .then((content) => {
    // Neither reference names the guide of a tag as a link with a text: Scalar omits it, Redoc shows its bare address.
    for (const tag of content.tags) {
      tag.description += ' [Guide](' + tag.externalDocs.url + ')';
      delete tag.externalDocs;
    }
    if (window.Scalar) window.Scalar.createApiReference(page, { ...configuration, url: undefined, content });
    else window.Redoc.init(content, configuration, page);
  });
`;

// File names contain a content hash, so caches may store them permanently.
const HEADERS = `/assets/*
  Cache-Control: public, max-age=31536000, immutable
  X-Content-Type-Options: nosniff
`;

/** Reads a package's built script, named by version. `rewrite` removes calls to foreign hosts. */
function readBundle(name: string, file: string, rewrite = (text: string) => text): { version: string; text: string } {
  const directory = join(ROOT, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8')) as { version: string };
  const text = rewrite(readFileSync(join(directory, file), 'utf8')).replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
  return { version, text };
}

/** Replaces the maker's remote logo in Redoc by an empty image, which hides itself. */
function withoutLogo(text: string): string {
  const url = 'https://cdn.redoc.ly/redoc/logo-mini.svg';
  if (text.split(url).length !== 2) throw new Error(`redoc no longer loads ${url}; look at what it loads instead.`);
  return text.replace(url, 'data:,');
}

const written = new Set<string>();

/** Skips unchanged files, because a running server watches them all. */
function write(path: string, content: string | Uint8Array, { isForDeployment = true } = {}): void {
  for (const directory of isForDeployment ? [ASSETS_DIR, DEV_ASSETS_DIR] : [DEV_ASSETS_DIR]) {
    const target = join(directory, path);
    written.add(target);
    if (existsSync(target) && readFileSync(target).equals(Buffer.from(content as Uint8Array))) continue;
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
}

function reuseExisting(path: string): boolean {
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

/** Writes an asset under the name that the Worker's pages use. Throws if the content does not match the hash in the name. */
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
await writeDocs(write);
await writeFonts(write, reuseExisting);
write('_headers', HEADERS);
removeOthers();
