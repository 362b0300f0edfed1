import { beforeAll, describe, expect, it } from 'vitest';
import { newCtx } from '#platform/context.ts';
import { SWEEPS } from '../../worker/sweeps.ts';
import { nameOf, pathOf, reads, steadyText, type Target, takes } from '../support/clients/document.ts';
import { listTables } from '../support/fixtures/database-dump.ts';
import { openTenant, type Tenant } from '../support/people/tenant.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { testEnv } from '../support/runner/env.ts';
import { rowsOf, withRowCount, worstOf } from '../support/runner/rows-read.ts';
import { World } from '../support/world.ts';

const TWINS = 5;
/** SQLite reads one index entry beyond the range, once for each list of a route. */
const BEYOND = 2;
/** References of a twin row, which point to other twin rows. */
const OF_ANOTHER = ['payment_id', 'last_payment_id', 'membership_id', 'event_id', 'receipt_id'];
const OF_BOTH_MODES =
  /^(?:sandboxes|endedSandboxes|deliveries|idempotency|handoffs|identities|paymentSessions|failedSettlements|endedDeliveries|endedMails|endpointHours|archive|endedSessions|entitlements|refunds|analytics|endedSetups|audit)$/;

interface Column {
  name: string;
  type: string;
  pk: number;
}

const readColumns = async (table: string): Promise<Column[]> =>
  (await testEnv.DB.prepare(`SELECT name, type, pk FROM pragma_table_info('${table}')`).all<Column>()).results;

/** Returns, for each unique index without a mode, the column that must differ in a twin. */
async function readUniqueColumns(table: string): Promise<string[]> {
  const { results } = await testEnv.DB.prepare(
    `SELECT (SELECT group_concat(name) FROM pragma_index_info(l.name)) AS names FROM pragma_index_list('${table}') l WHERE l."unique"`,
  ).all<{ names: string | null }>();
  // The index of acts is over a part of their id.
  const rules = results.map(({ names }) => (names ?? 'id').split(',')).filter((names) => !names.includes('livemode'));
  return rules.map(
    (names) =>
      names.find((name) => !/^(?:merchant_id|product_id|account_id)$/.test(name) && /_?(?:id|key|hash|signature|nonce|slug)$/.test(name)) ??
      names[0]!,
  );
}

/** Adds sandbox twins to each live row, with the same merchant, product, customer and time, and with ids of their own. */
async function addTwins(): Promise<Record<string, number>> {
  const added: Record<string, number> = {};
  for (const table of await listTables(testEnv.DB)) {
    const columns = await readColumns(table);
    if (!columns.some(({ name }) => name === 'livemode')) continue;
    const unique = await readUniqueColumns(table);
    const keys = columns.filter(({ pk }) => pk > 0);
    const expressionOf = ({ name, type, pk }: Column): string => {
      if (name === 'livemode') return '0';
      const isOwn = OF_ANOTHER.includes(name) || unique.includes(name) || (pk > 0 && keys.length === 1);
      if (!isOwn) return `t."${name}"`;
      if (type.toLowerCase() === 'integer') return 'NULL';
      // The value has its original length, because some code cuts ids into parts.
      return type.toLowerCase() === 'blob'
        ? 'randomblob(16)'
        : `substr('twin' || i || '-' || t."${name}", 1, max(length(t."${name}"), 12))`;
    };
    const { meta } = await testEnv.DB.prepare(
      `INSERT OR IGNORE INTO ${table} (${columns.map(({ name }) => `"${name}"`).join(', ')})
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${TWINS})
        SELECT ${columns.map(expressionOf).join(', ')} FROM ${table} t, n WHERE t.livemode = 1`,
    ).run();
    added[table] = meta.changes;
  }
  return added;
}

/** Removes the entries that an export adds to the log, so that each reading of the log finds the same entries. */
const forgetExports = () => testEnv.DB.prepare("DELETE FROM audit_entries WHERE action = 'customer.exported'").run();

describe('live mode next to sandbox rows', () => {
  const w = new World({ ALLOW_INSECURE_WEBHOOKS: 'true' });
  let ada: Tenant;
  /** Key that reads the audit log. */
  let logKey: string;
  const alone = new Map<string, { text: string; rows: number }>();
  const now = Date.now() + 60_000;

  const ask = async (target: Target) => {
    await forgetExports();
    const { env, readings } = withRowCount(w.env);
    const keyOfRoute = target.path.startsWith('/v1/account/audit-log') ? logKey : ada.merchant.key;
    const key = takes(target.operation, 'apiKey') ? keyOfRoute : takes(target.operation, 'bearer') ? ada.merchant.token : undefined;
    const { status, body } = await w.call(target.method, pathOf(target, ada.live), { env, ...(key ? { key } : {}) });
    expect(status, nameOf(target)).toBeLessThan(500);
    const text = steadyText(status, body);
    return { text, rows: rowsOf(readings), worst: worstOf(readings) };
  };
  const sweep = async (name: string) => {
    const { env, readings } = withRowCount(w.env);
    await SWEEPS.find((one) => one.name === name)!.run(newCtx(env, { requestId: 'req_twins', now, defer: () => {} }));
    return { text: '', rows: rowsOf(readings), worst: worstOf(readings) };
  };
  const liveSweeps = SWEEPS.map(({ name }) => name).filter((name) => !OF_BOTH_MODES.test(name));

  beforeAll(async () => {
    ada = await openTenant(w, 'ada');
    const log = { name: 'log', scopes: ['log:read'] };
    logKey = (await w.call('POST', '/v1/keys', { key: ada.merchant.token, body: log })).body.raw_key;
    for (let i = 0; i < 4; i++) {
      await w.deliver();
      await w.attempt();
    }
    await w.sweepAll();
    setTime(now);
    // The second run measures without the first run's caching.
    for (let i = 0; i < 2; i++) {
      for (const target of reads) alone.set(nameOf(target), await ask(target));
      for (const name of liveSweeps) alone.set(name, await sweep(name));
    }
    const added = await addTwins();
    for (const table of ['payments', 'receipts', 'memberships', 'acts', 'products', 'webhook_endpoints', 'tx_claims'])
      expect(added[table], table).toBeGreaterThan(0);
    return letTimeRun;
  }, 60_000);

  it.each(reads.map((target) => [nameOf(target), target] as const))(
    '%s answers a live key with the same bytes and reads no additional rows',
    async (name, target) => {
      const { text, rows, worst } = await ask(target);
      expect(text).toBe(alone.get(name)!.text);
      expect(rows, worst).toBeLessThanOrEqual(alone.get(name)!.rows + BEYOND);
    },
  );

  it.each(liveSweeps)('the live sweep %s reads no additional rows', async (name) => {
    const { rows, worst } = await sweep(name);
    expect(rows, worst).toBeLessThanOrEqual(alone.get(name)!.rows + BEYOND);
  });
});
