import { reset } from 'cloudflare:test';
import { afterAll, afterEach, expect } from 'vitest';
import { unboundSoFar } from '../faults/tenant-statements.ts';
import { boundDatabases, hasThree, merchantDatabases, testEnv } from './env.ts';
import { migrate } from './migrated.ts';
import { expectStoredEvents } from './published-events.ts';
import { expectRowsAtHome } from './rows-at-home.ts';

// The test runner resolves @solana/kit for browsers, which require a secure context. workerd always is one.
Object.assign(globalThis, { isSecureContext: true });

// Shows logs only for failed tests. The runner would send each line to its own process within the request, which takes a tenth of all test
// time and never ends for the line of a dead object.
// biome-ignore lint/suspicious/noConsole: this file replaces console.log.
const show = console.log;
const lines: unknown[][] = [];
const showLines = () => lines.splice(0).forEach((line) => void show(...line));
console.log = (...line) => void lines.push(line);
afterEach(({ task }) => {
  if (task.result?.state === 'fail') showLines();
  lines.length = 0;
});
afterAll(() => {
  // Shows the logs of a failed `beforeAll`, after which no test runs.
  showLines();
  console.log = show;
});

// Fails if a statement finds tenant rows by a value that a tenant may choose, without mode and merchant.
afterAll(() => expect(unboundSoFar()).toEqual([]));

// Resets objects with their file. A later alarm would ask the test runner for a module without getting an answer, and the worker would
// hang.
afterAll(async () => {
  try {
    await expectStoredEvents(testEnv.DB);
    if (hasThree) await expectRowsAtHome(merchantDatabases());
  } finally {
    await reset();
  }
});

for (const database of Object.values(boundDatabases())) await migrate(database);
// Nothing is registered yet, so the directory has all names.
if (hasThree)
  await testEnv.TEST_DIRECTORY.prepare(
    "INSERT INTO cursors (name, passed_at, version) VALUES ('names-complete', 0, 1) ON CONFLICT DO NOTHING",
  ).run();
