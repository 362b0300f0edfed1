import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyPairSigner } from '@solana/kit';
import { bundle, ROOT } from '../../bundle.ts';
import { Api } from '../../cli/api.ts';
import { childrenOf } from '../../cli/processes.ts';
import type { Teardown } from '../../cli/teardown.ts';
import { startService } from '../../service/service.ts';

/** The service with its database and a chain, as `npm run dev` starts it, and a merchant on it. */
export interface Whole {
  baseUrl: string;
  rpcUrl: string;
  pids: number[];
  key: string;
  sandboxKey: string;
  wallet: string;
  buyer: string;
  product_id: string;
  slug: string;
  /** Of a product that is sold by the unit. */
  unitsProductId: string;
  setup: { setup_intent_id: string; setup_secret: string };
}

export async function startWhole(stateDir: string, teardown: Teardown): Promise<Whole> {
  // Without its secret the provider's route answers that, and looks at no signature.
  const variables = { RATE_MULTIPLIER: '1000000', RPC_WEBHOOK_SECRET: randomBytes(32).toString('base64url') };
  const wholeDir = join(stateDir, 'whole');
  const options = { port: 0, chainPort: 0, stateDir: wholeDir, teardown, variables, configPath: await configOf(wholeDir) };
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
  const { product_id, slug } = await api.must<Pick<Whole, 'product_id' | 'slug'>>('POST', '/v1/products', { credential: key, body });
  const perUnit = { ...body, name: 'Bench, by the unit', usage_units: 1 };
  const { product_id: unitsProductId } = await api.must<{ product_id: string }>('POST', '/v1/products', { credential: key, body: perUnit });
  const setup = await api.must<Whole['setup']>('POST', '/v1/access/agent-bootstrap', { body: { agent_name: 'Bench' } });
  const keys = { key, sandboxKey };
  return { baseUrl, rpcUrl, pids: runtimesBelow(process.pid), ...keys, wallet, buyer, product_id, slug, unitsProductId, setup };
}

/** The service's own configuration, with the bench's entry in place of the service's. Answers where it is. */
async function configOf(wholeDir: string): Promise<string> {
  const outDir = join(wholeDir, 'bundle');
  mkdirSync(outDir, { recursive: true });
  await bundle(join(import.meta.dirname, 'counted.ts'), outDir);
  const toml = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')
    .replace(/^\[build\]\n(?:.+\n)+/m, '')
    .replace(/^main = .+$/m, `main = ${JSON.stringify(join(outDir, 'counted.js'))}`)
    .replace(/^base_dir = .+$/m, `base_dir = ${JSON.stringify(outDir)}`)
    .replace(/^directory = "(.+)"$/m, (_, directory: string) => `directory = ${JSON.stringify(join(ROOT, directory))}`);
  const path = join(wholeDir, 'wrangler.toml');
  writeFileSync(path, toml);
  return path;
}

const fundCall = (wallet: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'local_fundUsdc', params: [wallet, '1000000'] });

/** The workerd processes that were started from here, those of others aside: the worker's and that of the proxy before it. */
function runtimesBelow(pid: number): number[] {
  const below = childrenOf(pid).flatMap((child) => [child, ...runtimesBelow(child)]);
  return [...new Set(below)].filter((one) => readFileSync(`/proc/${one}/comm`, 'utf8').trim() === 'workerd');
}
