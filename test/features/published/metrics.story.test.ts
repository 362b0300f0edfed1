import { beforeAll, describe, expect, it } from 'vitest';
import { METRICS } from '../../../worker/published/metric-catalog.ts';
import { formatExposition, quantile } from '../../../worker/published/metrics.ts';
import { SWEEPS } from '../../../worker/sweeps.ts';
import { withFaults } from '../../support/faults/faults.ts';
import { prepareOnEvents } from '../../support/fixtures/acts.ts';
import { rowsOf, withRowCount } from '../../support/runner/rows-read.ts';
import { World } from '../../support/world.ts';

const SECRET = 'the secret of an operator in a test';

describe('GET /v1/operator/metrics', () => {
  const w = new World({ OPERATOR_SECRET: SECRET });
  const page = async (env = w.env) => {
    const answer = await w.call('GET', '/v1/operator/metrics', { headers: { 'X-Svc-Operator-Secret': SECRET }, env });
    const samples = new Map<string, number>();
    for (const line of String(answer.body).split('\n')) {
      const [, name, value] = /^([a-z_]+(?:\{[^}]*\})?) (\S+)$/.exec(line) ?? [];
      if (name) samples.set(name, Number(value));
    }
    return { answer, samples, of: (name: string) => samples.get(name) };
  };
  let product: { product_id: string; slug: string };
  let payment: { payment_id: string };
  beforeAll(async () => {
    product = await w.product(await w.merchant());
    ({ payment } = await w.purchase(product, await w.chain.wallet()));
    await w.sweepAll();
  });

  it('the answer is Prometheus text with one type and help per metric', async () => {
    const { answer, samples } = await page();
    expect([answer.status, answer.headers.get('Content-Type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    const lines = String(answer.body).trimEnd().split('\n');
    for (const line of lines) expect(line).toMatch(/^(?:# (?:HELP|TYPE) svc_[a-z_]+ .+|svc_[a-z_]+(?:\{[a-z]+="[^"]*"\})? -?[\d.e+-]+)$/);
    const types = lines.filter((line) => line.startsWith('# TYPE')).map((line) => line.split(' ')[2]);
    expect(new Set(types).size).toBe(types.length);
    expect([...samples.values()].every(Number.isFinite)).toBe(true);
  });

  it('each sweep has its last success, its lag and its failures', async () => {
    // A sweep runs only with work, so all of them are run here.
    for (const { name } of SWEEPS) await w.sweepAlone(name);
    const { of } = await page();
    for (const { name } of SWEEPS) {
      expect(of(`svc_sweep_succeeded_seconds{sweep="${name}"}`)! * 1000, name).toBeGreaterThan(Date.now() - 60_000);
      expect(of(`svc_sweep_lag_seconds{sweep="${name}"}`), name).toBeLessThan(60);
    }
    await w.env.DB.prepare('UPDATE accounts SET plan_through = 1').run();
    await w.env.DB.prepare("UPDATE sweeps SET due_at = due_at - 700000, failures = 3 WHERE name = 'plans'").run();
    const late = await page();
    expect(late.of('svc_sweep_lag_seconds{sweep="plans"}')).toBeGreaterThan(600);
    expect(late.of('svc_sweep_failures{sweep="plans"}')).toBe(3);
  });

  it('each queue has the age of its oldest row, and zero without one', async () => {
    const put = async (queue: string, sql: string) => {
      await w.env.DB.prepare(sql).run();
      expect((await page()).of(`svc_oldest_seconds{queue="${queue}"}`), queue).toBeGreaterThan(3599);
    };
    await w.env.DB.prepare('UPDATE acts SET fanned_out_at = 1').run();
    expect((await page()).of('svc_oldest_seconds{queue="outbox"}')).toBe(0);
    const hourAgo = Date.now() - 3_600_000;
    await put('outbox', `UPDATE acts SET fanned_out_at = NULL, created_at = ${hourAgo} WHERE seq = (SELECT max(seq) FROM acts)`);
    await put(
      'unfinal',
      `UPDATE tx_claims SET next_check_at = ${hourAgo}, confirmed_at = ${hourAgo} WHERE subject_id = '${payment.payment_id}'`,
    );
    const { payment_id } = await w.connect(product);
    for (const origin of ['found', 'sent', 'named'])
      await put(
        origin,
        `INSERT INTO payment_candidates (payment_id, tx_signature, origin, attempt, next_check_at, created_at)
         VALUES ('one', '${origin}', '${origin}', 0, ${hourAgo}, ${hourAgo})`,
      );
    await put('session', `UPDATE payments SET expires_at = ${hourAgo} WHERE id = '${payment_id}'`);
  });

  it('stored messages are counted by reason', async () => {
    const put = (id: string, reason: string) =>
      w.env.DB.prepare("INSERT INTO parked_messages (id, queue, body, reason, parked_at) VALUES (?, 'svc-jobs', '{}', ?, 1)")
        .bind(id, reason)
        .run();
    await Promise.all([put('a', 'failed'), put('b', 'failed'), put('c', 'unknown_kind')]);
    const { of } = await page();
    expect([of('svc_parked_messages{reason="failed"}'), of('svc_parked_messages{reason="unknown_kind"}')]).toEqual([2, 1]);
  });

  it('the time from block to webhook is given as quantiles', async () => {
    const [event] = (await prepareOnEvents(w.env.DB, "SELECT * FROM events WHERE type = 'payment.confirmed'").all<Record<string, string>>())
      .results;
    const { block_time } = (await w.env.DB.prepare('SELECT block_time FROM payments WHERE id = ?')
      .bind(event!.payment_id)
      .first<{ block_time: number }>())!;
    for (let i = 1; i <= 100; i++)
      await w.env.DB.prepare(
        `INSERT INTO webhook_deliveries (merchant_id, livemode, endpoint_id, id, copy, event_id, event_type, status, attempt, max_attempts, lease_until, created_at, completed_at)
         VALUES (?, 1, ?, 1, 0, ?, 'payment.confirmed', 'succeeded', 1, 10, 0, 1, ?)`,
      )
        .bind(event!.merchant_id, `endpoint-${i}`, event!.id, block_time + i * 100)
        .run();
    const { of } = await page();
    expect([of('svc_chain_to_webhook_seconds{quantile="0.5"}'), of('svc_chain_to_webhook_seconds{quantile="0.95"}')]).toEqual([5, 9.5]);
  });

  it('the metrics read less than a thousand rows', async () => {
    const { env, readings } = withRowCount(w.env);
    await page(env);
    expect(rowsOf(readings)).toBeLessThan(1000);
  });

  it('metrics and health report how full the database is', async () => {
    const { of } = await page();
    expect(of('svc_database_bytes')).toBeGreaterThan(100_000);
    const { body } = await w.call('GET', '/health');
    expect([body.database_used, of('svc_database_used_ratio')]).toEqual([expect.any(Number), body.database_used]);
    expect(body.checks.database).toBe('ok');
    // Simulates a database of 7.1 GB.
    const prepare = (sql: string) => ({
      bind: () => ({ run: async () => ({ results: [{ n: 0, named: '[]' }], meta: { size_after: 7.1e9 } }) }),
      run: async () => ({ results: [{ n: 0, named: '[]' }], meta: { size_after: 7.1e9 } }),
      sql,
    });
    const full = await w.call('GET', '/health', { env: { ...w.env, DB: { prepare } as unknown as D1Database } });
    expect(full).toMatchObject({ status: 200, body: { status: 'degraded', database_used: 0.71, checks: { database: 'ok' } } });
    const down = await w.call('GET', '/health', { env: withFaults(w.env, { before: () => true }).env });
    expect(down).toMatchObject({ status: 503, body: { database_used: null } });
  });

  it('metrics are 404 without the secret', async () => {
    for (const headers of [{}, { 'X-Svc-Operator-Secret': 'a guess' }] as Record<string, string>[])
      expect(await w.call('GET', '/v1/operator/metrics', { headers })).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect((await w.call('POST', '/v1/operator/metrics', { body: {} })).status).toBe(404);
  });
});

describe('formatExposition and quantile', () => {
  it('label values are escaped, and quantiles use the nearest rank', () => {
    const name = 'svc_database_bytes';
    expect(formatExposition([{ name, samples: [{ labels: { l: 'x"\\\n' }, value: 1 }] }])).toBe(
      `# HELP ${name} ${METRICS[name].help}\n# TYPE ${name} gauge\n${name}{l="x\\"\\\\\\n"} 1\n`,
    );
    expect([quantile([], 0.5), quantile([7], 0.95), quantile([1, 2, 3, 4], 0.5), quantile([1, 2, 3, 4], 0.95)]).toEqual([null, 7, 2, 4]);
  });
});
