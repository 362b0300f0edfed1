import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'sqlite',
  schema: [
    './worker/platform/db/tables/identity.ts',
    './worker/platform/db/tables/commerce.ts',
    './worker/platform/db/tables/tx-claims.ts',
    './worker/platform/db/tables/candidates.ts',
    './worker/platform/db/tables/messaging.ts',
    './worker/platform/db/tables/access.ts',
    './worker/platform/db/tables/archives.ts',
    './worker/platform/db/tables/audits.ts',
    './worker/platform/db/tables/handoff.ts',
    './worker/platform/db/tables/operations.ts',
    './worker/platform/db/tables/sandbox.ts',
    './worker/platform/db/tables/sessions.ts',
  ],
  out: './migrations',
});
