import { z } from '@hono/zod-openapi';
import { type SQL, sql } from 'drizzle-orm';
import { iso, MINUTE, SECOND } from '#core/time.ts';
import { VERSION } from '#core/version.ts';
import { listUnconfigured, UnconfiguredBody } from '#features/readiness/unconfigured.ts';
import { isAlarming } from '#platform/chain/fee-payer.ts';
import { namedKeysAsJson, readLamportsSpent } from '#platform/chain/fee-payer-readings.store.ts';
import { listMissingKeys, type NamedKey } from '#platform/chain/named-keys.ts';
import { type Ctx, type Db, databasesOf, type Env, hasPriceSource, hasX402 } from '#platform/context.ts';
import { checkedDb } from '#platform/db/directory.ts';
import { fullness, isBehind, isMailStalled, isStalled } from '#platform/db/due/vital-signs.ts';
import { findFaults } from '#platform/http/configuration.ts';
import { orNull, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { hasMail } from '#platform/providers/mail/mail-providers.ts';
import { isPriceHealthy } from '#platform/providers/price.ts';
import { isProcessorHealthy } from '#platform/providers/processor.ts';

/** `not_configured`: the deployment lacks the dependency. */
const Check = z.enum(['ok', 'failing', 'not_configured']);
const HealthResponse = z
  .object({
    status: z.enum(['ok', 'degraded']),
    version: z.string(),
    time: Timestamp,
    checks: z.object({
      database: Check,
      queue: Check.describe(
        'Status of the queues. failing: work of money or webhooks has been due for half an hour, or a sweep does not reach the end of its work.',
      ),
      rpc: Check.describe('Status of the Solana node.'),
      price_source: Check,
      processor: Check,
      mail: Check.describe(
        'Status of email. failing: an email has been due for half an hour; emails that the operator disabled do not count.',
      ),
      configuration: Check.describe('Status of the configuration. failing: all other routes return 503 `misconfigured`.'),
      keys: Check.describe('Status of the keys. failing: an open payment, channel or subscription names a key that this deployment lacks.'),
      fee_payer: Check.describe('Status of the fee payer. failing: it spent more within the last hour than the operator expects.'),
    }),
    databases_away: z.array(z.string()).describe('Databases that do not respond or lack migrations. Calls of their accounts return 503.'),
    database_used: orNull(z.number()).describe(
      'Used share of the fullest database, from 0 to 1. From 0.7 the status is degraded. null if no database responds.',
    ),
    not_configured: orNull(UnconfiguredBody).describe(
      'Unconfigured parts of this deployment. null if the configuration is invalid as a whole.',
    ),
  })
  .openapi('HealthResponse');

const STALLED_MS = 30 * MINUTE;
/** Sweeps with work that strangers and tests can make any amount of. */
const SWEEPS_OF_OTHERS = ['sandboxes', 'endedSandboxes', 'namedCandidates'];

/** State of external dependencies. Null if not configured. */
interface Outside {
  rpc: boolean | null;
  prices: boolean | null;
  processor: boolean | null;
  isConfigured: boolean;
  hasMail: boolean;
  isFeeAlarming: ((spent: number) => boolean) | null;
  notConfigured: ((named: readonly NamedKey[]) => Record<string, string[]>) | null;
  /** True if this deployment lacks a key that open rows name. */
  lacksKey: ((named: readonly NamedKey[]) => boolean) | null;
}

async function askOutside(ctx: Ctx): Promise<Outside> {
  const { chain, config, wallNow } = ctx;
  const [rpc, prices, processor, { columns, nodes, lacksNames }] = await Promise.all([
    chain.isHealthy(wallNow),
    hasPriceSource(config) ? isPriceHealthy(config, wallNow) : null,
    config.PROCESSOR_API_KEY === undefined ? null : isProcessorHealthy(config.PROCESSOR_API_URL, config.PROCESSOR_API_KEY, wallNow),
    findFaults(ctx),
  ]);
  const isFeeAlarming = hasX402(config) ? (spent: number) => isAlarming(config, spent) : null;
  const isConfigured = columns.length + nodes.length === 0 && !lacksNames;
  return {
    rpc,
    prices,
    processor,
    isConfigured,
    hasMail: hasMail(ctx),
    isFeeAlarming,
    notConfigured: (named) => listUnconfigured(ctx, named),
    lacksKey: (named) => listMissingKeys(config, named).length > 0,
  };
}

/** Environment and clocks of the request. Also available without a valid configuration. */
type Asked = Pick<Ctx, 'env' | 'now' | 'wallNow'>;

interface Waiting {
  /** Names of the databases that do not answer. Not the first, without which nothing is read. */
  away: string[];
  stalled: number;
  lamportsSpent: number;
  isMailStalled: boolean;
  fullness: ReturnType<typeof fullness>;
  named: NamedKey[];
}

/** Lifetime of the cached database reading, per environment, because the health check is public and unlimited. A failure is not cached. */
const REMEMBERED_MS = 5 * SECOND;
const remembered = new WeakMap<Env, { until: number; waiting: Waiting }>();

async function readWaiting({ env, now, wallNow }: Asked): Promise<Waiting | null> {
  const known = remembered.get(env);
  if (known && wallNow < known.until) return known.waiting;
  try {
    const databases = databasesOf(env);
    const before = { now: now - STALLED_MS, wallNow: wallNow - STALLED_MS };
    const ask = (db: Db, mail: SQL, named: SQL) =>
      db.run(sql`SELECT ${isStalled(before)} OR ${isBehind(before.wallNow, SWEEPS_OF_OTHERS)} AS late, ${mail} AS mail, ${named} AS named`);
    // Pending migrations may lack the tables for emails or fees. `configuration` reports that.
    const [[first, ...others], spent] = await Promise.all([
      Promise.all(
        databases.map((one, index) =>
          index === 0
            ? ask(one.db, isMailStalled(before.wallNow), namedKeysAsJson).catch(() => ask(one.db, sql`0`, sql`'[]'`))
            : ask(checkedDb(one, wallNow), isMailStalled(before.wallNow), namedKeysAsJson).catch(() => null),
        ),
      ),
      readLamportsSpent(databases[0].db, wallNow).catch(() => 0),
    ]);
    const answers = [first!, ...others].filter((answer) => answer !== null);
    const away = databases.slice(1).flatMap(({ name }, index) => (others[index] === null ? [name] : []));
    const signs = answers.map(({ results }) => (results as { late: number; mail: number; named: string }[])[0]!);
    const waiting = {
      away,
      stalled: Math.max(...signs.map(({ late }) => late)),
      lamportsSpent: spent,
      named: signs.flatMap(({ named }) => JSON.parse(named) as NamedKey[]),
      isMailStalled: signs.some(({ mail }) => mail === 1),
      fullness: fullness(Math.max(...answers.map(({ meta }) => meta.size_after))),
    };
    remembered.set(env, { until: wallNow + REMEMBERED_MS, waiting });
    return waiting;
  } catch {
    return null;
  }
}

async function checkHealth(ctx: Asked, asked: Promise<Outside>, { isStrict }: { isStrict: boolean }) {
  const [waiting, { rpc, prices, processor, isConfigured, hasMail, isFeeAlarming, notConfigured, lacksKey }] = await Promise.all([
    readWaiting(ctx),
    asked,
  ]);
  const [isFirstHere, database, queue] = [waiting !== null, waiting?.away.length === 0, waiting?.stalled === 0];
  const hasRoom = waiting?.fullness.isWarning === false;
  const feesAreWell = isFeeAlarming && waiting ? !isFeeAlarming(waiting.lamportsSpent) : null;
  const keys = lacksKey && waiting ? !lacksKey(waiting.named) : null;
  const mail = hasMail && waiting ? !waiting.isMailStalled : null;
  const toCheck = (isWell: boolean | null): z.infer<typeof Check> => (isWell === null ? 'not_configured' : isWell ? 'ok' : 'failing');
  const health = {
    status: [
      database,
      hasRoom,
      queue,
      rpc,
      isConfigured,
      ...[prices, processor, feesAreWell, keys, mail].map((one) => one !== false),
    ].every(Boolean)
      ? ('ok' as const)
      : ('degraded' as const),
    version: VERSION,
    time: iso(ctx.wallNow),
    checks: {
      database: toCheck(database),
      queue: toCheck(queue),
      rpc: toCheck(rpc),
      price_source: toCheck(prices),
      processor: toCheck(processor),
      mail: toCheck(mail),
      configuration: toCheck(isConfigured),
      keys: toCheck(keys),
      fee_payer: toCheck(feesAreWell),
    },
    databases_away: waiting?.away ?? ['DB'],
    database_used: waiting?.fullness.used ?? null,
    not_configured: notConfigured?.(waiting?.named ?? []) ?? null,
  };
  const isWell = isStrict ? health.status === 'ok' : isFirstHere;
  return { health, status: isWell ? (200 as const) : (503 as const) };
}

/** Health with an invalid configuration. Only the database is checked, and the status is always degraded. */
export async function unconfiguredHealth(env: Env, options: { isStrict: boolean }): Promise<Response> {
  const nobody = Promise.resolve({
    rpc: null,
    prices: null,
    processor: null,
    isConfigured: false,
    hasMail: false,
    isFeeAlarming: null,
    notConfigured: null,
    lacksKey: null,
  });
  const now = Date.now();
  const { health, status } = await checkHealth({ env, now, wallNow: now }, nobody, options);
  return Response.json(health, { status });
}

const healthContent = { 'application/json': { schema: HealthResponse } };
const Strict = z
  .enum(['0', '1'])
  .optional()
  .describe('`1`: a degraded service returns 503 as well, for monitors that read the status alone.');

export const healthRoutes = routes('System');
for (const [path, id] of [
  ['GET /health', 'getHealth'],
  ['GET /v1/health', 'getHealthV1'],
] as const)
  healthRoutes.public({
    path,
    id,
    sdk: `system.${id}`,
    summary: 'Get health',
    description: 'Returns the health of the service and of its dependencies. `/health` and `/v1/health` return the same.',
    query: z.object({ strict: Strict }),
    returns: {
      200: { description: 'Serving; degraded if a dependency fails', content: healthContent },
      503: {
        description: 'The database does not respond; with `strict=1`, or the service is degraded',
        'x-name': 'Unhealthy',
        content: healthContent,
      },
    },
    respond: async ({ c, ctx, query }) => {
      const { health, status } = await checkHealth(ctx, askOutside(ctx), { isStrict: query.strict === '1' });
      return c.json(health, status);
    },
  });
