import { z } from '@hono/zod-openapi';
import { formatErrorChain } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { latestAudit } from '#features/audit/store.ts';
import { countOldSeals } from '#features/key-rotation/key-rotation.ts';
import { dueWorkOf } from '#features/operator/due-work.store.ts';
import { readNamedKeys } from '#platform/chain/fee-payer.ts';
import { listBalances, readLamportsSpent } from '#platform/chain/fee-payer-readings.store.ts';
import { KEY_VARIABLES, listMissingKeys, type NamedKey } from '#platform/chain/named-keys.ts';
import { type Ctx, type Env, newCtx } from '#platform/context.ts';
import { fullness, ofAll, readVitalSigns, secondsSince, type VitalSigns, waitingMs } from '#platform/db/due/vital-signs.ts';
import { readEach } from '#platform/db/each-database.ts';
import type { Audit } from '#platform/db/tables/audits.ts';
import { routes } from '#platform/http/route.ts';
import { logRequest, notesCounted } from '#platform/log.ts';
import { writePoints } from '#platform/metrics-dataset.ts';
import { SWEEPS } from '../sweeps.ts';
import { METRICS } from './metric-catalog.ts';

interface Metric {
  name: keyof typeof METRICS;
  /** Without a timestamp: the time of the answer applies. */
  samples: { labels?: Record<string, string>; value: number }[];
}

/** Nearest-rank quantile. Null without values. */
export const quantile = (sorted: readonly number[], q: number): number | null =>
  sorted.length === 0 ? null : sorted[Math.max(0, Math.ceil(q * sorted.length) - 1)]!;

