import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { generateKeyPairSigner } from '@solana/kit';
import { Api } from '../api.ts';
import { childrenOf } from '../processes.ts';
import { startService } from '../service.ts';
import type { Teardown } from '../teardown.ts';
import { type Cost, headersOf, type WholeRequest } from './costs.ts';
import { cpuMsOf } from './processes.ts';

const WARM_UP = 10;

/** The service with its database and a chain, as `npm run dev` starts it, and a merchant on it. */
export interface Whole {
  baseUrl: string;
  pids: number[];
  key: string;
  wallet: string;
  buyer: string;
  product_id: string;
  slug: string;
  setup: { setup_intent_id: string; setup_secret: string };
}

/** What was measured of a cost: milliseconds of processor time, the mean of several. */
export interface CostMeasured {
  cost: Cost;
  cpuMs: number;
}

export async function startWhole(stateDir: string, teardown: Teardown): Promise<Whole> {
  const variables = { RATE_MULTIPLIER: '1000000' };
  const options = { port: 0, chainPort: 0, stateDir: join(stateDir, 'whole'), teardown, variables };
  const { baseUrl, rpcUrl } = await startService({ ...options, onProgress: () => {}, onProblem: (problem) => console.error(problem) });
  const api = new Api(baseUrl);
  const account = { email: 'bench@example.com', password: randomBytes(12).toString('base64url'), display_name: 'Bench' };
  const { token } = await api.must<{ token: string }>('POST', '/v1/auth/register', { body: account });
  const { raw_key: key } = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'bench' } });
  const [{ address: wallet }, { address: buyer }] = await Promise.all([generateKeyPairSigner(), generateKeyPairSigner()]);
  await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body: fundCall(wallet) });
  const body = { name: 'Bench', price: { asset: 'USDC', amount: '0.01' }, payout_wallet: wallet, live_mode_confirmed: true };
  const { product_id, slug } = await api.must<Pick<Whole, 'product_id' | 'slug'>>('POST', '/v1/products', { credential: key, body });
  const setup = await api.must<Whole['setup']>('POST', '/v1/access/agent-bootstrap', { body: { agent_name: 'Bench' } });
  return { baseUrl, pids: runtimesBelow(process.pid), key, wallet, buyer, product_id, slug, setup };
}

const fundCall = (wallet: string): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'local_fundUsdc', params: [wallet, '1000000'] });

/** The workerd processes that were started from here, those of others aside: the worker's and that of the proxy before it. */
function runtimesBelow(pid: number): number[] {
  const below = childrenOf(pid).flatMap((child) => [child, ...runtimesBelow(child)]);
  return [...new Set(below)].filter((one) => readFileSync(`/proc/${one}/comm`, 'utf8').trim() === 'workerd');
}

export async function measureCost(cost: Cost, whole: Whole | null, repeats: number): Promise<CostMeasured> {
  return { cost, cpuMs: cost.run ? measureRun(cost.run, repeats) : await measureRequest(cost, whole!, repeats) };
}

function measureRun(run: () => void, repeats: number): number {
  for (let i = 0; i < WARM_UP; i++) run();
  const started = process.cpuUsage();
  for (let i = 0; i < repeats; i++) run();
  const { user, system } = process.cpuUsage(started);
  return (user + system) / 1000 / repeats;
}

async function measureRequest({ name, request }: Cost, whole: Whole, repeats: number): Promise<number> {
  for (let i = 0; i < WARM_UP; i++) await ask(name, whole, request!(whole, -1 - i));
  const before = cpuMsOf(whole.pids);
  for (let i = 0; i < repeats; i++) await ask(name, whole, request!(whole, i));
  return (cpuMsOf(whole.pids) - before) / repeats;
}

/** Any other answer than the one that is measured ends the run: refusals are cheaper. */
async function ask(name: string, { baseUrl }: Whole, one: WholeRequest): Promise<void> {
  const { method, path, body, status } = one;
  const response = await fetch(baseUrl + path, { method, headers: headersOf(one), body: body ?? null });
  const text = await response.text();
  if (response.status !== status) throw new Error(`${name}: ${response.status} instead of ${status}: ${text.slice(0, 500)}`);
}
