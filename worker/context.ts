import { drizzle } from 'drizzle-orm/d1';
import { z } from 'zod';
import type { AdmissionRpc, Caller } from './admission.ts';
import type { EntitlementProjection, EntitlementRpc } from './entitlement-rpc.ts';
import { NETWORKS, type Network, parseWallet } from './solana/assets.ts';
import { Chain } from './solana/rpc.ts';

/** Work handed to the queue: only ids, the truth is in the database. `requestId`: of the request or job that asked for it. */
export type Job = { requestId?: string } & (
  | { kind: 'recheckCandidate'; paymentId: string; txSignature: string; attempt: number }
  /** Somebody says this transaction may be one of ours: its memo tells. */
  | { kind: 'findPayment'; txSignature: string; attempt: number }
  | { kind: 'fanOut'; eventIds: string[] }
  /** What an entitlement's object says of itself: the one job that carries state, with the version it is true of. */
  | { kind: 'projectEntitlement'; projection: EntitlementProjection }
);

/** An attempt against a stranger's server: in queues of their own, so that their time is not ours. */
export interface AttemptMessage {
  deliveryId: number;
}

/** A run of one sweep: the first of a cron, or the next where one invocation could not finish. */
export interface SweepMessage {
  sweep: string;
  /** Counted from 1. */
  round: number;
  /** Of the cron or the run that sent it. */
  requestId: string;
}

/** What wrangler.toml binds. Variables are text; `configOf` checks and converts them. */
export interface Env extends Record<string, unknown> {
  DB: D1Database;
  /** Where events and receipts go once they are old. Without it they stay in the database. */
  ARCHIVE?: R2Bucket;
  JOBS: Queue<Job>;
  WEBHOOKS: Queue<AttemptMessage>;
  /** For endpoints whose last attempt failed: they wait among themselves. */
  WEBHOOKS_SLOW: Queue<AttemptMessage>;
  /** One message an invocation: none waits for another sweep, or shares its limits. */
  SWEEPS: Queue<SweepMessage>;
  ADMISSION: DurableObjectNamespace<AdmissionRpc & Rpc.DurableObjectBranded>;
  ENTITLEMENT: DurableObjectNamespace<EntitlementRpc & Rpc.DurableObjectBranded>;
}

const seeds = z.string().regex(/^[\w-]{43}(,[\w-]{43})*$/, '32-byte base64url seeds, separated by commas');
const connectorSecrets = z
  .string()
  .regex(/^[\x21-\x2b\x2d-\x7e]{32,256}(,[\x21-\x2b\x2d-\x7e]{32,256})*$/, 'at least 32 characters each, separated by commas');
const wallet = z.string().refine((text) => parseWallet(text).ok, 'a Solana wallet address');
const count = (fallback: number) => z.coerce.number().int().nonnegative().default(fallback);

const Config = z.object({
  NETWORK: z.enum(['mainnet', 'devnet']),
  /** The nodes we read and send through: the first is asked, the next where it does not answer. `RPC_URL` is a list of one. */
  RPC_URLS: z
    .string()
    .transform((list) => [...new Set(list.split(',').map((url) => url.trim()))])
    .pipe(z.array(z.url()))
    .optional(),
  RPC_URL: z.url().optional(),
  /** Where buyers and agents reach us; the origin of the request where it is not set. */
  BASE_URL: z.url().optional(),
  /** Read-only key that every checkout transaction carries, so that all of them can be found. */
  SERVICE_REFERENCE: wallet,
  FEE_BPS: count(0).pipe(z.number().max(5000)),
  FEE_WALLET: wallet.optional(),
  SESSION_SECONDS: count(900),
  LATE_GRACE_SECONDS: count(120),
  /** How the chain data provider signs what it sends us: the header, and the shared secret; without one it is refused. */
  RPC_WEBHOOK_HEADER: z
    .string()
    .regex(/^[\w-]+$/)
    .default('X-Rpc-Signature'),
  RPC_WEBHOOK_SECRET: z.string().min(16).optional(),
  /** `age:hint` pairs: up to that age of a payment in seconds, poll again after so many milliseconds. */
  POLL_AFTER_MS: z
    .string()
    .regex(/^(\d+:\d+,)*\d+:\d+$/)
    .default('30:2000,120:3000,86400:10000'),
  /** Multiplies every rate limit; 1 in production. */
  RATE_MULTIPLIER: z.coerce.number().positive().default(1),
  PEPPER: z.string().min(32),
  JWT_KEYS: seeds,
  RECEIPT_KEYS: seeds,
  /** Seals webhook secrets in the database: the first seals, all open. */
  SEAL_KEYS: seeds,
  /** x402: pays the network fees of agents' payments. The first signs new challenges; without one there is no x402. */
  FEE_PAYER_KEYS: seeds.optional(),
  /** Authenticates the challenges of x402: the first makes, all verify. */
  CHALLENGE_KEYS: seeds.optional(),
  /** Below this balance the fee payer counts as running dry. */
  FEE_PAYER_LOW_LAMPORTS: count(50_000_000),
  /** Where plans are paid to; without one they cannot be bought. */
  TREASURY_WALLET: wallet.optional(),
  /** How long an agent's payment is waited for before its caller is told to come back. */
  SETTLE_PATIENCE_MS: count(8000),
  /** Local development only: webhooks to http://127.0.0.1. */
  ALLOW_INSECURE_WEBHOOKS: z.enum(['true', 'false']).default('false'),
  /** Where the price of SOL comes from, in the shape of Pyth Hermes; without it each asset is sold for itself alone. */
  PRICE_URL: z.url().optional(),
  /** Signs what a merchant's server hands buyers over with: the first signs, all verify. Without one there is no hand-off. */
  HANDOFF_SECRETS: seeds.optional(),
  /** Messaging platforms where buyers show who they are: the link they follow, and the secrets our connectors there show us. */
  TELEGRAM_BOT_USERNAME: z
    .string()
    .regex(/^\w{4,32}$/)
    .optional(),
  TELEGRAM_CONNECTOR_SECRETS: connectorSecrets.optional(),
  DISCORD_CLIENT_ID: z
    .string()
    .regex(/^\d{5,25}$/)
    .optional(),
  /** Of the connector, as registered there: it gets the session back as `state`. */
  DISCORD_REDIRECT_URI: z.url().optional(),
  DISCORD_CONNECTOR_SECRETS: connectorSecrets.optional(),
  /** Who may show the hosted pages in a frame: a list of https origins, or nobody. */
  FRAME_ANCESTORS: z
    .string()
    .regex(/^(?:'none'|https:\/\/[\w.-]+(?: https:\/\/[\w.-]+)*)$/)
    .default("'none'"),
  /** Local development only: the checkout page offers a wallet with play money of the local chain. */
  DEMO_WALLET: z.enum(['true', 'false']).default('false'),
  /** Opens the operator's route; without one there is no such route. */
  OPERATOR_SECRET: z.string().min(32).optional(),
});
export type Config = Omit<z.infer<typeof Config>, 'RPC_URL' | 'RPC_URLS'> & { network: Network; rpcUrls: [string, ...string[]] };

