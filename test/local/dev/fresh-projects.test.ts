import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateKeyPairSigner, type KeyPairSigner } from '@solana/kit';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { ExactSvmScheme } from '@x402/svm';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callChain } from '../../../local/chain/client.ts';
import { Api } from '../../../local/cli/api.ts';
import { freePort } from '../../../local/cli/ports.ts';
import { examples, newProject, packSdk } from '../../package/pack.ts';
import { DevProcess } from './dev-process.ts';

const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const home = mkdtempSync(join(tmpdir(), 'svc-fresh-projects-'));
const dev = new DevProcess(join(home, 'state'));
const ends: (() => unknown)[] = [];

const exampleOf = (...parts: string[]): string => examples.find((one) => parts.every((part) => one.includes(part)))!;
const onPort = (code: string): string => code.replace(/\b3000\b/, 'Number(process.env.PORT)');

let archive: string;
let env: { SVC_BASE_URL: string; SVC_API_KEY: string; SVC_PRODUCT: string };
let agent: KeyPairSigner;
let rpcUrl: string;

const SERVE = `import { serve } from '@hono/node-server';
import app from './index.ts';
serve({ fetch: (request) => app.fetch(request), hostname: '127.0.0.1', port: Number(process.env.PORT) });
`;

/** Calls a route handler as Next.js does. */
const ROUTE = `import { GET } from './route.ts';
export default { fetch: (request: Request) => GET(request, { params: Promise.resolve({}) }) };
`;

async function startNode(folder: string, entry: string, variables: Record<string, string> = env): Promise<string> {
  const port = await freePort(0, 'PORT');
  const child: ChildProcess = spawn(process.execPath, ['--no-warnings', entry], {
    cwd: folder,
    env: { ...process.env, ...variables, PORT: String(port) },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  ends.push(() => child.kill());
  const url = `http://127.0.0.1:${port}/forecast`;
  for (let tries = 0; tries < 200; tries++) {
    const isUp = await fetch(url).then(
      () => true,
      () => false,
    );
    if (isUp) return url;
    await sleep(50);
  }
  throw new Error(`nothing listens at ${url}`);
}

beforeAll(async () => {
  const started = await dev.ready();
  rpcUrl = started.rpcUrl;
  const api = new Api(started.baseUrl);
  const owner = await generateKeyPairSigner();
  await callChain(rpcUrl, 'local_fundUsdc', [owner.address, '1']);
  const { token } = await api.must<{ token: string }>('POST', '/v1/auth/register', {
    body: { email: 'fresh@example.com', password: 'correct horse battery', display_name: 'Fresh' },
  });
  const made = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'shop' } });
  const product = await api.must<{ product_id: string }>('POST', '/v1/products', {
    credential: made.raw_key,
    body: {
      name: 'Forecast',
      external_product_id: 'forecast',
      price: { asset: 'USDC', amount: '0.05' },
      payout_wallet: owner.address,
      live_mode_confirmed: true,
    },
  });
  env = { SVC_BASE_URL: started.baseUrl, SVC_API_KEY: made.raw_key, SVC_PRODUCT: product.product_id };
  agent = await generateKeyPairSigner();
  await callChain(rpcUrl, 'local_fundUsdc', [agent.address, '1000000']);
  archive = packSdk(home);
}, 120_000);
afterAll(async () => {
  for (const end of ends) await end();
  await dev.end();
  rmSync(home, { recursive: true, force: true });
});

describe('packed package installed into a fresh project', () => {
  const projects: Record<string, () => Promise<string>> = {
    Hono: async () => {
      const folder = newProject(join(home, 'hono'), archive, ['hono', '@hono/node-server']);
      writeFileSync(join(folder, 'index.ts'), exampleOf('/hono'));
      writeFileSync(join(folder, 'serve.ts'), SERVE);
      return startNode(folder, 'serve.ts');
    },
    Express: async () => {
      const folder = newProject(join(home, 'express'), archive, ['express']);
      writeFileSync(join(folder, 'index.ts'), onPort(exampleOf('/express')));
      return startNode(folder, 'index.ts');
    },
    Fastify: async () => {
      const folder = newProject(join(home, 'fastify'), archive, ['fastify']);
      writeFileSync(join(folder, 'index.ts'), onPort(exampleOf('/fastify')));
      return startNode(folder, 'index.ts');
    },
    'a route handler of Next.js': async () => {
      const folder = newProject(join(home, 'next'), archive, ['@hono/node-server', 'hono']);
      writeFileSync(join(folder, 'route.ts'), exampleOf('/next'));
      writeFileSync(join(folder, 'index.ts'), ROUTE);
      writeFileSync(join(folder, 'serve.ts'), SERVE);
      return startNode(folder, 'serve.ts');
    },
    'a plain fetch handler, as Workers have it': async () => {
      const folder = newProject(join(home, 'fetch'), archive, ['@hono/node-server', 'hono']);
      writeFileSync(join(folder, 'index.ts'), exampleOf('/fetch', 'export default'));
      writeFileSync(join(folder, 'serve.ts'), SERVE);
      return startNode(folder, 'serve.ts');
    },
  };

  it.each(Object.keys(projects))(
    'the README example for %s answers 402 without payment and serves a paying client',
    async (name) => {
      const url = await projects[name]!();
      const bare = await fetch(url);
      expect([bare.status, bare.headers.has('PAYMENT-REQUIRED')]).toEqual([402, true]);
      await bare.body?.cancel();
      const client = new x402Client().register(DEVNET, new ExactSvmScheme(agent, { rpcUrl }));
      const paid = await wrapFetchWithPayment(fetch, client)(url);
      expect([paid.status, await paid.json()]).toEqual([200, { weather: 'sunny', left: 0 }]);
    },
    60_000,
  );

  it('a newcomer installs it in an empty folder, runs the first README example and is paid by the demo wallet within a minute', async () => {
    const begun = Date.now();
    const folder = join(home, 'newcomer');
    mkdirSync(folder);
    execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: folder, stdio: 'pipe' });
    writeFileSync(join(folder, 'shop.ts'), onPort(examples[0]!));
    // Key and wallet that `npm run dev` prints.
    const [, key] = await dev.says(/Live key +(\S+)/);
    const [, wallet] = await dev.says(/paid to (\w+)/);
    const url = await startNode(folder, 'shop.ts', { SVC_BASE_URL: env.SVC_BASE_URL, SVC_API_KEY: key!, PAYOUT_WALLET: wallet! });
    const pay = join(import.meta.dirname, '../../../local/pay.ts');
    const output = execFileSync(process.execPath, [pay, url, '--rpc', rpcUrl], { encoding: 'utf8' });
    expect(output).toMatch(/^402 without a payment\n200 with a payment from \w+: \{"weather":"sunny"\}\n$/);
    expect(Date.now() - begun).toBeLessThan(60_000);
    // A later start serves the product of the first one, also if its terms were edited.
    writeFileSync(join(folder, 'shop.ts'), onPort(examples[0]!.replace("'0.01'", "'0.02'")));
    const again = await startNode(folder, 'shop.ts', { SVC_BASE_URL: env.SVC_BASE_URL, SVC_API_KEY: key!, PAYOUT_WALLET: wallet! });
    expect((await fetch(again)).status).toBe(402);
  }, 60_000);
});
