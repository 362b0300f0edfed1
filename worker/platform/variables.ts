/**
 * One line for every variable of a deployment: what it is, when it is needed, and what a value must be. The worker reads its
 * environment by it, `npm run check-config` checks one before it is deployed, and the README's table is made of it.
 * @module
 */

import { z } from 'zod';
import { PEPPER_BYTES, secretRing } from '#core/crypto.ts';
import { PRICE_SOURCES } from '#rules/price-sources.ts';
import { parseWallet } from '#solana/assets.ts';
import { MAIL_VARIABLES, OUTSIDE_VARIABLES } from './outside-variables.ts';
import { PAYING_VARIABLES } from './paying-variables.ts';
import { count, LOOPBACK, SEEDS, seeds, type Variable, variableOf } from './variable.ts';
import { OPERATOR_VARIABLES } from './variables/operator.ts';

export const OPERATOR_SECRET_BYTES = 32;
export const RPC_WEBHOOK_SECRET_BYTES = 16;

const secrets = (minBytes: number) => z.string().refine((text) => secretRing(text, minBytes).every(({ length }) => length >= minBytes));
const connectorSecrets = z.string().regex(/^[\x21-\x2b\x2d-\x7e]{32,256}(,[\x21-\x2b\x2d-\x7e]{32,256})*$/);
const wallet = z.string().refine((text) => parseWallet(text).ok);
const flag = z.enum(['true', 'false']).default('false');
const loopback = z.url().regex(LOOPBACK);
const list = z.string().transform((text) => [...new Set(text.split(',').map((part) => part.trim()))]);

