import { statfsSync } from 'node:fs';
import { resolve } from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-pool-workers';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { WORKERD_FLAGS } from './local/service/workerd-flags.ts';
import { hideKnownNoise } from './test/support/runner/known-noise.ts';
import LongestFirst from './test/support/runner/longest-first.ts';
import { oneModule } from './test/support/runner/one-module.ts';
import { filesWithout, TAGS } from './test/support/runner/tags.ts';

const WITHOUT_WORKERD = resolve(import.meta.dirname, 'test/support/runner/without-workerd.ts');
const MEMORY = '/dev/shm';
const MEMORY_BYTES_MIN = 2 * 1024 ** 3;
const TEST_MS = process.env.SOAK ? 3_600_000 : 60_000;

/** Whether the system has a folder in memory with room for what all tests write: about a tenth of that. */
function hasMemoryFolder(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= MEMORY_BYTES_MIN;
  } catch {
    return false;
  }
}

// A test kills processes, never the machine: what its objects and databases write need not survive a power cut. A disk that keeps every
// commit would take half of the time of a run.
if (!process.env.TMPDIR && hasMemoryFolder()) process.env.TMPDIR = MEMORY;

Object.assign(process.env, WORKERD_FLAGS);
hideKnownNoise();

/** What a selection by tag leaves out; pure rules are part of every one but that of volume. */
const LEFT_OUT = ['**/node_modules/**', ...filesWithout(process.env.TAG)];

/** The local chain, and the programs on it. */
const IN_CHAIN = ['test/local/{chain,programs}/**/*.test.ts'];

const STORIES = '{story,races,crashes}.test.ts';
/** Files that run with three databases as well: with `THREE=all` (`npm run test:three`) all, else those that cross accounts and databases most. */
const THREE =
  process.env.THREE === 'all'
    ? [
        `test/features/{accounts,checkout,payments,receipts,webhooks,metered,subscriptions}/**/*.${STORIES}`,
        'test/contract/any-history.story.test.ts',
      ]
    : [
        'test/contract/any-history.story.test.ts',
        `test/features/accounts/{claim,email-links,oauth,oauth-attacks,owner-emails,sign-in}.${STORIES}`,
        `test/features/checkout/{checkout,handoff,sessions,sol}.${STORIES}`,
        `test/features/payments/{confirm-refusals,cursor,list-rails,refunds,unmatched,unseen}.story.test.ts`,
        `test/features/receipts/{list,send-proof}.${STORIES}`,
        `test/features/webhooks/{events,integrations,product-filter,webhooks}.${STORIES}`,
        `test/features/metered/{live,others,payouts}.${STORIES}`,
        `test/features/subscriptions/{cancel,emails,first-collection,stop}.${STORIES}`,
      ];
const OF_THREE_ALONE = 'test/three/**/*.test.ts';
const NOT_OF_THREE = [
  // These put a faulty database in the place of `DB`, and so need their account there.
  'test/features/payments/{confirm-access,ended-sessions,found-money,second-payments}.story.test.ts',
  'test/features/webhooks/{deliver.crashes,health.story}.test.ts',
  // These count the trips or rows of one database.
  'test/features/payments/unseen-money.story.test.ts',
  'test/features/accounts/end.story.test.ts',
  // These fill one database with copies of its rows.
  'test/features/metered/{classes,copies}.story.test.ts',
  'test/features/receipts/{export,search}.story.test.ts',
];

/** Tests that run inside workerd, with the bindings of wrangler.toml, a local chain and a receiver of webhooks. */
const inWorkerd = (
  test: TestProjectInlineConfiguration['test'],
  { isBundled = true, databases = 1 }: { isBundled?: boolean; databases?: 1 | 3 } = {},
): TestProjectInlineConfiguration => ({
  plugins: [
    ...(isBundled ? [oneModule()] : []),
    cloudflareTest(async ({ inject }) => ({
      main: './test/support/runner/worker.ts',
      wrangler: { configPath: './wrangler.toml' },
      miniflare: {
        // wrangler.toml leaves it to each deployment.
        r2Buckets: ['ARCHIVE'],
        // Migrated by the test that uses it.
        d1Databases: { TEST_DB_2: 'second', TEST_DB_3: 'third', TEST_DIRECTORY: 'directory' },
        bindings: {
          TEST_MIGRATIONS: await readD1Migrations('./migrations'),
          TEST_CHAIN_URL: inject('chainUrl'),
          TEST_RECEIVER_URL: inject('receiverUrl'),
          TEST_PRICE_URL: inject('priceUrl'),
          TEST_MAIL_URL: inject('mailUrl'),
          TEST_OUTSIDE_URL: inject('outsideUrl'),
          TEST_DATABASES: String(databases),
          TEST_SOAK: process.env.SOAK ?? '1',
          TEST_SEED: process.env.SEED ?? String(Date.now() % 1_000_000),
          // A test run asks the same of every commit; a soak, or who names a seed, asks something else.
          TEST_FUZZ_SEED: process.env.SEED ?? (process.env.SOAK ? String(Date.now() % 1_000_000) : '20261122'),
        },
      },
    })),
  ],
  test: {
    ...test,
    exclude: [...(test?.exclude ?? []), ...LEFT_OUT],
    setupFiles: [...(test?.setupFiles ?? []), './test/support/runner/setup.ts', './test/support/runner/flat-objects.ts'],
    globalSetup: ['./test/support/runner/global-setup.ts'],
    // A soak takes its time; a test run does not. A hook sells and pays as a test does.
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
  },
});

