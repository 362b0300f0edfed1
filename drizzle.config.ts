import { defineConfig } from 'drizzle-kit';

export default defineConfig({
  dialect: 'sqlite',
  schema: './worker/platform/db/tables/**/!(schema-check).ts',
  out: './migrations',
});
