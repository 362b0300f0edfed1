import { applyD1Migrations } from 'cloudflare:test';
import { testEnv } from './env.ts';

// The test runner resolves @solana/kit for browsers, where it insists on a secure context; workerd always is one.
Object.assign(globalThis, { isSecureContext: true });

await applyD1Migrations(testEnv.DB, testEnv.TEST_MIGRATIONS);
