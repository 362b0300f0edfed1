import { drizzle } from 'drizzle-orm/d1';
import { assert } from '#core/errors.ts';
import type { AccountId, EndpointId, MailId, MembershipId, Partition, SandboxSessionId } from '#core/ids.ts';
import { defaultPartitions, PartitionMap } from '#core/ids.ts';
import { type Budget, currentBudget, databaseNamesOf } from '#core/isolate/budget.ts';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Region } from '#platform/variables/regions.ts';
import type { Origin } from '#rules/access/sessions.ts';
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
import { type Clock, callClock, fenceOf, movedPartitions } from './moves.ts';

/** Queue message with ids only, because the database holds the state. The ids name that database. `requestId`: the sender's `cause`. */
export type Job = { requestId?: string | undefined } & (
  | { kind: 'recheckCandidate'; paymentId: string; txSignature: string; attempt: number }
  /** Part of a backlog that no single invocation could check. */
  | { kind: 'recheckCandidates'; candidates: { paymentId: string; txSignature: string; attempt: number }[] }
  | { kind: 'findPayment'; txSignature: string; attempt: number }
  | { kind: 'fanOut'; actIds: string[] }
  /** Accounts with new entries in their audit logs. */
  | { kind: 'chainEntries'; accountIds: AccountId[] }
  /** Payments that became final, for their buyers' objects. */
  | { kind: 'hintFinal'; paymentIds: string[] }
  /** Projections of entitlement and metered session objects. Only these jobs carry state, with its version. */
  | { kind: 'projectEntitlement'; projection: EntitlementProjection }
  | { kind: 'projectMeteredSession'; projection: MeteredProjection }
  | { kind: 'checkChannels'; sessionIds: string[] }
  | { kind: 'collectSubscriptions'; authorizationIds: string[] }
  | { kind: 'readSubscription'; authorizationId: string }
  /** Next steps of a sandbox session, and due work of a merchant's sandbox without sessions. */
  | { kind: 'runSandboxSession'; sessionId: string }
  | { kind: 'sweepSandbox'; merchantId: string }
);

/** Webhook attempt, in its own queues so that a slow merchant server delays no other job. */
export type AttemptMessage = Pick<Job, 'requestId'> & {
  deliveryId: number;
  merchantId: AccountId;
  livemode: boolean;
  endpointId: EndpointId;
};

/** Email to send, in its own queue so that a slow provider delays no other job. */
export type MailMessage = Pick<Job, 'requestId'> & { mailId: MailId };

/** Grant or revocation of a membership, in its platform's queue so that an outage of one platform delays no other. */
export type PlacementMessage = Pick<Job, 'requestId'> & { membershipId: MembershipId };

export interface SweepMessage {
  sweep: string;
  database?: string;
  round: number;
  /** Row after which this round continues. */
  last?: unknown;
  requestId: string;
}

export interface Env extends Record<string, unknown> {
  DB: D1Database;
  /** Names of the accounts of several databases. Without this binding they are in `DB`. */
  DIRECTORY?: D1Database;
  /** Archive of old events and receipts. Without this binding they stay in the database. */
  ARCHIVE?: R2Bucket;
  JOBS: Queue<Job>;
  WEBHOOKS: Queue<AttemptMessage>;
  WEBHOOKS_SLOW: Queue<AttemptMessage>;
  MAIL: Queue<MailMessage>;
  TELEGRAM: Queue<PlacementMessage>;
  DISCORD: Queue<PlacementMessage>;
  EMAIL?: SendEmail;
  /** A single message per invocation, so that no sweep waits for another or shares its limits. */
  SWEEPS: Queue<SweepMessage>;
  ASSETS: Fetcher;
  /** Sandbox jobs, separate so that tests do not delay live payments. */
  SANDBOX: Queue<Job>;
  /** Analytics Engine for the operator's metrics. Without this binding nothing is written. */
  METRICS?: AnalyticsEngineDataset;
  ADMISSION: DurableObjectNamespace<AdmissionRpc & Rpc.DurableObjectBranded>;
  ENTITLEMENT: DurableObjectNamespace<EntitlementRpc & Rpc.DurableObjectBranded>;
  METERED_SESSION: DurableObjectNamespace<MeteredSessionRpc & Rpc.DurableObjectBranded>;
}

const configs = new WeakMap<object, ReturnType<typeof readConfig>>();

export { type Config, hasChannels, hasPriceSource, hasSubscriptions, hasX402 } from './config.ts';

/** Parses the environment once per isolate, and logs all findings that one time. */
export function checkedConfig(env: Env): ReturnType<typeof readConfig> {
  const known = configs.get(env);
  if (known) return known;
  const read = readConfig(env);
  configs.set(env, read);
  const notes = read.findings.map(({ name, problem }) => `config: ${name} ${problem}`);
  if (notes.length > 0) logRequest({ request_id: 'configuration', notes, ...(read.config ? {} : { code: 'misconfigured' }) });
  return read;
}

