import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
export const ASSETS_DIR = join(ROOT, 'dist/assets');
export const DEV_ASSETS_DIR = join(ROOT, 'dist/dev-assets');
