import { drizzle } from 'drizzle-orm/d1';
import { assert } from '#core/errors.ts';
import type { AccountId, EndpointId, MailId, MembershipId, SandboxSessionId } from '#core/ids.ts';
import { type Budget, currentBudget, isDatabaseName } from '#core/isolate/budget.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { AdmissionRpc, Caller, SignIn } from '#rules/admission.ts';
import type { EntitlementProjection, EntitlementRpc } from '#rules/entitlement-rpc.ts';
import type { MeteredProjection, MeteredSessionRpc } from '#rules/metered/rpc.ts';
import type { Chain } from '#solana/chain.ts';
import { Node } from '#solana/node.ts';
import { NodeChain } from '#solana/node-chain.ts';
import { type Config, readConfig } from './config.ts';
import { databaseInTime } from './deadline.ts';
import { aheadMs } from './local-clock.ts';
import { logRequest } from './log.ts';

/** Work handed to the queue: only ids, the truth is in the database. `requestId`: the sender's `cause`, `database`: where it is. */
export type Job = { requestId?: string | undefined; database?: string | undefined } & (
  | { kind: 'recheckCandidate'; paymentId: string; txSignature: string; attempt: number }
  /** A caller named this transaction as possibly ours: its memo tells. */
  | { kind: 'findPayment'; txSignature: string; attempt: number }
  | { kind: 'fanOut'; eventIds: string[] }
  /** What an entitlement's or a metered session's object says of itself: the jobs that carry state, with the version it is true of. */
  | { kind: 'projectEntitlement'; projection: EntitlementProjection }
  | { kind: 'projectMeteredSession'; projection: MeteredProjection }
  | { kind: 'lookAtChannels'; sessionIds: string[] }
  | { kind: 'collectSubscriptions'; authorizationIds: string[] }
  | { kind: 'readSubscription'; authorizationId: string }
  /** The next steps of a sandbox session, and what has fallen due in one merchant's sandbox outside of sessions. */
  | { kind: 'runSandboxSession'; sessionId: string }
  | { kind: 'sweepSandbox'; merchantId: string }
);

/** An attempt against a stranger's server: in queues of their own, so that their time is not ours. */
export type AttemptMessage = Pick<Job, 'requestId' | 'database'> & { deliveryId: number };

/** One letter to send: in a queue of its own, so that a provider that is slow holds up nothing else. */
export type MailMessage = Omit<AttemptMessage, 'deliveryId'> & { mailId: MailId };

/** A member's place to give or to take away: in a queue of its platform, so that one that is down delays no other. */
export type PlacementMessage = Omit<AttemptMessage, 'deliveryId'> & { membershipId: MembershipId };

/** A run of one sweep: the first of a cron, or the next where one invocation could not finish. */
export interface SweepMessage {
  sweep: string;
  /** The database that it sweeps. */
  database?: string;
  /** Counted from 1. */
  round: number;
  /** Of the cron or the run that sent it. */
  requestId: string;
}

/** What wrangler.toml binds. Variables are text; `readConfig` checks and converts them. */
export interface Env extends Record<string, unknown> {
  DB: D1Database;
  /** Where events and receipts go once they are old. Without it they stay in the database. */
  ARCHIVE?: R2Bucket;
  JOBS: Queue<Job>;
  WEBHOOKS: Queue<AttemptMessage>;
  /** For endpoints whose last attempt failed: they wait among themselves. */
  WEBHOOKS_SLOW: Queue<AttemptMessage>;
  MAIL: Queue<MailMessage>;
  TELEGRAM: Queue<PlacementMessage>;
  DISCORD: Queue<PlacementMessage>;
  /** The platform's Email Service, where it is bound. */
  EMAIL?: SendEmail;
  /** One message an invocation: none waits for another sweep, or shares its limits. */
  SWEEPS: Queue<SweepMessage>;
  /** Static assets: the fonts of papers. */
  ASSETS: Fetcher;
  /** The jobs of sandboxes, so that no amount of testing delays a live payment. */
  SANDBOX: Queue<Job>;
  /** The platform's Analytics Engine, for what the operator's metrics tell over time; nothing is written where it is not bound. */
  METRICS?: AnalyticsEngineDataset;
  ADMISSION: DurableObjectNamespace<AdmissionRpc & Rpc.DurableObjectBranded>;
  ENTITLEMENT: DurableObjectNamespace<EntitlementRpc & Rpc.DurableObjectBranded>;
  METERED_SESSION: DurableObjectNamespace<MeteredSessionRpc & Rpc.DurableObjectBranded>;
}

