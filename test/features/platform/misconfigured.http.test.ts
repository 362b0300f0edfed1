import { afterEach, describe, expect, it, vi } from 'vitest';
import { app } from '../../../worker/app.ts';
import worker from '../../../worker/index.ts';
import { checkedConfig, type Env } from '../../../worker/platform/context.ts';
import { builtRoutes, fill } from '../../contract/spec-routes.ts';
import { World } from '../../support/world.ts';

const FOREIGN = 'https://another-network.test/';
const linesOf = (log: { mock: { calls: unknown[][] } }) => log.mock.calls.map(([line]) => JSON.parse(String(line)) as { notes?: string[] });

afterEach(() => vi.restoreAllMocks());

describe('worker with an invalid configuration', () => {
  const unsound = () => new World({ PEPPER: 'too short', RECEIPT_KEYS: 'no-key-at-all', BASE_URL: '' });

  it('every route except health is 503 misconfigured in the shape of every error', async () => {
    const w = unsound();
    for (const { method, path } of builtRoutes) {
      if (path.endsWith('/health')) continue;
      const answer = await w.call(method, fill(path), {
        headers: { 'X-Request-Id': 'mine-12345' },
        ...(method === 'POST' ? { body: {} } : {}),
      });
      expect([method, path, answer.status, answer.body.code]).toEqual([method, path, 503, 'misconfigured']);
      expect(answer.body).toMatchObject({ request_id: 'mine-12345', retryable: false, meta: {} });
      expect(answer.headers.get('X-Svc-Request-Id')).toBe('mine-12345');
      expect(answer.headers.get('X-Svc-Api-Version')).toBe('1.0.0');
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    for (const path of ['/p/weather', '/dashboard', '/nowhere']) expect((await w.call('GET', path)).status).toBe(503);
    expect(app.routes.length).toBeGreaterThan(50);
  });

  it('health is degraded and reads only the database', async () => {
    const w = unsound();
    for (const path of ['/health', '/v1/health']) {
      const { status, body } = await w.call('GET', path);
      expect([status, body.status, body.checks.database, body.checks.rpc]).toEqual([200, 'degraded', 'ok', 'not_configured']);
      expect(body.checks.configuration).toBe('failing');
    }
    const DB = { prepare: () => ({ bind: () => ({ run: () => Promise.reject(new Error('away')) }) }) } as unknown as D1Database;
    expect((await w.call('GET', '/health', { env: { ...w.env, DB } })).status).toBe(503);
  });

  it('the log names each invalid variable once, and neither log nor answers contain its value', async () => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    const w = unsound();
    const answers = await Promise.all(Array.from({ length: 20 }, () => w.call('GET', '/v1/products/p/weather')));
    const configLines = linesOf(log).filter(({ notes = [] }) => notes.some((note) => note.startsWith('config: ')));
    expect(configLines).toHaveLength(1);
    expect(configLines[0]!.notes).toEqual([
      'config: PEPPER must be one or more of 32+ bytes, comma-separated',
      'config: RECEIPT_KEYS must be 32-byte base64url seeds, comma-separated',
    ]);
    for (const text of [JSON.stringify(log.mock.calls), ...answers.map(({ body }) => JSON.stringify(body))])
      for (const value of ['too short', 'no-key-at-all']) expect(text).not.toContain(value);
    for (const { body } of answers) expect(JSON.stringify(body)).not.toMatch(/PEPPER|RECEIPT_KEYS/);
  });

  it('queued messages are retried, dead letters are stored, and no sweep is sent', async () => {
    const { env } = unsound();
    const retried: unknown[] = [];
    const batch = (queue: string) =>
      ({ queue, messages: [], retryAll: (options: unknown) => retried.push([queue, options]) }) as unknown as MessageBatch;
    const execution = {} as ExecutionContext;
    for (const queue of ['svc-jobs', 'svc-webhooks', 'svc-sweeps']) await worker.queue(batch(queue), env, execution);
    expect(retried).toHaveLength(3);
    await worker.queue(batch('svc-jobs-dead'), env, execution);
    expect(retried).toHaveLength(3);
    const SWEEPS = { sendBatch: () => Promise.reject(new Error('a sweep was sent')) } as unknown as Env['SWEEPS'];
    await worker.scheduled({} as ScheduledController, { ...env, SWEEPS });
  });
});

