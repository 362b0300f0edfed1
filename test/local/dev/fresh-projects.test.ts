import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
import { DevProcess } from './dev-process.ts';

const ROOT = join(import.meta.dirname, '../../..');
const DEVNET = 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1';
const home = mkdtempSync(join(tmpdir(), 'svc-fresh-projects-'));
const dev = new DevProcess(join(home, 'state'));
const ends: (() => unknown)[] = [];

const examples = [...readFileSync(join(ROOT, 'sdk/README.md'), 'utf8').matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code!);
const exampleOf = (adapter: string): string => examples.find((one) => one.includes(`'${adapter}'`))!;

let archive: string;
let env: { SVC_URL: string; SVC_KEY: string; SVC_PRODUCT: string };
let agent: KeyPairSigner;
let rpcUrl: string;

const SERVE = `import { serve } from '@hono/node-server';
import app from './index.ts';
serve({ fetch: (request) => app.fetch(request), hostname: '127.0.0.1', port: Number(process.env.PORT) });
`;

/** Creates a project with the packed archive and its framework, installed by npm. */
function newProject(name: string, packages: string[]): string {
  const folder = join(home, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{"name":"shop","private":true,"type":"module"}');
  execFileSync('npm', ['install', '--offline', '--no-audit', '--no-fund', archive], { cwd: folder, stdio: 'pipe' });
  for (const one of packages) {
    mkdirSync(join(folder, 'node_modules', one, '..'), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules', one), join(folder, 'node_modules', one));
  }
  return folder;
}

async function startNode(folder: string, entry: string, port: number): Promise<string> {
  const child: ChildProcess = spawn(process.execPath, ['--no-warnings', entry], {
    cwd: folder,
    env: { ...process.env, ...env, PORT: String(port) },
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
  env = { SVC_URL: started.baseUrl, SVC_KEY: made.raw_key, SVC_PRODUCT: product.product_id };
  agent = await generateKeyPairSigner();
  await callChain(rpcUrl, 'local_fundUsdc', [agent.address, '1000000']);
  // Packs in a copy, which neither needs nor disturbs the build of the working tree.
  const sdk = join(home, 'pack/sdk');
  mkdirSync(join(home, 'pack/node_modules'), { recursive: true });
  for (const name of ['hono', 'express', '@types']) symlinkSync(join(ROOT, 'node_modules', name), join(home, 'pack/node_modules', name));
  execFileSync('cp', ['-r', join(ROOT, 'sdk'), sdk]);
  execFileSync('npm', ['run', 'build'], {
    cwd: sdk,
    env: { ...process.env, PATH: `${join(ROOT, 'node_modules/.bin')}:${process.env.PATH}` },
  });
  execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', home], { cwd: sdk, stdio: 'pipe' });
  archive = join(home, readdirSync(home).find((name) => name.endsWith('.tgz'))!);
}, 120_000);
afterAll(async () => {
  for (const end of ends) await end();
  await dev.end();
  rmSync(home, { recursive: true, force: true });
});

describe('packed package installed into a fresh project', () => {
  const projects: Record<string, () => Promise<string>> = {
    Hono: async () => {
      const folder = newProject('hono', ['hono', '@hono/node-server']);
      writeFileSync(join(folder, 'index.ts'), exampleOf('@svc/sdk/hono'));
      writeFileSync(join(folder, 'serve.ts'), SERVE);
      return startNode(folder, 'serve.ts', await freePort(0, 'PORT'));
    },
    Express: async () => {
      const folder = newProject('express', ['express']);
      const code = exampleOf('@svc/sdk/express');
      expect(code).toContain('app.listen(3000)');
      writeFileSync(join(folder, 'index.ts'), code.replace('app.listen(3000)', 'app.listen(Number(process.env.PORT))'));
      return startNode(folder, 'index.ts', await freePort(0, 'PORT'));
    },
    'a plain fetch handler, as Workers have it': async () => {
      const folder = newProject('fetch', ['@hono/node-server', 'hono']);
      writeFileSync(join(folder, 'index.ts'), exampleOf('@svc/sdk/fetch'));
      writeFileSync(join(folder, 'serve.ts'), SERVE);
      return startNode(folder, 'serve.ts', await freePort(0, 'PORT'));
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
});