/** Returns the valid configuration. Requests under an invalid one are refused before this call. */
function configOf(env: Env): Config {
  const { config, findings } = checkedConfig(env);
  assert(config !== null, `configuration: ${findings.map(({ name, problem }) => `${name} ${problem}`).join('; ')}`);
  return config;
}

const maps = new WeakMap<Config, DatabaseMap>();

/** Partitions and regions of the bound databases, the same for all requests of an isolate. */
export function databaseMapOf(env: Env, config: Config): DatabaseMap {
  const known = maps.get(config);
  if (known) return known;
  const map = {
    partitions: new PartitionMap(
      config.PARTITIONS ?? defaultPartitions(databaseNamesOf(env)),
      config.MOVES === 'on' ? movedPartitions : undefined,
    ),
    regions: new Map(config.DATABASES),
  };
  maps.set(config, map);
  return map;
}

export const nodesOf = ({ rpcUrls, network }: Config, leftMs: () => number): Node[] =>
  rpcUrls.map((url) => new Node(url, network.genesisHash, leftMs));

export type Db = ReturnType<typeof drizzle>;

interface DatabaseMap {
  readonly partitions: PartitionMap;
  /** Region of each database. Empty without `DATABASES`. */
  readonly regions: ReadonlyMap<string, Region>;
}

export interface Database {
  name: string;
  db: Db;
  /** Opens the database so that `check` runs before each call, and writes are fenced if they are for `partitions` of one of several. */
  openFor(partitions: readonly Partition[], check?: () => Promise<void>): Db;
  /** Opens the nearest replica in the same way. All readers of an invocation share one session, so no read is older than an earlier one. */
  openReader: Database['openFor'];
}

/** Opens all databases, each call limited to the caller's remaining time. The first also holds rows without a merchant. */
export const databasesOf = (env: Env, caller?: Clock): [Database, ...Database[]] =>
  databaseNamesOf(env).map((name) => openDatabase(env, name, caller)) as [Database, ...Database[]];

function openDatabase(env: Env, name: string, caller?: Clock): Database {
  const mayMove = databaseNamesOf(env).length > 1;
  const sessions = new Map<D1Database, ReturnType<typeof sessionOf>>();
  const openSession = (on: D1Database) => sessions.get(on) ?? sessions.set(on, sessionOf(on)).get(on)!;
  const open =
    (isReader: boolean): Database['openFor'] =>
    (partitions, check) => {
      const isFenced = mayMove && partitions.length > 0 && caller !== undefined;
      const fence = isFenced ? fenceOf({ databases: env, partitions, home: name, isOn: env.MOVES === 'on', clock: caller }) : undefined;
      const access = { check, fence, ...(isReader && { openSession }) };
      return drizzle(databaseInTime(env[name] as D1Database, caller, access));
    };
  const openFor = open(false);
  return { name, db: openFor([]), openFor, openReader: open(true) };
}

/** A database without sessions has no replicas, and is read itself. */
const sessionOf = (database: D1Database) => database.withSession?.('first-unconstrained') ?? database;

/** Authenticated caller. `signIn`: time and method of the person's last sign-in, null for a key. */
export interface Actor extends Caller {
  /** `setup`: secret of an agent's setup, which may only buy plans. */
  via: 'key' | 'jwt' | 'setup';
  signIn: SignIn | null;
  /** Account that the token acts on, also for a call of persons about themselves. */
  actsOn?: AccountId;
  /** Version of a person's token. What the person stores needs the present one, also if the call itself ends the sessions. */
  tokenVersion?: number;
  /** True for a key in a call of which the result outlives the key. Such a call needs a key that still works when it stores. */
  leavesAccess?: true;
}

/** Author of a request. Its guards set `actor`. All contexts of a request share it. */
interface Acting {
  actor: Actor | null;
  /** Operator who proved a secret, with the reason given for the call. */
  operator: { name: string; reason: string | undefined } | null;
  /** Address, country and browser of the caller. Null for a job. */
  readonly origin: Origin | null;
  /** Accounts with new entries in their audit logs, announced when the work ends. */
  readonly recorded: Set<AccountId>;
}

interface Sandbox {
  readonly merchantId: AccountId;
  /** null: the merchant's own test calls, which use wall time. */
  readonly sessionId: SandboxSessionId | null;
  /** Only endpoint that receives the session's events. null: all sandbox endpoints of the merchant. */
  readonly endpointId: EndpointId | null;
}

/**
 * Dependencies of a verb that are not bound to one database. The clocks are read once per request, and code below must not read another
 * clock.
 */
