import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeyPairSigner } from '@solana/kit';
import { callChain } from '../chain/client.ts';
import { Api } from '../cli/api.ts';
import { writeKeyFile } from '../cli/key-file.ts';
import type { Teardown } from '../cli/teardown.ts';
import type { Narrator } from '../demo/narrator.ts';
import { WalletChain } from '../demo/wallet.ts';
import { startService } from '../service/service.ts';

/** Running service with its chain. */
export interface ExampleService {
  api: Api;
  chain: WalletChain;
  /** Deleted at the end. */
  stateDir: string;
  /** Resolves if the service has crashed too often. */
  gaveUp: Promise<string>;
}

/** Service and output of one example. `teardown` ends what the example starts. */
export interface Stage extends ExampleService {
  narrator: Narrator;
  teardown: Teardown;
}

export interface ExampleMerchant {
  key: string;
  payoutWallet: string;
}

export interface ExampleProduct {
  product_id: string;
  slug: string;
  name: string;
  price: { amount: string; base_units: string };
}

const USDC = '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU';

/** Starts a fresh service as `npm run dev -- --world` does, on free ports. */
export async function openService(narrator: Narrator, teardown: Teardown): Promise<ExampleService> {
  const stateDir = mkdtempSync(join(tmpdir(), 'svc-example-'));
  teardown.defer(() => rmSync(stateDir, { recursive: true, force: true }));
  const say = (text: string) => narrator.say(text);
  const ports = { port: 0, chainPort: 0 };
  const { baseUrl, rpcUrl, gaveUp } = await startService({ ...ports, stateDir, teardown, world: true, onProgress: say, onProblem: say });
  narrator.say(`The service is at ${baseUrl}, the chain at ${rpcUrl}.`);
  return { api: new Api(baseUrl), chain: new WalletChain(rpcUrl), stateDir, gaveUp };
}

/** Registers a merchant with a live key and a payout wallet that can receive USDC. */
export async function registerMerchant({ api, chain, narrator }: Stage, name: string): Promise<ExampleMerchant> {
  const account = {
    email: `${randomBytes(6).toString('hex')}@example.com`,
    password: randomBytes(12).toString('base64url'),
    display_name: name,
  };
  const { token } = await api.must<{ token: string }>('POST', '/v1/auth/register', { body: account });
  const { raw_key: key } = await api.must<{ raw_key: string }>('POST', '/v1/keys', { credential: token, body: { name: 'server' } });
  const { address: payoutWallet } = await generateKeyPairSigner();
  // A payout wallet receives USDC only if its token account exists.
  await callChain(chain.url, 'local_fundUsdc', [payoutWallet, '0']);
  narrator.say(`${name} has an account, a live key and the payout wallet ${payoutWallet}.`);
  return { key, payoutWallet };
}

/** Creates a product that pays to the merchant's wallet. */
export function createProduct({ api }: Stage, { key, payoutWallet }: ExampleMerchant, terms: object): Promise<ExampleProduct> {
  return api.must('POST', '/v1/products', { credential: key, body: { payout_wallet: payoutWallet, ...terms } });
}

/** Creates a webhook endpoint. Returns its secret. */
export async function createEndpoint({ api }: Stage, { key }: ExampleMerchant, url: string, event_types: string[]): Promise<string> {
  const { secret } = await api.must<{ secret: string }>('POST', '/v1/webhooks/endpoints', { credential: key, body: { url, event_types } });
  return secret;
}

/** Writes the key file of a new wallet with USDC and SOL, in the form of solana-keygen. */
export async function writeWallet({ chain, stateDir }: Stage, name: string, usdcUnits: bigint): Promise<{ address: string; file: string }> {
  // Examples that run after each other have wallets of one name.
  const file = join(stateDir, `${name}-${randomBytes(4).toString('hex')}.json`);
  const { address } = await writeKeyFile(file);
  await chain.fund(address, usdcUnits);
  return { address, file };
}

export function readUsdc({ chain }: Stage, owner: string): Promise<bigint> {
  return chain.balanceOf(owner, USDC);
}