const configs = new WeakMap<object, ReturnType<typeof readConfig>>();

export { type Config, hasChannels, hasPriceSource, hasSubscriptions, hasX402 } from './config.ts';

/** What an environment says, read once for its life, and all that is wrong with it told in the log that one time. */
export function checkedConfig(env: Env): ReturnType<typeof readConfig> {
  const known = configs.get(env);
  if (known) return known;
  const read = readConfig(env);
  configs.set(env, read);
  const notes = read.findings.map(({ name, problem }) => `config: ${name} ${problem}`);
  if (notes.length > 0) logRequest({ request_id: 'configuration', notes, ...(read.config ? {} : { code: 'misconfigured' }) });
  return read;
}

/** The configuration of a sound environment. One that is not is refused before anything asks for it. */
function configOf(env: Env): Config {
  const { config, findings } = checkedConfig(env);
  assert(config !== null, `configuration: ${findings.map(({ name, problem }) => `${name} ${problem}`).join('; ')}`);
  return config;
}

/** The nodes that are configured, in that order, for a caller who has so long left. */
export const nodesOf = ({ rpcUrls, network }: Config, leftMs: () => number): Node[] =>
  rpcUrls.map((url) => new Node(url, network.genesisHash, leftMs));

export type Db = ReturnType<typeof drizzle>;

interface Database {
  /** Of its binding. */
  name: string;
  db: Db;
}

/** `DB`, and beside it `DB_2`, `DB_3` …, in this order, each call within what the caller has left. The first also holds what belongs to no merchant. */
export const databasesOf = (env: Env, caller?: { leftMs(): number }): [Database, ...Database[]] => {
  const open = (database: D1Database): Db => drizzle(databaseInTime(database, caller));
  const others = Object.keys(env).filter((name) => name !== 'DB' && isDatabaseName(name));
  others.sort((a, b) => Number(a.slice(3)) - Number(b.slice(3)));
  return [{ name: 'DB', db: open(env.DB) }, ...others.map((name) => ({ name, db: open(env[name] as D1Database) }))];
};

/** Who makes the request, once admitted. `signIn` tells when and how a person last proved who they are; null for a key. */
export interface Actor extends Caller {
  /** `setup`: the secret of an agent's setup, which buys plans and nothing else. */
  via: 'key' | 'jwt' | 'setup';
  signIn: SignIn | null;
}

/** Whose sandbox, and which session of it: each session has a clock and customers of its own. */
interface Sandbox {
  readonly merchantId: AccountId;
  /** null: what the merchant's own test calls make, which lives by wall time. */
  readonly sessionId: SandboxSessionId | null;
  /** The only endpoint that hears of the session; null: all of the merchant's sandbox. */
  readonly endpointId: EndpointId | null;
}

/** Everything a verb may use that is not about the rows of one database. The clocks are read once per request; nothing below looks at one. */
export interface Ctx {
  readonly env: Env;
  readonly config: Config;
  readonly databases: readonly [Database, ...Database[]];
  readonly chain: Chain;
  /** null: live rows alone are read and changed, over the real chain. */
  readonly sandbox: Sandbox | null;
  /**
   * Business time: when something was bought, expires, renews or is looked for on the chain, what receipts and events say. Ahead of
   * `wallNow` only in a sandbox session, and on a local machine whose chain was moved on.
   */
  readonly now: number;
  /** The time of ordinary clocks: tokens, sign-in, rates, idempotency records, leases, webhooks and what is remembered for a while. */
  readonly wallNow: number;
  /** Milliseconds since `wallNow`, for measuring others: how long a stranger's server took. */
  elapsedMs(): number;
  /** What is left until the deadline, never below 0. Calls of the database, the archive, nodes, objects and strangers' servers take no longer. */
  leftMs(): number;
  /** Calls that the invocation may still make. */
  readonly budget: Budget;
  readonly requestId: string;
  /**
   * The request, cron or run of a sweep that all of this goes back to; a request's own id. It goes with every message and every call of
   * an object, so that one id finds the lines of all that it set going.
   */
  readonly cause: string;
  readonly baseUrl: string;
  /** Runs after the answer is out; a failure there is logged, never shown. */
  defer(work: Promise<unknown>): void;
  /** Goes into the request's one log line: why, in our words. */
  note(reason: string): void;
}

