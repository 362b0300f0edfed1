/**
 * All deployment variables. The worker, `npm run check-config` and the generated variables table read them here.
 * @module
 */

import { z } from 'zod';
import { PEPPER_BYTES, secretRing } from '#core/crypto.ts';
import { PRICE_SOURCES } from '#rules/price-sources.ts';
import { parseWallet } from '#solana/assets.ts';
import { count, LOOPBACK, SEEDS, seeds, type Variable, variableOf } from './variable.ts';
import { DATABASE_VARIABLES } from './variables/databases.ts';
import { OPERATOR_VARIABLES } from './variables/operator.ts';
import { MAIL_VARIABLES, OUTSIDE_VARIABLES } from './variables/outside.ts';
import { PAYING_VARIABLES } from './variables/paying.ts';

export const OPERATOR_SECRET_BYTES = 32;
export const RPC_WEBHOOK_SECRET_BYTES = 16;

/** Names and secrets of operators. */
export const operatorsOf = (text: string): [name: string, secret: string][] =>
  text.split(',').map((part) => {
    const [name = '', ...rest] = part.trim().split(':');
    return [name, rest.join(':')];
  });

const secrets = (minBytes: number) => z.string().refine((text) => secretRing(text, minBytes).every(({ length }) => length >= minBytes));
const connectorSecrets = z.string().regex(/^[\x21-\x2b\x2d-\x7e]{32,256}(,[\x21-\x2b\x2d-\x7e]{32,256})*$/);
const wallet = z.string().refine((text) => parseWallet(text).ok);
const flag = z.enum(['true', 'false']).default('false');
const loopback = z.url().regex(LOOPBACK);
const list = z.string().transform((text) => [...new Set(text.split(',').map((part) => part.trim()))]);

/** Limit of `SWEEPS`, which walks each of them on its own. */
const SERVICE_REFERENCES_MAX = 4;

