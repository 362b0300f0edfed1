import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig } from 'vitest/config';

// Two projects: nearly everything runs inside workerd; the local chain and what must kill a process run in Node.
export default defineConfig({
  test: {
    silent: 'passed-only',
    projects: [
      {
        plugins: [
          cloudflareTest(async ({ inject }) => ({
            main: './worker/index.ts',
            wrangler: { configPath: './wrangler.toml' },
            miniflare: {
              bindings: {
                TEST_MIGRATIONS: await readD1Migrations('./migrations'),
                TEST_CHAIN_URL: inject('chainUrl'),
              },
            },
          })),
        ],
        test: {
          name: 'workerd',
          include: ['test/{pure,durable-objects,http,stories}/**/*.test.ts', 'test/*.test.ts'],
          globalSetup: ['./test/world/global-setup.ts'],
          setupFiles: ['./test/world/setup.ts'],
          testTimeout: 60_000,
        },
      },
      { test: { name: 'node', include: ['test/node/**/*.test.ts'], testTimeout: 60_000 } },
    ],
  },
});
