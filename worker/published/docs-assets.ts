/**
 * The scripts of the reference pages, as the static assets are named. A name holds the package's version and the first
 * digits of the content's SHA-256, so that it may be cached for ever; local/assets.ts refuses to copy anything else.
 * @module
 */

export const DOCS_ASSETS = {
  scalar: '/assets/scalar-1.72.1-1a5cce00.js',
  redoc: '/assets/redoc-2.5.4-a3cc0b0a.js',
  start: '/assets/start-c3a10728.js',
} as const;
