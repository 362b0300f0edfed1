import { reset } from 'cloudflare:test';
import { afterAll, afterEach, expect } from 'vitest';
import { unboundSoFar } from '../faults/tenant-statements.ts';
import { testEnv } from './env.ts';
import { migrate } from './migrated.ts';

// The test runner resolves @solana/kit for browsers, where it insists on a secure context; workerd always is one.
Object.assign(globalThis, { isSecureContext: true });

// What the service logs is shown where a test fails. The runner would send each line to its own process, within the request that
// wrote it: a tenth of the time that all tests take, and a line that dies with its object would be waited for at the end for ever.
// biome-ignore lint/suspicious/noConsole: its lines are what this is about.
const show = console.log;
const lines: unknown[][] = [];
const showLines = () => lines.splice(0).forEach((line) => void show(...line));
console.log = (...line) => void lines.push(line);
afterEach(({ task }) => {
  if (task.result?.state === 'fail') showLines();
  lines.length = 0;
});
afterAll(() => {
  // Those of a preparation that failed, so that no test ran after it.
  showLines();
  console.log = show;
});

// All tenants, live and of the sandbox, share the tables: a statement that finds rows by what a tenant may name says whose it means.
afterAll(() => expect(unboundSoFar()).toEqual([]));

// Objects end with their file: one that its alarm calls between two files, or after the last, would ask the test runner for the module of
// the service when nobody answers any more, and the worker would wait for it for ever.
afterAll(reset);

await migrate(testEnv.DB);