export const VARIABLES = {
  NETWORK: variableOf(
    z.enum(['mainnet', 'devnet']),
    '`mainnet`, `devnet`',
    'Solana network. Decides the USDC mint and the genesis hash that the RPC must return',
    { needed: 'always' },
  ),
  RPC_URL: variableOf(
    z.url().optional(),
    'URL',
    'Solana node for reads and broadcasts; or set `RPC_URLS`. Preferably a secret (then remove it from `[vars]`), because it often contains a key',
  ),
  RPC_URLS: variableOf(
    list.pipe(z.array(z.url())).optional(),
    'URLs, comma-separated',
    'several Solana nodes instead of `RPC_URL`: the first is used, the next if it does not respond, and two must agree that a payment was dropped. Each must return the network’s genesis hash',
  ),
  BASE_URL: variableOf(
    z.url().optional(),
    'URL',
    'public URL of the service and issuer of its tokens. Defaults to the origin of each request; webhooks to the service itself are then refused only when they are saved',
    { needed: 'on mainnet' },
  ),
  OWN_HOSTS: variableOf(
    list.pipe(z.array(z.string().regex(/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/))).default([]),
    'host names, comma-separated',
    'other host names of this worker, such as one at `workers.dev`. Webhooks to them, as to `BASE_URL`, are refused because they would loop',
  ),
  SERVICE_REFERENCE: variableOf(
    list.pipe(z.array(wallet).max(SERVICE_REFERENCES_MAX)),
    `one to ${SERVICE_REFERENCES_MAX} addresses, comma-separated`,
    'read-only keys, one of which is added to every checkout transaction; the service scans each of them to find payments. Use addresses that you control but never use elsewhere. One key follows about 150 checkouts a second; append another beyond. Never remove or reorder keys: a payment keeps its own',
    { needed: 'always' },
  ),
  PEPPER: variableOf(
    secrets(PEPPER_BYTES),
    'one or more of 32+ bytes, comma-separated',
    'keys of the hashes of API keys, emails, wallets and setup secrets, and of the encryption of password hashes. The first creates, all are tried. Read the section on rotation before you remove one',
    { needed: 'always', isSecret: true },
  ),
  JWT_KEYS: variableOf(seeds, SEEDS, 'the first signs sessions, all verify', { needed: 'always', isSecret: true }),
  RECEIPT_KEYS: variableOf(seeds, SEEDS, 'the first signs receipts. Never remove old ones: they verify older receipts', {
    needed: 'always',
    isSecret: true,
  }),
  EMAIL_LINK_KEYS: variableOf(seeds, SEEDS, 'the first signs the links of emails, all verify', {
    needed: 'always',
    isSecret: true,
  }),
  SANDBOX_SEED: variableOf(
    seeds.refine((text) => !text.includes(',')),
    'one 32-byte base64url seed',
    'seed of the wallets and keys of sandboxes, which hold no money',
    { needed: 'always', isSecret: true },
  ),
  SEAL_KEYS: variableOf(seeds, SEEDS, 'the first encrypts webhook secrets and stored responses in the database, all decrypt', {
    needed: 'always',
    isSecret: true,
  }),
  FACTOR_KEYS: variableOf(seeds, SEEDS, 'the first encrypts the secrets of authenticator apps in the database, all decrypt', {
    needed: 'always',
    isSecret: true,
  }),
  STAFF_FACTOR: variableOf(
    z.enum(['required', 'optional']).default('required'),
    '`required`, `optional`',
    'whether staff need a passkey or an authenticator app, proven within 12 hours, for tickets of others and admin keys',
    { fallback: 'required' },
  ),
  ...PAYING_VARIABLES,
  ...OPERATOR_VARIABLES,
  ...DATABASE_VARIABLES,
  OPERATOR_SECRET: variableOf(
    secrets(OPERATOR_SECRET_BYTES).optional(),
    'one or more of 32+ bytes, comma-separated',
    'credential of `npm run admin`, for example to suspend accounts and name staff (by user id or verified email address). Any of them is accepted; without one the routes do not exist',
    { isSecret: true },
  ),
  OPERATOR_SECRETS: variableOf(
    z
      .string()
      .refine((text) =>
        operatorsOf(text).every(([name, secret]) => /^[a-z0-9][\w.-]{0,31}$/.test(name) && secret.length >= OPERATOR_SECRET_BYTES),
      )
      .optional(),
    '`name:secret` of each operator, secrets of 32+ characters, comma-separated',
    'credentials of `npm run admin`, one for each operator. The audit log has the name. `OPERATOR_SECRET` is that of `operator`',
    { isSecret: true },
  ),
  FRESH_SIGN_IN_SECONDS: variableOf(
    count(900),
    'number',
    'seconds after a sign-in in which a person may change payout wallets, create live keys and delete the account',
    { fallback: '900' },
  ),
  RPC_WEBHOOK_SECRET: variableOf(
    secrets(RPC_WEBHOOK_SECRET_BYTES).optional(),
    'one or more of 16+ bytes, comma-separated',
    'webhook secrets of the chain data provider. Any of them is accepted; without one the webhook is refused',
    { isSecret: true },
  ),
  RPC_WEBHOOK_HEADER: variableOf(
    z
      .string()
      .regex(/^[\w-]+$/)
      .default('Rpc-Signature'),
    'header name',
    'additional signature header of the provider; `Rpc-Signature` and `X-Rpc-Signature` are always read',
    { fallback: 'Rpc-Signature' },
  ),
  FEE_BPS: variableOf(count(0).pipe(z.number().max(5000)), '0 to 5000', 'service fee in basis points of the price', {
    fallback: '0',
  }),
  FEE_WALLET: variableOf(wallet.optional(), 'address', 'wallet that receives the service fee, in the buyer’s transaction', {
    needed: { with: 'FEE_BPS' },
  }),
  TREASURY_WALLET: variableOf(
    wallet.optional(),
    'address',
    'wallet that receives payments for plans. It needs a USDC account. Without it plans cannot be bought',
  ),
  SESSION_SECONDS: variableOf(count(900), 'number', 'duration of a checkout session, unless the product sets its own', {
    fallback: '900',
  }),
  LATE_GRACE_SECONDS: variableOf(
    count(120),
    'number',
    'seconds after the end of a session in which a block is still on time, for new sessions',
    {
      fallback: '120',
    },
  ),
  POLL_AFTER_MS: variableOf(
    z
      .string()
      .regex(/^(\d+:\d+,)*\d+:\d+$/)
      .default('30:2000,120:3000,86400:10000'),
    '`age:hint` pairs',
    'polling intervals: up to that age of a payment in seconds, poll after so many milliseconds',
    { fallback: '30:2000,120:3000,86400:10000' },
  ),
  PRICE_URL: variableOf(
    z.url().optional(),
    'URL',
    'SOL price source, in the format of Pyth Hermes: `https://hermes.pyth.network/v2/updates/price/latest?ids[]=<feed id of SOL/USD>`. Without it prices are not converted',
  ),
  PRICE_SOURCE: variableOf(
    z.enum(PRICE_SOURCES).default('pyth_hermes'),
    PRICE_SOURCES.map((name) => `\`${name}\``).join(', '),
    'response format of `PRICE_URL`',
    { fallback: 'pyth_hermes' },
  ),
  ...MAIL_VARIABLES,
  HANDOFF_SECRETS: variableOf(seeds.optional(), SEEDS, 'the first signs hand-offs, all verify. Without one hand-offs are unavailable', {
    isSecret: true,
  }),
  TELEGRAM_BOT_USERNAME: variableOf(
    z
      .string()
      .regex(/^\w{4,32}$/)
      .optional(),
    'name',
    'bot that identifies buyers',
    { needed: { with: 'TELEGRAM_CONNECTOR_SECRETS' } },
  ),
  TELEGRAM_CONNECTOR_SECRETS: variableOf(
    connectorSecrets.optional(),
    'one or more of 32+ characters, comma-separated',
    'secrets of the service’s connector. Any of them is accepted',
    { needed: { with: 'TELEGRAM_BOT_USERNAME' }, isSecret: true },
  ),
  DISCORD_CLIENT_ID: variableOf(
    z
      .string()
      .regex(/^\d{5,25}$/)
      .optional(),
    'number',
    'application id of the Discord connector, which identifies buyers',
    { needed: { with: 'DISCORD_CONNECTOR_SECRETS' } },
  ),
  DISCORD_REDIRECT_URI: variableOf(
    z.url().optional(),
    'URL',
    'redirect URL of the connector, as registered at Discord. It receives the session as `state`',
    {
      needed: { with: 'DISCORD_CLIENT_ID' },
    },
  ),
  DISCORD_CONNECTOR_SECRETS: variableOf(
    connectorSecrets.optional(),
    'one or more of 32+ characters, comma-separated',
    'secrets of the service’s connector. Any of them is accepted',
    { needed: { with: 'DISCORD_CLIENT_ID' }, isSecret: true },
  ),
  ...OUTSIDE_VARIABLES,
  FRAME_ANCESTORS: variableOf(
    z
      .string()
      .regex(/^(?:'none'|https:\/\/[\w.-]+(?: https:\/\/[\w.-]+)*)$/)
      .default("'none'"),
    'https origins, separated by spaces',
    'origins that may embed the pages in a frame, such as `https://shop.example.com`',
    { fallback: "'none'" },
  ),
  RATE_MULTIPLIER: variableOf(z.coerce.number().positive().default(1), 'number', 'local only: multiplies all rate limits', {
    fallback: '1',
    isLocalOnly: true,
  }),
  ALLOW_INSECURE_WEBHOOKS: variableOf(flag, '`true`, `false`', 'local only: webhooks to `http://127.0.0.1`', {
    fallback: 'false',
    isLocalOnly: true,
  }),
  LOCAL_CLOCK_URL: variableOf(
    loopback.optional(),
    'URL of this machine',
    'local only: local chain with the `local_warp` that moves business time',
    {
      isLocalOnly: true,
    },
  ),
  DEMO_WALLET: variableOf(flag, '`true`, `false`', 'local only: offers a wallet with play money on the checkout page', {
    fallback: 'false',
    isLocalOnly: true,
  }),
} satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;
export const variables = Object.entries(VARIABLES) as [VariableName, Variable][];
