import { applyD1Migrations } from 'cloudflare:test';
import { testEnv } from './env.ts';

// The test runner resolves @solana/kit for browsers, where it insists on a secure context; workerd always is one.
Object.assign(globalThis, { isSecureContext: true });

// The runner passes a line on within the request that wrote it. One that dies with its object is never passed on, and the runner
// would wait for it at the end for ever; so what an object logs is heard by those who listen to `console.log`, and goes no further.
// biome-ignore lint/suspicious/noConsole: its lines are what this is about.
const pass = console.log;
console.log = (...said) => {
  if (!/"object":"(?:entitlement|admission)"/.test(String(said[0]))) pass(...said);
};

await applyD1Migrations(testEnv.DB, testEnv.TEST_MIGRATIONS);
