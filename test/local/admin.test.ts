import { execFile } from 'node:child_process';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';

const ADMIN = join(import.meta.dirname, '../../local/admin.ts');
const SECRET = 'the secret of the operator';

describe('npm run admin', () => {
  const closing: (() => void)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });

  async function serve(answer: (response: ServerResponse, request: IncomingMessage) => void) {
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(String(request.headers['x-svc-operator-secret']));
      answer(response, request);
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    closing.push(() => server.close());
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
  }
  const admin = (url: string, ...args: string[]) =>
    new Promise<{ out: string; failed: string }>((done) => {
      const env = { ...process.env, OPERATOR_SECRET: SECRET };
      execFile(process.execPath, [ADMIN, ...args, '--url', url], { env }, (_error, out, failed) => done({ out, failed }));
    });

  it.each<[string[], string]>([
    [[], 'Name an action. The actions are suspend, resume, staff'],
    [['suspned', 'ada@example.com'], '"suspned" is not an action. The actions are suspend, resume, staff'],
    [['suspend'], '"suspend" needs other arguments.'],
    [['reconcile'], '"reconcile" needs the time of the restore, such as 2026-11-22T10:00:00Z.'],
  ])('the command prints for %j the available actions and their arguments', async (args, said) => {
    const { failed } = await admin('http://127.0.0.1:1', ...args);
    expect(failed).toContain(said);
    expect(failed).toContain('Usage: npm run admin -- suspend|resume|staff|unstaff <email or user id>');
  });

  it.each([['accounts'], ['payment', 'p1']])('control characters in names chosen by users are not printed, by %s', async (...args) => {
    const hostile = '\u001b]52;c;cm0gLXJm\u0007Ada\u009b2J\nid  eve  active\u202e';
    const { url } = await serve((response) => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ items: [{ id: 'one', name: hostile }], metadata: { [hostile]: hostile } }));
    });
    const { out } = await admin(url, ...args);
    expect(out).toContain(']52;c;cm0gLXJm Ada 2J id eve active');
    expect(out.replaceAll('\n', '')).not.toMatch(/\p{Cc}|\p{Cf}/u);
    if (args[0] === 'accounts') expect(out.trimEnd().split('\n')[0]).toBe('id   name');
    if (args[0] === 'accounts') expect(out.trimEnd().split('\n')).toHaveLength(2);
  });

  it('accounts are printed as a table with columns that stay aligned if values are missing', async () => {
    const { url } = await serve((response) => {
      response.setHeader('content-type', 'application/json');
      const known = { email: 'ada@example.com', plan: 'growth', plan_source: 'processor', plan_through: null, is_staff: false };
      response.end(JSON.stringify({ items: [known, { ...known, email: null, plan: 'free', plan_source: 'free', is_staff: true }] }));
    });
    expect((await admin(url, 'accounts')).out.split('\n')).toEqual([
      'email            plan    plan_source  plan_through  is_staff',
      'ada@example.com  growth  processor    -             false',
      '-                free    free         -             true',
      '',
    ]);
  });

  it('a move prints each step once, repeats a call that failed, and ends with the time of refused writes', async () => {
    const base = { partition: '00c', from: 'DB', to: 'DB_2', table: null, rows_copied: 0, refused_ms: null };
    const answers = [
      { ...base, state: 'copying', table: 'payments', rows_copied: 1200 },
      { ...base, state: 'copying', table: 'payments', rows_copied: 1200 },
      null,
      { ...base, state: 'published' },
      { ...base, state: 'done', refused_ms: 17_250 },
    ];
    const bodies: string[] = [];
    const { url } = await serve(async (response, request) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk as Uint8Array);
      bodies.push(`${request.url} ${Buffer.concat(chunks)}`);
      const answer = answers.shift();
      response.statusCode = answer ? 200 : 503;
      response.end(JSON.stringify(answer ?? { code: 'temporarily_unavailable', detail: 'Retry.' }));
    });
    const { out } = await admin(url, 'partitions', 'move', '00c', '--to', 'DB_2');
    expect(out.trimEnd().split('\n')).toEqual([
      'copying payments, 1200 rows copied',
      '503 temporarily_unavailable: "Retry."; trying again',
      'published',
      'done',
      '00c is in DB_2, writes were refused for 17.3 s. Deploy PARTITIONS with it, then MOVES may be off.',
    ]);
    expect(new Set(bodies)).toEqual(new Set(['/v1/operator/partitions/move {"partition":"00c","to":"DB_2"}']));
  });

  it.each([
    [['partitions'], 'GET /v1/operator/partitions '],
    [['partitions', 'cancel', '00c'], 'POST /v1/operator/partitions/cancel {"partition":"00c"}'],
    [['partitions', 'close', 'DB_2'], 'POST /v1/operator/partitions/close {"database":"DB_2"}'],
    [['partitions', 'open', 'DB_2'], 'POST /v1/operator/partitions/open {"database":"DB_2"}'],
  ])('the command %j makes the call %s', async (args, call) => {
    const calls: string[] = [];
    const { url } = await serve(async (response, request) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk as Uint8Array);
      calls.push(`${request.method} ${request.url} ${Buffer.concat(chunks)}`);
      const answer = {
        state: 'done',
        partition: '00c',
        to: 'DB',
        refused_ms: null,
        table: null,
        database: 'DB_2',
        partitions: ['008'],
        items: [],
      };
      response.end(JSON.stringify(answer));
    });
    expect((await admin(url, ...args)).failed).toBe('');
    expect(calls).toEqual([call]);
  });

  it('an account is named in the body of the call, never in the URL, which access logs record', async () => {
    const addresses: string[] = [];
    const { url } = await serve((response, request) => {
      addresses.push(String(request.url));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ items: [] }));
    });
    expect((await admin(url, 'accounts', 'ada@example.com')).out).toBe('none\n');
    expect(addresses).toEqual(['/v1/operator/accounts/search']);
  });

  it('totals are printed in the unit of their asset, with a description', async () => {
    const { url } = await serve((response) => {
      response.setHeader('content-type', 'application/json');
      const live = { confirmed: '9', sol_gross: '50000000', usdc_count: '10', usdc_gross: '89020000' };
      response.end(JSON.stringify({ accounts: { active: 3 }, live }));
    });
    const { out } = await admin(url, 'totals');
    for (const line of ['accounts active  3', 'confirmed  9', 'sol_gross  0.05 SOL', 'usdc_count  10', 'usdc_gross  89.02 USDC'])
      expect(out.split('\n')).toContain(line);
    expect(out).toContain('usdc_count and sol_count count all payments');
  });

  it.each(['http://pay.example.com', 'http://127.0.0.1.example.com', 'ftp://127.0.0.1'])('the command sends nothing to %s', async (url) => {
    const { failed } = await admin(url, 'totals');
    expect(failed).toMatch(/is not private\. Set an https URL with --url\. Nothing was sent\./);
  });

  it('the command does not follow a redirect with the secret', async () => {
    const other = await serve((response) => response.end('{}'));
    const { url, asked } = await serve((response) => {
      response.writeHead(307, { location: `${other.url}/v1/operator/totals` });
      response.end();
    });
    const { failed } = await admin(url, 'totals');
    expect([asked, other.asked]).toEqual([[SECRET], []]);
    expect(failed).toContain(`redirects to ${other.url}`);
  });
});