export const VARIABLES = {
  NETWORK: variableOf(
    z.enum(['mainnet', 'devnet']),
    '`mainnet`, `devnet`',
    'decides the USDC mint and the genesis hash the RPC must show',
    { needed: 'always' },
  ),
  RPC_URL: variableOf(
    z.url().optional(),
    'URL',
    'the node we read and send through, or `RPC_URLS`; best a secret (then take it out of `[vars]`), since it often holds a key',
  ),
  RPC_URLS: variableOf(
    list.pipe(z.array(z.url())).optional(),
    'URLs, comma-separated',
    'several nodes, instead of `RPC_URL`: the first is asked, the next where it does not answer, and two must agree that a payment is gone. Each must show the network’s genesis hash',
  ),
  BASE_URL: variableOf(
    z.url().optional(),
    'URL',
    'where buyers reach the service, and who its tokens say made them; without it the origin of each request, and a webhook to the service itself is refused only when it is saved',
    { needed: 'on mainnet' },
  ),
  OWN_HOSTS: variableOf(
    list.pipe(z.array(z.string().regex(/^(?!-)[a-z0-9-]+(\.[a-z0-9-]+)+$/))).default([]),
    'host names, comma-separated',
    'other names this worker answers under, as one at `workers.dev`: webhooks to them, as to `BASE_URL`, would go in circles and are refused',
  ),
  SERVICE_REFERENCE: variableOf(
    wallet,
    'address',
    'read-only key in every checkout transaction, by which all of them are found. Any address nobody uses; never change it while sessions run',
    { needed: 'always' },
  ),
  PEPPER: variableOf(
    secrets(PEPPER_BYTES),
    'one or more of 32+ bytes, comma-separated',
    'keys the hashes of API keys, e-mails, wallets and setup secrets, and seals those of passwords: the first makes them, all are tried. See below before you take one out',
    { needed: 'always', isSecret: true },
  ),
  JWT_KEYS: variableOf(seeds, SEEDS, 'the first signs sessions, all verify', { needed: 'always', isSecret: true }),
  RECEIPT_KEYS: variableOf(seeds, SEEDS, 'the first signs receipts; keep old ones for ever, their receipts need them', {
    needed: 'always',
    isSecret: true,
  }),
  LETTER_KEYS: variableOf(seeds, SEEDS, 'the first makes the tokens in emails that verify an address or set a password, all verify', {
    needed: 'always',
    isSecret: true,
  }),
  SANDBOX_SEED: variableOf(
    seeds.refine((text) => !text.includes(',')),
    'one 32-byte base64url seed',
    'the wallets and keys of sandboxes are made of it; they hold nothing',
    { needed: 'always', isSecret: true },
  ),
  SEAL_KEYS: variableOf(seeds, SEEDS, 'the first seals webhook secrets and kept answers in the database, all open them', {
    needed: 'always',
    isSecret: true,
  }),
  ...PAYING_VARIABLES,
  ...OPERATOR_VARIABLES,
  OPERATOR_SECRET: variableOf(
    secrets(OPERATOR_SECRET_BYTES).optional(),
    'one or more of 32+ bytes, comma-separated',
    'lets `npm run admin` suspend accounts and name staff (by user id, or by an e-mail that was verified); any of them opens, and without one there is no such route',
    { isSecret: true },
  ),
  FRESH_SIGN_IN_SECONDS: variableOf(
    count(900),
    'number',
    'how long after a sign-in a person may change payout wallets, make live keys and delete the account',
    { fallback: '900' },
  ),
  RPC_WEBHOOK_SECRET: variableOf(
    secrets(RPC_WEBHOOK_SECRET_BYTES).optional(),
    'one or more of 16+ bytes, comma-separated',
    'shared with the chain data provider, whose signature may be made with any; without one its webhook is refused',
    { isSecret: true },
  ),
  RPC_WEBHOOK_HEADER: variableOf(
    z
      .string()
      .regex(/^[\w-]+$/)
      .default('Rpc-Signature'),
    'header name',
    'the header the provider signs in; `Rpc-Signature` and `X-Rpc-Signature` are read in any case',
    { fallback: 'Rpc-Signature' },
  ),
  FEE_BPS: variableOf(count(0).pipe(z.number().max(5000)), '0 to 5000', 'the service’s share of a price in hundredths of a per cent', {
    fallback: '0',
  }),
  FEE_WALLET: variableOf(wallet.optional(), 'address', 'where that share goes, in the buyer’s one transaction', {
    needed: { with: 'FEE_BPS' },
  }),
  TREASURY_WALLET: variableOf(
    wallet.optional(),
    'address',
    'where plans are paid to; it needs a USDC account. Without it plans cannot be bought',
  ),
  SESSION_SECONDS: variableOf(count(900), 'number', 'how long a checkout session is open, unless the product says', {
    fallback: '900',
  }),
  LATE_GRACE_SECONDS: variableOf(count(120), 'number', 'how much later a block may still be on time, for sessions that begin from now on', {
    fallback: '120',
  }),
  POLL_AFTER_MS: variableOf(
    z
      .string()
      .regex(/^(\d+:\d+,)*\d+:\d+$/)
      .default('30:2000,120:3000,86400:10000'),
    '`age:hint` pairs',
    'up to that age of a payment in seconds, ask again after so many milliseconds',
    { fallback: '30:2000,120:3000,86400:10000' },
  ),
  PRICE_URL: variableOf(
    z.url().optional(),
    'URL',
    'where the price of SOL comes from, in the form of Pyth Hermes: `https://hermes.pyth.network/v2/updates/price/latest?ids[]=<feed id of SOL/USD>`. Without it nothing is converted',
  ),
  PRICE_SOURCE: variableOf(
    z.enum(PRICE_SOURCES).default('pyth_hermes'),
    PRICE_SOURCES.map((name) => `\`${name}\``).join(', '),
    'the form in which `PRICE_URL` answers',
    { fallback: 'pyth_hermes' },
  ),
  ...MAIL_VARIABLES,
  HANDOFF_SECRETS: variableOf(seeds.optional(), SEEDS, 'the first signs hand-offs, all verify; without one there are none', {
    isSecret: true,
  }),
  TELEGRAM_BOT_USERNAME: variableOf(
    z
      .string()
      .regex(/^\w{4,32}$/)
      .optional(),
    'name',
    'the bot buyers are sent to, to show who they are',
    { needed: { with: 'TELEGRAM_CONNECTOR_SECRETS' } },
  ),
  TELEGRAM_CONNECTOR_SECRETS: variableOf(
    connectorSecrets.optional(),
    'one or more of 32+ characters, comma-separated',
    'what our connector there shows us, each of them',
    { needed: { with: 'TELEGRAM_BOT_USERNAME' }, isSecret: true },
  ),
  DISCORD_CLIENT_ID: variableOf(
    z
      .string()
      .regex(/^\d{5,25}$/)
      .optional(),
    'number',
    'the same for Discord',
    { needed: { with: 'DISCORD_CONNECTOR_SECRETS' } },
  ),
  DISCORD_REDIRECT_URI: variableOf(
    z.url().optional(),
    'URL',
    'of the connector, as registered there: it gets the session back as `state`',
    {
      needed: { with: 'DISCORD_CLIENT_ID' },
    },
  ),
  DISCORD_CONNECTOR_SECRETS: variableOf(
    connectorSecrets.optional(),
    'one or more of 32+ characters, comma-separated',
    'what our connector there shows us, each of them',
    { needed: { with: 'DISCORD_CLIENT_ID' }, isSecret: true },
  ),
  ...OUTSIDE_VARIABLES,
  FRAME_ANCESTORS: variableOf(
    z
      .string()
      .regex(/^(?:'none'|https:\/\/[\w.-]+(?: https:\/\/[\w.-]+)*)$/)
      .default("'none'"),
    'https origins, separated by spaces',
    'who may show the pages in a frame, as `https://shop.example.com`',
    { fallback: "'none'" },
  ),
  RATE_MULTIPLIER: variableOf(z.coerce.number().positive().default(1), 'number', 'local only: multiplies every rate limit', {
    fallback: '1',
    isLocalOnly: true,
  }),
  ALLOW_INSECURE_WEBHOOKS: variableOf(flag, '`true`, `false`', 'local only: webhooks to `http://127.0.0.1`', {
    fallback: 'false',
    isLocalOnly: true,
  }),
  LOCAL_CLOCK_URL: variableOf(loopback.optional(), 'URL of this machine', 'local only: the chain whose `local_warp` moves business time', {
    isLocalOnly: true,
  }),
  DEMO_WALLET: variableOf(flag, '`true`, `false`', 'local only: the checkout page offers a wallet with play money', {
    fallback: 'false',
    isLocalOnly: true,
  }),
} satisfies Record<string, Variable>;

export type VariableName = keyof typeof VARIABLES;
export const variables = Object.entries(VARIABLES) as [VariableName, Variable][];
