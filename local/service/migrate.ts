/**
 * Migrates the local databases of a state directory, and records it as `wrangler d1 migrations apply` does, without starting wrangler.
 * @module
 */

import { join } from 'node:path';
import type { D1Database } from '@cloudflare/workers-types';
import { getPlatformProxy } from 'wrangler';
import { applyMigrations } from './apply-migrations.ts';
import { readMigrations } from './read-migrations.ts';

const [path = '', configPath] = process.argv.slice(2);
const { env, dispose } = await getPlatformProxy<Record<string, D1Database>>({
  ...(configPath === undefined ? {} : { configPath }),
  persist: { path: join(path, 'v3') },
  remoteBindings: false,
});
try {
  const migrations = readMigrations();
  for (const name of Object.keys(env).filter((one) => /^(?:DB(?:_\d+)?|DIRECTORY)$/.test(one)))
    await applyMigrations(env[name]!, migrations);
} finally {
  await dispose();
}