/** Everything a verb may use in one database: all that is about the merchants who live there, and no batch of it reaches another. */
export interface Shard extends Ctx {
  readonly db: Db;
  /** Its name, by which a message finds the way back. */
  readonly database: string;
}

/** How a message says which database it is about: not at all of the first, as before there were others. */
export const addressOf = ({ database, databases }: Shard): { database?: string } => (database === databases[0].name ? {} : { database });

/** Whose rows: one merchant's, in one mode. Most rows say it of themselves. */
export interface Tenant {
  readonly merchantId: AccountId;
  readonly livemode: boolean;
}

export const isOf = (tenant: Tenant, row: Tenant): boolean => row.merchantId === tenant.merchantId && row.livemode === tenant.livemode;

/** The rows of one merchant in one mode. */
export interface Scope extends Shard, Tenant {}

/** The rows of whom a row belongs to that this shard holds. */
export const scopeIn = (shard: Shard, { merchantId, livemode }: Tenant): Scope => ({ ...shard, merchantId, livemode });

/**
 * How long each kind of invocation may wait for others. A request ends well before the 30 s after which another may take over what it
 * began; an attempt before its lease of a minute. The queue brings a job again, the next cron a sweep; an export has a slow reader.
 */
const DEADLINES_MS = { request: 20 * SECOND, job: 30 * SECOND, attempt: 30 * SECOND, sweep: 2 * MINUTE, export: 5 * MINUTE } as const;

interface CtxOptions {
  requestId: string;
  kind?: keyof typeof DEADLINES_MS;
  cause?: string | undefined;
  origin?: string;
  /** Both clocks, unless `wallNow` is given too. */
  now?: number;
  wallNow?: number;
  defer(work: Promise<unknown>): void;
  note?(reason: string): void;
}

/** Wall time, for the headers of an answer: it may have no context. */
export const wallTime = (): Date => new Date();

/** The clocks of an invocation that begins now, and how long it may wait for others. */
export function clocksOf(
  config: Config,
  deadlineMs: number,
  { now, wallNow = now ?? Date.now() }: Pick<CtxOptions, 'now' | 'wallNow'> = {},
): Pick<Ctx, 'now' | 'wallNow' | 'elapsedMs' | 'leftMs'> {
  const startedAt = Date.now();
  const elapsedMs = () => Date.now() - startedAt;
  return { now: now ?? wallNow + aheadMs(config), wallNow, elapsedMs, leftMs: () => Math.max(0, deadlineMs - elapsedMs()) };
}

/** It begins in the first database, which holds what belongs to no merchant. */
export function newCtx(
  env: Env,
  { requestId, kind = 'sweep', cause = requestId, origin, now, wallNow, defer, note = () => {} }: CtxOptions,
): Shard {
  const config = configOf(env);
  const clocks = clocksOf(config, DEADLINES_MS[kind], { now, wallNow });
  const { leftMs } = clocks;
  const databases = databasesOf(env, { leftMs });
  return {
    ...clocks,
    env,
    config,
    databases,
    db: databases[0].db,
    database: databases[0].name,
    chain: new NodeChain(nodesOf(config, leftMs)),
    sandbox: null,
    budget: currentBudget(),
    requestId,
    cause,
    baseUrl: config.BASE_URL?.replace(/\/$/, '') ?? origin ?? '',
    defer,
    note,
  };
}