export interface Ctx extends DatabaseMap {
  readonly env: Env;
  readonly config: Config;
  readonly databases: readonly [Database, ...Database[]];
  /** Database of names, if it has a binding of its own. */
  readonly directory: Database | null;
  /** Region of the caller, for a new account. Null: unknown, or work without a caller. */
  readonly callerRegion: Region | null;
  readonly chain: Chain;
  readonly sandbox: Sandbox | null;
  /**
   * Business time: purchases, expiry, renewal, chain scans, receipts and events. Ahead of `wallNow` only in a sandbox session, and on a
   * local machine with an advanced chain.
   */
  readonly now: number;
  /** Wall time: tokens, sign-in, rate limits, idempotency records, leases, webhooks and caches. */
  readonly wallNow: number;
  /** Milliseconds since `wallNow`, to measure external servers. */
  elapsedMs(): number;
  /**
   * Milliseconds until the deadline, never below 0. Calls to the database, archive, nodes, objects and external servers take at most this
   * long.
   */
  leftMs(): number;
  readonly budget: Budget;
  readonly requestId: string;
  /**
   * Id of the request, cron or sweep run that caused this work. Passed in every message and object call, so that one id finds all log
   * lines.
   */
  readonly cause: string;
  readonly acting: Acting;
  readonly baseUrl: string;
  /** Runs after the answer is sent. A failure is logged only. */
  defer(work: Promise<unknown>): void;
  /** Adds a reason to the request's log line. The text must be ours, never external input. */
  note(reason: string): void;
}

/** Dependencies of a verb within one database. A batch never spans databases. */
export interface Shard extends Ctx {
  readonly db: Db;
  /** Opens the nearest replica, for reads on which no write is planned. It may show an earlier state, and a write throws. */
  openReader(): Db;
  readonly database: string;
  /** Partitions that this shard was opened for. None: a sweep, or rows of no merchant. */
  readonly homes: readonly Partition[];
}

/** Field of a sweep's message that names the shard, omitted for the first database. */
export const addressOf = ({ database, databases }: Shard): { database?: string } => (database === databases[0].name ? {} : { database });

export interface Tenant {
  readonly merchantId: AccountId;
  readonly livemode: boolean;
}

export const belongsTo = (tenant: Tenant, row: Tenant): boolean => row.merchantId === tenant.merchantId && row.livemode === tenant.livemode;

export interface Scope extends Shard, Tenant {}

export const scopeIn = (shard: Shard, { merchantId, livemode }: Tenant): Scope => ({ ...shard, merchantId, livemode });

/**
 * Deadlines per kind of invocation. A request ends well before its lease expires after 30 s, and an attempt before its lease of a minute.
 * The queue retries a job and the next cron a sweep. An export has a slow reader.
 */
const DEADLINES_MS = { request: 20 * SECOND, job: 30 * SECOND, attempt: 30 * SECOND, sweep: 2 * MINUTE, export: 5 * MINUTE } as const;

interface CtxOptions {
  requestId: string;
  kind?: keyof typeof DEADLINES_MS;
  cause?: string | undefined;
  origin?: string;
  caller?: Origin | null;
  callerRegion?: Region | null;
  now?: number;
  wallNow?: number;
  defer(work: Promise<unknown>): void;
  note?(reason: string): void;
}

export const wallTime = (): Date => new Date();

export function clocksOf(
  config: Config,
  deadlineMs: number,
  { now, wallNow = now ?? Date.now() }: Pick<CtxOptions, 'now' | 'wallNow'> = {},
): Pick<Ctx, 'now' | 'wallNow' | 'elapsedMs' | 'leftMs'> {
  const startedAt = Date.now();
  const elapsedMs = () => Date.now() - startedAt;
  return { now: now ?? wallNow + aheadMs(config), wallNow, elapsedMs, leftMs: () => Math.max(0, deadlineMs - elapsedMs()) };
}

export function newCtx(
  env: Env,
  {
    requestId,
    kind = 'sweep',
    cause = requestId,
    origin,
    caller = null,
    callerRegion = null,
    now,
    wallNow,
    defer,
    note = () => {},
  }: CtxOptions,
): Shard {
  const config = configOf(env);
  const clocks = clocksOf(config, DEADLINES_MS[kind], { now, wallNow });
  const { leftMs } = clocks;
  const clock = callClock(clocks);
  const databases = databasesOf(env, clock);
  return {
    ...clocks,
    env,
    config,
    databases,
    directory: env.DIRECTORY ? openDatabase(env, 'DIRECTORY', clock) : null,
    ...databaseMapOf(env, config),
    callerRegion,
    db: databases[0].db,
    openReader: () => databases[0].openReader([]),
    database: databases[0].name,
    homes: [],
    chain: new NodeChain(nodesOf(config, leftMs)),
    sandbox: null,
    budget: currentBudget(),
    requestId,
    cause,
    acting: { actor: null, operator: null, origin: caller, recorded: new Set() },
    baseUrl: config.BASE_URL?.replace(/\/$/, '') ?? origin ?? '',
    defer,
    note,
  };
}
