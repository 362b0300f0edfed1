import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');
/** Files a deployment uploads with the Worker. */
export const ASSETS_DIR = join(ROOT, 'dist/assets');
/** The same and the demo wallet of local development. */
export const DEV_ASSETS_DIR = join(ROOT, 'dist/dev-assets');
