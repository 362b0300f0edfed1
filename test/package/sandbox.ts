import { execFileSync } from 'node:child_process';
import { globSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { Api } from '../../local/cli/api.ts';
import { freePort } from '../../local/cli/ports.ts';
import { type Received, verify, waitFor } from '../../local/demo/webhooks.ts';
import { protect } from '../../sdk/src/hono.ts';
import { createClient } from '../../sdk/src/index.ts';
import { type Check, exec, require } from './checks.ts';
import { type Container, runSteps } from './containerfile.ts';
import { packWorkspace, ROOT } from './pack.ts';
import { NODE_22 } from './runtimes.ts';
import { SandboxProcess } from './sandbox-process.ts';

const HOME = join(ROOT, 'local/sandbox');
const ARCHIVE_MB_MAX = 80;
const MAIN = 'node_modules/@paylatch/sandbox/dist/main.js';
const PAYOUT = 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa';
const BUYER = 'Cz1rjrkTXXxTqMBLoCEbuL3pJHVGzeZTqpNyNxVVpZVf';

interface Installed {
  archive: string;
  folder: string;
  container: Container;
}

/** Packs the sandbox and installs it in an empty folder by the steps of its Containerfile, then runs it there under Node 22. */
export function sandboxChecks(home: string): { checks: Check[]; end: () => void } {
  let installing: Promise<Installed> | undefined;
  const install = () => (installing ??= installSandbox(home));
  const group = 'sandbox';
  const checks: Check[] = [
    { group, name: 'archive', run: async () => checkArchive(await install()) },
    { group, name: 'container', run: async () => checkContainer(await install()) },
    { group, name: 'payment and webhook', run: async () => checkSale(home, await install()) },
    { group, name: 'address', run: async () => checkAddress(await install()) },
    { group, name: 'refusals', run: async () => checkRefusals(await install()) },
  ];
  return { checks, end: () => SandboxProcess.killAll() };
}

const withNode22 = { PATH: `${join(NODE_22, '..')}:${process.env.PATH}` };
const start = ({ folder }: Installed, ...args: string[]) => new SandboxProcess([NODE_22, MAIN, '--port', '0', ...args], folder);

async function installSandbox(home: string): Promise<Installed> {
  const folder = join(home, 'sandbox');
  mkdirSync(folder);
  const archive = await packWorkspace('local/sandbox', join(home, 'packed-sandbox'));
  writeFileSync(join(folder, 'package.json'), '{"private":true}\n');
  return { archive, folder, container: await runSteps(join(HOME, 'Containerfile'), join(archive, '..'), folder) };
}

function checkArchive({ archive, folder }: Installed): string {
  const megabytes = statSync(archive).size / 1e6;
  require(megabytes <= ARCHIVE_MB_MAX, `${megabytes.toFixed(1)} MB of at most ${ARCHIVE_MB_MAX}`);
  const installed = join(folder, 'node_modules/@paylatch/sandbox');
  const files = globSync('**/*', { cwd: installed, withFileTypes: true }).filter((entry) => entry.isFile());
  const others = files
    .map((entry) => join(entry.parentPath, entry.name).slice(installed.length + 1))
    .filter((file) => !/^dist\/(?:main\.js|settings\.json|worker\/[\w.-]+\.js|assets\/.+)$/.test(file));
  const expected = ['CHANGELOG.md', 'Containerfile', 'LICENSE', 'README.md', 'package.json'];
  require(others.sort().join() === expected.join(), `outside dist: ${others.join(', ')}`);
  return `${megabytes.toFixed(1)} MB of at most ${ARCHIVE_MB_MAX}, ${files.length} files`;
}

async function checkContainer({ folder, container }: Installed): Promise<string> {
  const { env, user, ports, healthCheck, command } = container;
  require(user !== 'root' && ports.join() === env.PORT, `runs as ${user} with the ports ${ports.join()}`);
  const own = { ...env, ...withNode22, PORT: String(await freePort(0, 'PORT')) };
  const sandbox = new SandboxProcess(command, folder, own);
  const { seconds } = await sandbox.ready();
  await exec('sh', ['-c', healthCheck], { cwd: folder, env: own });
  const code = await sandbox.end('SIGTERM');
  require(code === 0, `SIGTERM ended it with ${code}`);
  const isHealthy = await exec('sh', ['-c', healthCheck], { cwd: folder, env: own }).then(
    () => true,
    () => false,
  );
  require(!isHealthy, 'the health check passes without a service');
  return `ready in ${seconds} s`;
}

/** A first sale as the output proposes it, one by a public x402 client, and a second start that continues. */
async function checkSale(home: string, installed: Installed): Promise<string> {
  const state = ['--state', join(home, 'sandbox-state/new')];
  const first = start(installed, ...state);
  const { baseUrl, seconds, key, curl } = await first.ready();
  const mailbox = await openMailbox(new Api(baseUrl), key);
  execFileSync('sh', ['-c', curl], { stdio: 'pipe' });
  const confirmed = await waitFor(() => mailbox.find('payment.confirmed'), 'no payment.confirmed arrived');
  require(verify(confirmed, mailbox.secret).type === 'payment.confirmed', 'another event passed');
  const bought = await sellOneRequest(home, baseUrl, key);
  mailbox.close();
  require((await first.end()) === 0 && first.output.endsWith('End with Ctrl-C.\n'), `Ctrl-C did not end it cleanly:\n${first.output}`);

  const second = start(installed, ...state);
  const again = await second.ready();
  require(again.key === key, 'the second start has another key');
  const { total } = await new Api(again.baseUrl).must<{ total: number }>('GET', '/v1/payments?status=CONFIRMED', { credential: key });
  require(total >= 2, `the second start has ${total} payments`);
  require((await second.end()) === 0, 'the second start did not end cleanly');
  return `ready in ${seconds} s and ${again.seconds} s, ${bought}`;
}

async function openMailbox(api: Api, key: string) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    received.push({ headers, body: Buffer.concat(chunks).toString() });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const body = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hooks`, event_types: ['payment.*'] };
  const { secret } = await api.must<{ secret: string }>('POST', '/v1/webhooks/endpoints', { credential: key, body });
  const find = (type: string) => received.find((one) => JSON.parse(one.body).type === type);
  return { secret, find, close: () => server.close() };
}

/** Sells one request of an API to the example of the guide, which pays by `@x402/fetch`. */
async function sellOneRequest(home: string, baseUrl: string, key: string): Promise<string> {
  const client = createClient({ baseUrl, key });
  const { product_id: product } = await client.products.create({
    name: 'Forecast, one call',
    price: { asset: 'USDC', amount: '0.01' },
    payout_wallet: PAYOUT,
  });
  const app = new Hono().get('/forecast', protect({ client, product }), (c) => c.json({ sky: 'clear' }));
  const port = await freePort(0, 'PORT');
  const shop = serve({ fetch: app.fetch, port, hostname: '127.0.0.1' });
  const folder = join(home, 'sandbox-buyer');
  mkdirSync(folder);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  const guide = readFileSync(join(ROOT, 'docs/sandbox-in-a-box.md'), 'utf8');
  const code = /```ts\n([\s\S]*?)```/.exec(guide)![1]!.replace("'@paylatch/sdk'", JSON.stringify(join(ROOT, 'sdk/src/index.ts')));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  writeFileSync(join(folder, 'buy.ts'), code);
  const env = { BASE: baseUrl, KEY: key, URL_TO_BUY: `http://127.0.0.1:${port}/forecast` };
  const output = await exec(process.execPath, ['--no-warnings', 'buy.ts'], { cwd: folder, env }).finally(() => shop.close());
  require(output === '200 {"sky":"clear"}', `the buyer got ${output}`);
  return '@x402/fetch paid';
}

