import type { D1Migration } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { base64url } from '#core/encoding.ts';
import type { Env } from '#platform/context.ts';
import { everyDatabase } from './every-database.ts';
import { withReadableIds } from './readable-ids.ts';

interface TestEnv extends Env {
  TEST_MIGRATIONS: D1Migration[];
  TEST_DB_2: D1Database;
  TEST_DB_3: D1Database;
  TEST_DIRECTORY: D1Database;
  TEST_CHAIN_URL: string;
  TEST_RECEIVER_URL: string;
  TEST_PRICE_URL: string;
  TEST_MAIL_URL: string;
  TEST_OUTSIDE_URL: string;
  TEST_SOAK: string;
  TEST_SEED: string;
  TEST_FUZZ_SEED: string;
  /** `3`: tests run with three databases and a directory. */
  TEST_DATABASES: string;
}

const bound = env as unknown as TestEnv;
const first = bound.DB;

export const hasThree = bound.TEST_DATABASES === '3';

/** Databases of the service under test, as they are bound. */
export const boundDatabases = (): Record<string, D1Database> =>
  hasThree ? { DB: first, DB_2: bound.TEST_DB_2, DB_3: bound.TEST_DB_3, DIRECTORY: bound.TEST_DIRECTORY } : { DB: first };

/** Databases of accounts, in the order of their partitions. */
export const merchantDatabases = (): D1Database[] => (hasThree ? [first, bound.TEST_DB_2, bound.TEST_DB_3] : [first]);

/** Bindings for tests. `DB` has the rows of all databases. Statements of tests name ids as text. */
export const testEnv: TestEnv = {
  ...bound,
  DB: withReadableIds(hasThree ? everyDatabase(merchantDatabases()) : first),
  TEST_DB_2: withReadableIds(bound.TEST_DB_2),
  TEST_DB_3: withReadableIds(bound.TEST_DB_3),
  TEST_DIRECTORY: withReadableIds(bound.TEST_DIRECTORY),
};

/** Factor of the races: 1 in every run except `npm run test:nightly`. */
export const SOAK = Number(testEnv.TEST_SOAK);
/** Seed printed with every race. `SEED=… npm run test:nightly` repeats the shuffles. */
export const SEED = Number(testEnv.TEST_SEED);
/** Repeats for tests of single faults in a soak. */
export const REPEATED = { repeats: SOAK - 1 };

/** Outside services that mainnet refuses over plain http. */
export const OUTSIDE_ON_MAINNET = {
  GOOGLE_ISSUER: '',
  GITHUB_URL: '',
  GITHUB_API_URL: '',
  PROCESSOR_API_URL: '',
  TELEGRAM_API_URL: '',
  DISCORD_API_URL: '',
};

const seed = (fill: number) => base64url.encode(new Uint8Array(32).fill(fill));

/** Two secrets each, as during a rotation. */
export const CONNECTOR_SECRETS = {
  telegram: ['telegram-connector-secret-number-one', 'telegram-connector-secret-number-two'],
  discord: ['discord-connector-secret-number-one-', 'discord-connector-secret-number-two-'],
} as const;

/** Configuration of a complete deployment, with rates high enough not to interfere. */
export const testConfig = (chainId: string): Record<string, string> => ({
  NETWORK: 'devnet',
  RPC_URL: `${testEnv.TEST_CHAIN_URL}/${chainId}`,
  BASE_URL: 'https://svc.test',
  RATE_MULTIPLIER: '100000',
  PEPPER: 'a pepper for tests, thirty-two bytes or more',
  JWT_KEYS: seed(1),
  RECEIPT_KEYS: `${seed(2)},${seed(3)}`,
  EMAIL_LINK_KEYS: `${seed(11)},${seed(12)}`,
  SANDBOX_SEED: seed(13),
  SEAL_KEYS: `${seed(4)},${seed(5)}`,
  FACTOR_KEYS: `${seed(14)},${seed(15)}`,
  STAFF_FACTOR: 'optional',
  FEE_PAYER_KEYS: seed(6),
  CHALLENGE_KEYS: `${seed(7)},${seed(8)}`,
  SETTLE_PATIENCE_MS: '600',
  TREASURY_WALLET: 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa',
  PRICE_URL: `${testEnv.TEST_PRICE_URL}/${chainId}/v2/updates/price/latest?ids[]=sol-usd&parsed=true`,
  HANDOFF_SECRETS: `${seed(9)},${seed(10)}`,
  GOOGLE_CLIENT_ID: `client-${chainId}`,
  GOOGLE_CLIENT_SECRET: `secret-of-client-${chainId}`,
  GOOGLE_ISSUER: `${testEnv.TEST_OUTSIDE_URL}/openid/${chainId}`,
  GITHUB_CLIENT_ID: `client-${chainId}-hub`,
  GITHUB_CLIENT_SECRET: `secret-of-client-${chainId}-hub`,
  GITHUB_URL: `${testEnv.TEST_OUTSIDE_URL}/github/${chainId}-hub`,
  GITHUB_API_URL: `${testEnv.TEST_OUTSIDE_URL}/github-api/${chainId}-hub`,
  PROCESSOR_API_KEY: `sk_test_${chainId.replaceAll('-', '_')}`,
  PROCESSOR_API_URL: testEnv.TEST_OUTSIDE_URL,
  PROCESSOR_WEBHOOK_SECRETS: `whsec_of_an_older_time,whsec_of_sk_test_${chainId.replaceAll('-', '_')}`,
  PROCESSOR_PRICE_STARTER: 'price_starter',
  PROCESSOR_PRICE_GROWTH: 'price_growth',
  PROCESSOR_PRICE_SCALE: 'price_scale',
  PROCESSOR_PORTAL_CONFIGURATION: 'bpc_plans',
  TELEGRAM_BOT_USERNAME: 'svc_test_bot',
  TELEGRAM_CONNECTOR_SECRETS: CONNECTOR_SECRETS.telegram.join(),
  TELEGRAM_BOT_TOKEN: `4711:${chainId}-of-telegram`,
  TELEGRAM_API_URL: `${testEnv.TEST_OUTSIDE_URL}/telegram`,
  DISCORD_BOT_TOKEN: `${chainId}-of-discord`,
  DISCORD_API_URL: `${testEnv.TEST_OUTSIDE_URL}/discord`,
  DISCORD_CLIENT_ID: '123456789012345678',
  DISCORD_REDIRECT_URI: 'https://connector.example.com/discord',
  DISCORD_CONNECTOR_SECRETS: CONNECTOR_SECRETS.discord.join(),
});