const configs = new WeakMap<object, Config>();

/** The checked configuration of an environment. A missing or malformed variable stops the request with its name in the log. */
export function configOf(env: Env): Config {
  const known = configs.get(env);
  if (known) return known;
  const { RPC_URL, RPC_URLS, ...parsed } = Config.parse(Object.fromEntries(Object.entries(env).filter(([, value]) => value !== '')));
  const [rpcUrl = RPC_URL, ...otherUrls] = RPC_URLS ?? [];
  if (rpcUrl === undefined) throw new Error('RPC_URLS or RPC_URL is missing');
  const config = { ...parsed, network: NETWORKS[parsed.NETWORK], rpcUrls: [rpcUrl, ...otherUrls] as [string, ...string[]] };
  configs.set(env, config);
  return config;
}

/** x402 needs a key that pays the network's fees and one that vouches for challenges. */
export const hasX402 = (config: Config): boolean => config.FEE_PAYER_KEYS !== undefined && config.CHALLENGE_KEYS !== undefined;

/** Without somebody who says what SOL is worth each price is paid in its own asset alone. */
export const hasPriceSource = (config: Config): config is Config & { PRICE_URL: string } => config.PRICE_URL !== undefined;

export type Db = ReturnType<typeof drizzle>;

/** Who makes the request, once admitted. `authTime` (ms) tells when a person last signed in; null for a key. */
export interface Actor extends Caller {
  /** `setup`: the secret of an agent's setup, which buys plans and nothing else. */
  via: 'key' | 'jwt' | 'setup';
  authTime: number | null;
}

/** Everything a verb may use. `now` is read once per request; nothing below looks at a clock. */
export interface Ctx {
  readonly env: Env;
  readonly config: Config;
  readonly db: Db;
  readonly chain: Chain;
  readonly now: number;
  /** Milliseconds since `now`, for measuring others: how long a stranger's server took. */
  elapsedMs(): number;
  readonly requestId: string;
  readonly baseUrl: string;
  /** Runs after the answer is out; a failure there is logged, never shown. */
  defer(work: Promise<unknown>): void;
  /** Goes into the request's one log line: why, in our words. */
  note(reason: string): void;
}

export interface CtxOptions {
  requestId: string;
  origin?: string;
  now?: number;
  defer(work: Promise<unknown>): void;
  note?(reason: string): void;
}

export function newCtx(env: Env, { requestId, origin, now = Date.now(), defer, note = () => {} }: CtxOptions): Ctx {
  const config = configOf(env);
  const startedAt = Date.now();
  return {
    elapsedMs: () => Date.now() - startedAt,
    env,
    config,
    db: drizzle(env.DB),
    chain: Chain.at(config.rpcUrls, config.network.genesisHash),
    now,
    requestId,
    baseUrl: config.BASE_URL?.replace(/\/$/, '') ?? origin ?? '',
    defer,
    note,
  };
}
