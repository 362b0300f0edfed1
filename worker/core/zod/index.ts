/**
 * Stands in the place of the package `zod` (wrangler.toml, `alias`): zod's own entry gives away all of its messages as one namespace, which no
 * bundler can see to be unused.
 * @module
 */

export * from './classic.ts';
export * as z from './classic.ts';

// A schema has `.openapi()` only if zod was extended before the schema was made. Loaded with zod itself, the extension is in the same
// part of the bundle, and runs before every module that makes schemas, in whatever order the parts are read.
import '@hono/zod-openapi';
