/**
 * Replaces the package `zod` (wrangler.toml, `alias`): zod's own entry exports all locales as one namespace, which no bundler can remove.
 * @module
 */

export * from './classic.ts';
export * as z from './classic.ts';

// A schema has `.openapi()` only if zod was extended before the schema was created. Loading the extension with zod puts both in one bundle
// part, ahead of every module that creates schemas.
import '@hono/zod-openapi';
