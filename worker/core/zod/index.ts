/**
 * Stands in the place of the package `zod` (wrangler.toml, `alias`): zod's own entry gives away all of its messages as one namespace, which no
 * bundler can see to be unused.
 * @module
 */

export * from './classic.ts';
export * as z from './classic.ts';
