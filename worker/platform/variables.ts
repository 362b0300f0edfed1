/**
 * One line for every variable of a deployment: what it is, when it is needed, and what a value must be. The worker reads its
 * environment by it, `npm run check-config` checks one before it is deployed, and the README's table is made of it.
 * @module
 */

import { z } from 'zod';
import { PEPPER_BYTES, secretRing } from '#core/crypto.ts';
import { PRICE_SOURCES } from '#rules/price-sources.ts';
import { parseWallet } from '#solana/assets.ts';

export interface Variable<S extends z.ZodType = z.ZodType> {
  schema: S;
  /** What a value looks like, in words that a finding may repeat. */
  form: string;
  meaning: string;
  /** Always, on mainnet, or together with another one; otherwise never. */
  needed?: 'always' | 'on mainnet' | { with: string };
  /** What it is where it is not set. */
  fallback?: string;
  /** Put by `wrangler secret put`, and shown nowhere. */
  isSecret?: true;
  /** For a local machine: on mainnet anything but the fallback is refused. */
  isLocalOnly?: true;
}

export const OPERATOR_SECRET_BYTES = 32;
export const RPC_WEBHOOK_SECRET_BYTES = 16;

const seeds = z.string().regex(/^[\w-]{43}(,[\w-]{43})*$/);
const secrets = (minBytes: number) => z.string().refine((text) => secretRing(text, minBytes).every(({ length }) => length >= minBytes));
const connectorSecrets = z.string().regex(/^[\x21-\x2b\x2d-\x7e]{32,256}(,[\x21-\x2b\x2d-\x7e]{32,256})*$/);
const wallet = z.string().refine((text) => parseWallet(text).ok);
const count = (fallback: number) => z.coerce.number().int().nonnegative().default(fallback);
const flag = z.enum(['true', 'false']).default('false');
const loopback = z.url().regex(/^http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?(\/|$)/);
const list = z.string().transform((text) => [...new Set(text.split(',').map((part) => part.trim()))]);

const SEEDS = '32-byte base64url seeds, comma-separated';

const lineOf = <S extends z.ZodType>(
  schema: S,
  form: string,
  meaning: string,
  rest: Omit<Variable, 'schema' | 'form' | 'meaning'> = {},
) => ({ schema, form, meaning, ...rest });

