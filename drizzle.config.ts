import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'sqlite',
  schema: [
    './worker/db/identity.ts',
    './worker/db/commerce.ts',
    './worker/db/tx-claims.ts',
    './worker/db/candidates.ts',
    './worker/db/messaging.ts',
    './worker/db/access.ts',
    './worker/db/archives.ts',
    './worker/db/audits.ts',
    './worker/db/handoff.ts',
    './worker/db/operations.ts',
    './worker/db/sessions.ts',
  ],
  out: './migrations',
});