// Nearly everything runs inside workerd; the local chain and what must kill a process run in Node, the hosted pages in a
// browser; what measures comes last, alone and in a worker of its own, because the others would be what it measures.
export default defineConfig({
  test: {
    silent: 'passed-only',
    reporters: ['default', './test/support/runner/slowest.ts'],
    tags: TAGS,
    // One for each processor: a third one on two of them gains nothing, and makes every test wait longer.
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    projects: [
      // Stories move time and sweep, so each file has a database of its own; the files of a worker share the service's modules, and each begins
      // with a service that remembers nothing.
      inWorkerd({
        name: 'stories',
        include: ['test/**/*.{story,races,crashes}.test.ts'],
        setupFiles: ['./test/support/runner/reset-isolate.ts'],
        isolate: false,
      }),
      // The same stories with three databases and a directory: accounts are created in each of them in turn.
      inWorkerd(
        {
          name: 'three',
          include: [...THREE, OF_THREE_ALONE],
          exclude: NOT_OF_THREE,
          setupFiles: ['./test/support/runner/reset-isolate.ts'],
          isolate: false,
        },
        { databases: 3 },
      ),
      // These sweep nothing, so their files share a worker: starting one for each would take longer than they do.
      inWorkerd({
        name: 'workerd',
        include: ['test/**/*.http.test.ts', 'test/{objects,sdk}/**/*.test.ts'],
        exclude: ['**/*.node.test.ts'],
        isolate: false,
      }),
      // Rules and the promises that are read from the sources: in Node, because no binding and no object is part of them.
      {
        plugins: [oneModule()],
        resolve: { alias: { 'cloudflare:workers': WITHOUT_WORKERD, 'cloudflare:test': WITHOUT_WORKERD } },
        test: {
          name: 'unit',
          include: ['test/rules/**/*.test.ts', 'test/contract/{architecture,budgets,docs,glossary,limits,spec,style}.test.ts'],
          exclude: process.env.TAG === 'volume' ? LEFT_OUT : [],
          setupFiles: [WITHOUT_WORKERD],
          globalSetup: ['./test/support/runner/global-setup.ts'],
          isolate: false,
          testTimeout: 60_000,
        },
      },
      // These put another row into a registry, which takes the service file by file.
      inWorkerd({ name: 'registries', include: ['test/registries/**/*.test.ts'] }, { isBundled: false }),
      // These start chains in their own process and change nothing else of it, so their files share one with all it has loaded.
      { test: { name: 'chain', include: IN_CHAIN, exclude: LEFT_OUT, isolate: false, testTimeout: 60_000 } },
      {
        test: {
          name: 'node',
          include: ['test/{local,clients,simulate}/**/*.test.ts', 'test/**/*.node.test.ts'],
          exclude: [...IN_CHAIN, ...LEFT_OUT],
          testTimeout: 60_000,
        },
      },
      inWorkerd({ name: 'load', include: ['test/load/**/*.test.ts'], sequence: { groupOrder: 1 }, fileParallelism: false }),
      // Needs Chromium, so `npm test` leaves it out: npm run test:browser.
      {
        test: {
          name: 'browser',
          include: ['test/pages/**/*.test.ts'],
          exclude: LEFT_OUT,
          globalSetup: ['./test/pages/global-setup.ts'],
          testTimeout: 60_000,
          // What a browser does next it does when its turn comes: a second, the default, is a bet on an idle machine.
          expect: { poll: { timeout: 30_000 } },
        },
      },
    ],
  },
});