describe('worker with databases that contradict its variables', () => {
  const database = {} as D1Database;
  const several = { DB_2: database, DIRECTORY: database };

  it.each<[Record<string, unknown>, string]>([
    [{ DB_2: database }, 'config: DIRECTORY is not bound, but DB_2 is. Bind a database with all migrations as DIRECTORY'],
    [{ PARTITIONS: '000-007:DB 008-00f:DB_2' }, 'config: PARTITIONS names DB_2, which is not bound. Bind it'],
    [{ ...several, PARTITIONS: '000-007:DB' }, 'config: PARTITIONS has no partition of DB_2. Add a range that no other database has'],
    [{ ...several, PARTITIONS: '000-007:DB 007-00f:DB_2' }, 'config: PARTITIONS gives 007 to DB and to DB_2. A partition has one database'],
    [{ DB_3: database, DIRECTORY: database }, 'config: PARTITIONS is missing, but DB_3 is bound and a number before it is not. Set it'],
    [{ PARTITIONS: '007-000:DB' }, 'config: PARTITIONS must be `first-last:binding`, space-separated'],
    [{ ...several, OPEN_DATABASES: 'DB_3' }, 'config: OPEN_DATABASES names DB_3, which is not bound. Bind it or remove the name'],
    [{ ...several, OPEN_DATABASES: 'second' }, 'config: OPEN_DATABASES must be bindings, space-separated'],
    [{ DATABASES: 'DB:mars' }, 'config: DATABASES must be `binding:region`, space-separated'],
    [{ DATABASES: 'DB:enam DB_2:apac' }, 'config: DATABASES names DB_2, which is not bound. Bind it or remove the name'],
    [{ DATABASES: 'DB:enam DB:apac' }, 'config: DATABASES gives DB two regions. A database has one'],
    [{ ...several, DATABASES: 'DB:enam' }, 'config: DATABASES has no region of DB_2. Add it'],
  ])('%j is 503 misconfigured, and the log says what to do', async (bindings, note) => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    const w = new World();
    const answer = await w.call('GET', '/v1/products/p/weather', { env: { ...w.env, ...bindings } as Env });
    expect([answer.status, answer.body.code]).toEqual([503, 'misconfigured']);
    const notes = linesOf(log).flatMap(({ notes = [] }) => notes);
    expect(notes.filter((one) => /DIRECTORY|PARTITIONS|DATABASES/.test(one))).toEqual([note]);
  });

  it('two databases with a directory and partitions of each are accepted', async () => {
    const w = new World();
    const env = {
      ...w.env,
      ...several,
      PARTITIONS: '000-007:DB 010:DB_2 008-00f:DB',
      OPEN_DATABASES: 'DB_2',
      DATABASES: 'DB:enam DB_2:apac',
    } as Env;
    expect(checkedConfig(env).findings).toEqual(checkedConfig(w.env).findings);
  });
});

describe('worker with a node of another network', () => {
  const genesis = { result: 'GH7ome3EiwEr7tu9JuTh2dpYWBJK3z69Xm1ZE3MEE6JC' };
  const real = globalThis.fetch;
  const asForeign = () =>
    vi.spyOn(globalThis, 'fetch').mockImplementation(async (input, init) => {
      if (String(input) !== FOREIGN) return real(input, init);
      const calls = JSON.parse(String(init!.body)) as { id: number }[];
      return Response.json(calls.map(({ id }) => ({ id, ...genesis })));
    });

  it.each([
    ['its only one', (own: string) => ({ RPC_URL: own === '' ? '' : FOREIGN })],
    ['one of several', (own: string) => ({ RPC_URLS: `${own},${FOREIGN}` })],
  ])('a foreign node as %s makes requests 503 misconfigured from the first one on, and health degraded', async (_name, nodes) => {
    const log = vi.spyOn(console, 'log').mockReturnValue();
    asForeign();
    const w = new World();
    const env = { ...w.env, ...nodes(String(w.env.RPC_URL)) };
    expect(await w.call('GET', '/v1/access/rails', { env })).toMatchObject({ status: 503, body: { code: 'misconfigured' } });
    const health = await w.call('GET', '/health', { env });
    expect([health.status, health.body.status, health.body.checks.configuration]).toEqual([200, 'degraded', 'failing']);
    expect((await w.call('GET', '/v1/health?strict=1', { env })).status).toBe(503);
    const notes = linesOf(log).flatMap(({ notes = [] }) => notes);
    expect(notes.filter((note) => /^config: RPC_URLS node \d serves another network$/.test(note))).not.toEqual([]);
    expect(JSON.stringify(log.mock.calls)).not.toContain(FOREIGN);
  });

  it('a node that does not answer does not stop the service', async () => {
    const w = new World({ RPC_URL: 'http://127.0.0.1:1' });
    expect((await w.call('GET', '/v1/access/rails')).status).not.toBe(503);
  });
});