/** Another address has the service and nothing else, such as what Miniflare opens for its workers. */
async function checkAddress(installed: Installed): Promise<string> {
  const sandbox = start(installed, '--host', '127.0.0.2');
  const { baseUrl } = await sandbox.ready();
  require(new URL(baseUrl).hostname === '127.0.0.2' && (await fetch(`${baseUrl}/health`)).ok, `nothing answers at ${baseUrl}`);
  const listening = readFileSync('/proc/net/tcp', 'utf8').match(/ 0200007F:[0-9A-F]{4} 00000000:0000 0A /g) ?? [];
  require(listening.length === 1, `${listening.length} ports are open on 127.0.0.2`);
  require((await sandbox.end()) === 0, 'it did not end cleanly');
  return 'one port';
}

async function checkRefusals(installed: Installed): Promise<string> {
  const { folder } = installed;
  const run = async (...args: string[]) => {
    const sandbox = new SandboxProcess([NODE_22, MAIN, ...args], folder);
    return { code: await sandbox.ended(), output: sandbox.output };
  };
  const sandbox = start(installed);
  const { baseUrl } = await sandbox.ready();
  const { port } = new URL(baseUrl);
  const file = join(folder, 'a-file');
  writeFileSync(file, '');
  for (const [args, code, expected] of [
    [['--help'], 0, /--state <folder>/],
    [['--version'], 0, /^\d+\.\d+\.\d+\n$/],
    [['--colour'], 1, /--colour/],
    [['--port', 'http'], 1, /--port wants a port/],
    [['--port', port], 1, new RegExp(`Port ${port} is already in use`)],
    [['--port', '0', '--state', join(file, 'state')], 1, /--state \S+ cannot be written \(ENOTDIR\)/],
  ] as const) {
    const answer = await run(...args);
    require(answer.code === code && expected.test(answer.output), `${args.join(' ')} ended with ${answer.code}: ${answer.output}`);
    require(!/\n {4}at /.test(answer.output), `${args.join(' ')} printed a stack`);
  }
  await refusesLiveMode(new Api(baseUrl), sandbox.output);
  require((await sandbox.end()) === 0, 'it did not end cleanly');
  return 'each named, live mode answers 503';
}

async function refusesLiveMode(api: Api, output: string): Promise<void> {
  const [, email, password] = /\((\S+), password (\S+)\)/.exec(output)!;
  const { token } = await api.must<{ token: string }>('POST', '/v1/auth/login', { body: { email, password } });
  const { raw_key: credential } = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'live' } });
  const terms = { name: 'Weather API', price: { asset: 'USDC', amount: '5' }, access_period_days: 30, payout_wallet: PAYOUT };
  const { slug } = await api.must<{ slug: string }>('POST', '/v1/products', { credential, body: terms });
  const { status, body } = await api.call<{ code: string }>('POST', `/v1/products/p/${slug}/connect`, { body: { wallet_address: BUYER } });
  require(status === 503 && body.code === 'rpc_unavailable', `a live checkout answered ${status} ${JSON.stringify(body)}`);
}
