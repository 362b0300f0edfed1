import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyPairSigner } from '@solana/kit';
import { bundle, ROOT } from '../../bundle.ts';
import { Api } from '../../cli/api.ts';
import { childrenOf } from '../../cli/processes.ts';
import type { Teardown } from '../../cli/teardown.ts';
import { startService } from '../../service/service.ts';

/** Complete service with database and chain, as `npm run dev` starts it, and a merchant. */
export interface BenchService {
  baseUrl: string;
  rpcUrl: string;
  pids: number[];
  key: string;
  sandboxKey: string;
  /** Token of the merchant's session. */
  token: string;
  wallet: string;
  buyer: string;
  product_id: string;
  slug: string;
  unitsProductId: string;
  setup: { setup_intent_id: string; setup_secret: string };
}

export async function startBenchService(stateDir: string, teardown: Teardown): Promise<BenchService> {
  // Without a secret the provider's webhook route rejects before it checks a signature.
  const variables = { RATE_MULTIPLIER: '1000000', RPC_WEBHOOK_SECRET: randomBytes(32).toString('base64url') };
  const serviceDir = join(stateDir, 'whole');
  const options = { port: 0, chainPort: 0, stateDir: serviceDir, teardown, variables, configPath: await readBenchConfig(serviceDir) };
  const { baseUrl, rpcUrl } = await startService({ ...options, onProgress: () => {}, onProblem: (problem) => console.error(problem) });
  const api = new Api(baseUrl);
  const account = { email: 'bench@example.com', password: randomBytes(12).toString('base64url'), display_name: 'Bench' };
  const { token } = await api.must<{ token: string }>('POST', '/v1/auth/register', { body: account });
  await api.must('POST', '/bench/plan');
  const { raw_key: key } = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'bench' } });
  const sandbox = { name: 'bench', sandbox_mode: true };
  const { raw_key: sandboxKey } = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: sandbox });
  const [{ address: wallet }, { address: buyer }] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
  await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body: fundCall(wallet) });
  const body = { name: 'Bench', price: { asset: 'USDC', amount: '0.01' }, payout_wallet: wallet, live_mode_confirmed: true };
  const { product_id, slug } = await api.must<Pick<BenchService, 'product_id' | 'slug'>>('POST', '/v1/products', { credential: key, body });
  const perUnit = { ...body, name: 'Bench, by the unit', usage_units: 1 };
  const { product_id: unitsProductId } = await api.must<{ product_id: string }>('POST', '/v1/products', { credential: key, body: perUnit });
  const setup = await api.must<BenchService['setup']>('POST', '/v1/access/agent-bootstrap', { body: { agent_name: 'Bench' } });
  const keys = { key, sandboxKey, token };
  return { baseUrl, rpcUrl, pids: runtimesBelow(process.pid), ...keys, wallet, buyer, product_id, slug, unitsProductId, setup };
}

async function readBenchConfig(serviceDir: string): Promise<string> {
  const outDir = join(serviceDir, 'bundle');
  mkdirSync(outDir, { recursive: true });
  await bundle(join(import.meta.dirname, 'counted.ts'), outDir);
  const toml = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
    .replace(/^\[build\]\n(?:.+\n)+/m, '')
    .replace(/^main = .+$/m, `main = ${JSON.stringify(join(outDir, 'counted.js'))}`)
    .replace(/^base_dir = .+$/m, `base_dir = ${JSON.stringify(outDir)}`)
    .replace(/^directory = "(.+)"$/m, (_, directory: string) => `directory = ${JSON.stringify(join(ROOT, directory))}`);
  const path = join(serviceDir, 'wrangler.toml');
  writeFileSync(path, toml);
  return path;
}

const fundCall = (wallet: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'local_fundUsdc', params: [wallet, '1000000'] });

function runtimesBelow(pid: number): number[] {
  const below = childrenOf(pid).flatMap((child) => [child, ...runtimesBelow(child)]);
  return [...new Set(below)].filter((one) => readFileSync(`/proc/${one}/comm`, 'utf8').trim() === 'workerd');
}