export const VARIABLES = {
  NETWORK: lineOf(z.enum(['mainnet', 'devnet']), '`mainnet`, `devnet`', 'decides the USDC mint and the genesis hash the RPC must show', {
    needed: 'always',
  }),
  RPC_URL: lineOf(
    z.url().optional(),
    'URL',
    'the node we read and send through, or `RPC_URLS`; best a secret (then take it out of `[vars]`), since it often holds a key',
  ),
  RPC_URLS: lineOf(
    list.pipe(z.array(z.url())).optional(),
    'URLs, comma-separated',
    'several nodes, instead of `RPC_URL`: the first is asked, the next where it does not answer, and two must agree that a payment is gone. Each must show the network’s genesis hash',
  ),
  BASE_URL: lineOf(
    z.url().optional(),
    'URL',
    'where buyers reach the service, and who its tokens say made them; without it the origin of each request, and a webhook to the service itself is refused only when it is saved',
    { needed: 'on mainnet' },
  ),
  OWN_HOSTS: lineOf(
    list.pipe(z.array(z.string().regex(/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/))).default([]),
    'host names, comma-separated',
    'other names this worker answers under, as one at `workers.dev`: webhooks to them, as to `BASE_URL`, would go in circles and are refused',
  ),
  SERVICE_REFERENCE: lineOf(
    wallet,
    'address',
    'read-only key in every checkout transaction, by which all of them are found. Any address nobody uses; never change it while sessions run',
    { needed: 'always' },
  ),
  PEPPER: lineOf(
    secrets(PEPPER_BYTES),
    'one or more of 32+ bytes, comma-separated',
    'keys the hashes of API keys, e-mails, wallets and setup secrets, and seals those of passwords: the first makes them, all are tried. See below before you take one out',
    { needed: 'always', isSecret: true },
  ),
  JWT_KEYS: lineOf(seeds, SEEDS, 'the first signs sessions, all verify', { needed: 'always', isSecret: true }),
  RECEIPT_KEYS: lineOf(seeds, SEEDS, 'the first signs receipts; keep old ones for ever, their receipts need them', {
    needed: 'always',
    isSecret: true,
  }),
  SEAL_KEYS: lineOf(seeds, SEEDS, 'the first seals webhook secrets and kept answers in the database, all open them', {
    needed: 'always',
    isSecret: true,
  }),
  FEE_PAYER_KEYS: lineOf(
    seeds.optional(),
    SEEDS,
    'the first pays the network for agents’ payments: its address is `extra.feePayer` of any challenge; give it a little SOL and nothing else. The others still sign for challenges that name them. Without it there is no x402',
    { needed: { with: 'CHALLENGE_KEYS' }, isSecret: true },
  ),
  CHALLENGE_KEYS: lineOf(seeds.optional(), SEEDS, 'the first authenticates x402 challenges, all verify', {
    needed: { with: 'FEE_PAYER_KEYS' },
    isSecret: true,
  }),
  FEE_PAYER_LOW_LAMPORTS: lineOf(
    count(50_000_000),
    'number',
    'below it the log warns every minute and the rail is `degraded`; below a hundredth of it no challenge is made',
    { fallback: '50000000' },
  ),
  FEE_ALARM_LAMPORTS: lineOf(
    count(50_000_000),
    'number',
    'what may leave the fee payer within an hour, in lamports; above it the log warns every minute and health is `degraded`. 0: no alarm',
    { fallback: '50000000' },
  ),
  FREE_FEES_PER_DAY: lineOf(
    count(5000),
    'number',
    'x402 payments a day (UTC) whose network fee is paid for all free accounts together; paid plans have budgets of their own',
    { fallback: '5000' },
  ),
  SETTLE_PATIENCE_MS: lineOf(count(8000), 'number', 'how long settle waits for the chain before it answers 202', { fallback: '8000' }),
  OPERATOR_SECRET: lineOf(
    secrets(OPERATOR_SECRET_BYTES).optional(),
    'one or more of 32+ bytes, comma-separated',
    'lets `npm run admin` suspend accounts and name staff (by user id, or by an e-mail that was verified); any of them opens, and without one there is no such route',
    { isSecret: true },
  ),
  FRESH_SIGN_IN_SECONDS: lineOf(
    count(900),
    'number',
    'how long after a sign-in a person may change payout wallets, make live keys and delete the account',
    { fallback: '900' },
  ),
  RPC_WEBHOOK_SECRET: lineOf(
    secrets(RPC_WEBHOOK_SECRET_BYTES).optional(),
    'one or more of 16+ bytes, comma-separated',
    'shared with the chain data provider, whose signature may be made with any; without one its webhook is refused',
    { isSecret: true },
  ),
  RPC_WEBHOOK_HEADER: lineOf(
    z
      .string()
      .regex(/^[\w-]+$/)
      .default('Rpc-Signature'),
    'header name',
    'the header the provider signs in; `Rpc-Signature` and `X-Rpc-Signature` are read in any case',
    { fallback: 'Rpc-Signature' },
  ),
  FEE_BPS: lineOf(count(0).pipe(z.number().max(5000)), '0 to 5000', 'the service’s share of a price in hundredths of a per cent', {
    fallback: '0',
  }),
  FEE_WALLET: lineOf(wallet.optional(), 'address', 'where that share goes, in the buyer’s one transaction', {
    needed: { with: 'FEE_BPS' },
  }),
  TREASURY_WALLET: lineOf(
    wallet.optional(),
    'address',
    'where plans are paid to; it needs a USDC account. Without it plans cannot be bought',
  ),
  SESSION_SECONDS: lineOf(count(900), 'number', 'how long a checkout session is open, unless the product says', { fallback: '900' }),
  LATE_GRACE_SECONDS: lineOf(count(120), 'number', 'how much later a block may still be on time, for sessions that begin from now on', {
    fallback: '120',
  }),
  POLL_AFTER_MS: lineOf(
    z
      .string()
      .regex(/^(\d+:\d+,)*\d+:\d+$/)
      .default('30:2000,120:3000,86400:10000'),
    '`age:hint` pairs',
    'up to that age of a payment in seconds, ask again after so many milliseconds',
    { fallback: '30:2000,120:3000,86400:10000' },
  ),
  PRICE_URL: lineOf(
    z.url().optional(),
    'URL',
    'where the price of SOL comes from, in the form of Pyth Hermes: `https://hermes.pyth.network/v2/updates/price/latest?ids[]=<feed id of SOL/USD>`. Without it nothing is converted',
  ),
  PRICE_SOURCE: lineOf(
    z.enum(PRICE_SOURCES).default('pyth_hermes'),
    PRICE_SOURCES.map((name) => `\`${name}\``).join(', '),
    'the form in which `PRICE_URL` answers',
    { fallback: 'pyth_hermes' },
  ),
  HANDOFF_SECRETS: lineOf(seeds.optional(), SEEDS, 'the first signs hand-offs, all verify; without one there are none', { isSecret: true }),
  TELEGRAM_BOT_USERNAME: lineOf(
    z
      .string()
      .regex(/^\w{4,32}$/)
      .optional(),
    'name',
    'the bot buyers are sent to, to show who they are',
    { needed: { with: 'TELEGRAM_CONNECTOR_SECRETS' } },
  ),
  TELEGRAM_CONNECTOR_SECRETS: lineOf(
    connectorSecrets.optional(),
    'one or more of 32+ characters, comma-separated',
    'what our connector there shows us, each of them',
    { needed: { with: 'TELEGRAM_BOT_USERNAME' }, isSecret: true },
  ),
  DISCORD_CLIENT_ID: lineOf(
    z
      .string()
      .regex(/^\d{5,25}$/)
      .optional(),
    'number',
    'the same for Discord',
    { needed: { with: 'DISCORD_CONNECTOR_SECRETS' } },
  ),
  DISCORD_REDIRECT_URI: lineOf(z.url().optional(), 'URL', 'of the connector, as registered there: it gets the session back as `state`', {
    needed: { with: 'DISCORD_CLIENT_ID' },
  }),
  DISCORD_CONNECTOR_SECRETS: lineOf(
    connectorSecrets.optional(),
    'one or more of 32+ characters, comma-separated',
    'what our connector there shows us, each of them',
    { needed: { with: 'DISCORD_CLIENT_ID' }, isSecret: true },
  ),
  FRAME_ANCESTORS: lineOf(
    z
      .string()
      .regex(/^(?:'none'|https:\/\/[\w.-]+(?: https:\/\/[\w.-]+)*)$/)
      .default("'none'"),
    'https origins, separated by spaces',
    'who may show the pages in a frame, as `https://shop.example.com`',
    { fallback: "'none'" },
  ),
  RATE_MULTIPLIER: lineOf(z.coerce.number().positive().default(1), 'number', 'local only: multiplies every rate limit', {
    fallback: '1',
    isLocalOnly: true,
  }),
  ALLOW_INSECURE_WEBHOOKS: lineOf(flag, '`true`, `false`', 'local only: webhooks to `http://127.0.0.1`', {
    fallback: 'false',
    isLocalOnly: true,
  }),
  LOCAL_CLOCK_URL: lineOf(loopback.optional(), 'URL of this machine', 'local only: the chain whose `local_warp` moves business time', {
    isLocalOnly: true,
  }),
  DEMO_WALLET: lineOf(flag, '`true`, `false`', 'local only: the checkout page offers a wallet with play money', {
    fallback: 'false',
    isLocalOnly: true,
  }),
} satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;
export const variables = Object.entries(VARIABLES) as [VariableName, Variable][];
