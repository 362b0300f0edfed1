import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { V4WorkerOptions } from 'miniflare';
import type { Migration } from '../service/apply-migrations.ts';

/** Bindings, modules and migrations of the service, written by the build. */
export interface Settings {
  worker: Omit<V4WorkerOptions, 'modules' | 'assets' | 'bindings'>;
  variables: Record<string, string>;
  assets: NonNullable<V4WorkerOptions['assets']>;
  /** File names in `worker/`, the entry among them. */
  modules: string[];
  migrations: Migration[];
}

/** Folder of the built package. */
export const DIST = import.meta.dirname;

export const readSettings = (): Settings => JSON.parse(readFileSync(join(DIST, 'settings.json'), 'utf8'));