export function formatExposition(metrics: readonly Metric[]): string {
  const escaped = (text: string) => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  const labelled = (labels: Record<string, string> = {}) => {
    const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`);
    return pairs.length > 0 ? `{${pairs.join()}}` : '';
  };
  return metrics
    .flatMap(({ name, samples }) => [
      `# HELP ${name} ${METRICS[name].help}`,
      `# TYPE ${name} ${METRICS[name].type}`,
      ...samples.map(({ labels, value }) => `${name}${labelled(labels)} ${value}`),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

function sweepMetrics({ sweeps }: VitalSigns, now: number): Metric[] {
  const rows = new Map(sweeps.map((row) => [row.name, row]));
  const each = (read: (row: VitalSigns['sweeps'][number] | undefined) => number) =>
    SWEEPS.map(({ name }) => ({ labels: { sweep: name }, value: read(rows.get(name)) }));
  return [
    {
      name: 'svc_sweep_lag_seconds',
      samples: each((row) => secondsSince(row?.dueAt ?? null, now)),
    },
    {
      name: 'svc_sweep_succeeded_seconds',
      samples: each((row) => (row?.succeededAt ?? 0) / 1000),
    },
    {
      name: 'svc_sweep_failures',
      samples: each((row) => row?.failures ?? 0),
    },
    {
      name: 'svc_sweep_behind_seconds',
      samples: each((row) => (row?.behindMs ?? 0) / SECOND).filter(({ value }) => value > 0),
    },
  ];
}

function roomMetrics({ oldestEventAt, databaseBytes }: VitalSigns, now: number): Metric[] {
  return [
    {
      name: 'svc_oldest_event_seconds',
      samples: [{ value: secondsSince(oldestEventAt, now) }],
    },
    {
      name: 'svc_database_bytes',
      samples: [{ value: databaseBytes }],
    },
    {
      name: 'svc_database_used_ratio',
      samples: [{ value: fullness(databaseBytes).used }],
    },
  ];
}

function sealMetrics(seals: Awaited<ReturnType<typeof countOldSeals>>): Metric[] {
  const each = (which: 'old' | 'gone') => seals.map(({ kind, [which]: value }) => ({ labels: { what: kind }, value }));
  return [
    {
      name: 'svc_sealed_old',
      samples: each('old'),
    },
    { name: 'svc_sealed_gone', samples: each('gone') },
  ];
}

const keyMetrics = (missing: NamedKey[], balances: Awaited<ReturnType<typeof listBalances>>): Metric[] => [
  {
    name: 'svc_keys_missing',
    samples: KEY_VARIABLES.map((variable) => ({ labels: { variable }, value: missing.filter((key) => key.variable === variable).length })),
  },
  {
    name: 'svc_key_lamports',
    samples: balances.map(({ address, lamports }) => ({ labels: { address }, value: lamports })),
  },
];

const auditSample = (audits: Audit[], figure: 'checked' | 'differing' | 'unknown') => ({
  labels: { figure },
  value: audits.reduce((sum, audit) => sum + audit[figure], 0),
});

/** Reads all databases that respond: each has its own queues, audit and sealed rows. The fee payer's spending is in the first. */
async function readAll(ctx: Ctx) {
  const [{ db }] = ctx.databases;
  const [{ found: signs }, { found: audits }, { found: sealed }, spent, balances, named] = await Promise.all([
    readEach(ctx, (shard) => readVitalSigns(shard, dueWorkOf(shard))),
    readEach(ctx, ({ db }) => latestAudit(db)),
    readEach(ctx, countOldSeals),
    readLamportsSpent(db, ctx.wallNow),
    listBalances(db),
    readNamedKeys(ctx),
  ]);
  const seals = sealed[0]!.map(({ kind }, i) => ({
    kind,
    old: sealed.reduce((sum, each) => sum + each[i]!.old, 0),
    gone: sealed.reduce((sum, each) => sum + each[i]!.gone, 0),
  }));
  return {
    signs: ofAll(signs),
    audits: audits.filter((audit) => audit !== undefined),
    seals,
    spent,
    balances,
    missing: listMissingKeys(ctx.config, named),
  };
}

/** Reads all metrics. Every query reads the end of an index. Note counters are those of the answering isolate. */
async function readMetrics(ctx: Ctx): Promise<Metric[]> {
  const { signs, audits, seals, spent, balances, missing } = await readAll(ctx);
  const { waiting, parked, chainToWebhookMs: times } = signs;
  return [
    ...sweepMetrics(signs, ctx.wallNow),
    {
      name: 'svc_fee_lamports',
      samples: [{ value: spent }],
    },
    {
      name: 'svc_oldest_seconds',
      samples: waitingMs(ctx, waiting).map(({ name, ms }) => ({ labels: { queue: name }, value: ms / SECOND })),
    },
    {
      name: 'svc_parked_messages',
      samples: Object.entries(parked).map(([reason, value]) => ({ labels: { reason }, value })),
    },
    {
      name: 'svc_chain_to_webhook_seconds',
      samples: [0.5, 0.95].flatMap((q) => {
        const ms = quantile(times, q);
        return ms === null ? [] : [{ labels: { quantile: String(q) }, value: ms / 1000 }];
      }),
    },
    ...roomMetrics(signs, ctx.now),
    {
      name: 'svc_audit_rows',
      samples: audits.length > 0 ? (['checked', 'differing', 'unknown'] as const).map((figure) => auditSample(audits, figure)) : [],
    },
    ...sealMetrics(seals),
    ...keyMetrics(missing, balances),
    {
      name: 'svc_notes_total',
      samples: notesCounted().map(({ about, times }) => ({ labels: { about }, value: times })),
    },
  ];
}

/** Records all gauges after each round of sweeps, if the Analytics Engine is bound. A failure is logged and not thrown. */
export async function recordMetrics(env: Env, now: number): Promise<void> {
  if (!env.METRICS) return;
  const ctx = newCtx(env, { requestId: `metrics_${now}`, kind: 'job', wallNow: now, defer: () => {} });
  try {
    const gauges = (await readMetrics(ctx)).filter(({ name }) => METRICS[name].type === 'gauge');
    const samples = gauges.flatMap((metric) =>
      metric.samples.map(({ labels = {}, value }) => ({ name: metric.name, label: Object.values(labels)[0], value })),
    );
    writePoints(env.METRICS, samples);
  } catch (error) {
    logRequest({ request_id: ctx.requestId, notes: [formatErrorChain(error)] });
  }
}

export const metricsRoutes = routes().public({
  path: 'GET /v1/operator/metrics',
  bucket: 'operator',
  guards: [operatorOnly],
  returns: { 200: { description: 'Metrics in the Prometheus text format', content: { 'text/plain': { schema: z.string() } } } },
  codes: ['not_found'],
  respond: async ({ c, ctx }) =>
    c.text(formatExposition(await readMetrics(ctx)), 200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }),
});
