/**
 * Scripts of the reference pages as static assets. A name holds the package version and the first digits of the content's SHA-256, so that
 * it is cached forever. local/assets.ts refuses any other content.
 * @module
 */

export const DOCS_ASSETS = {
  scalar: '/assets/scalar-1.72.1-1a5cce00.js',
  redoc: '/assets/redoc-2.5.4-a3cc0b0a.js',
  start: '/assets/start-9dee07a1.js',
} as const;
