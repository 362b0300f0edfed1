import { join } from 'node:path';
import { createKeyPairSignerFromPrivateKeyBytes } from '@solana/kit';
import { startChainServer } from './chain/server.ts';
import { keepWorker } from './kept-worker.ts';
import { freePort } from './ports.ts';
import { PRICE_PATH, startPriceSource } from './price-source.ts';
import { openSecrets, writeEnvFile } from './secrets.ts';
import type { Teardown } from './teardown.ts';
import { migrate } from './wrangler.ts';

export interface ServiceOptions {
  /** 0 takes any free port, here and for the chain. */
  port: number;
  chainPort: number;
  stateDir: string;
  /** Collects how to end what was started, from the first step on. */
  teardown: Teardown;
  /** Variables of the worker that differ from those of a local start. */
  variables?: Record<string, string>;
  onProgress: (step: string) => void;
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  onProblem: (problem: string) => void;
}

export interface Service {
  baseUrl: string;
  rpcUrl: string;
  /** Resolves when the worker has ended by itself too often to be started again, with its last lines. */
  gaveUp: Promise<string>;
}

/** Starts the chain, brings the database up to date, starts the worker and its clock; answers when both run. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { stateDir, teardown, onProgress, onProblem } = options;
  const port = await freePort(options.port, '--port');
  const chainPort = await freePort(options.chainPort, '--chain-port');
  const secrets = openSecrets(stateDir);

  onProgress('Starting a Solana chain (in memory: the database outlives a restart, transactions on chain do not)');
  const chain = await startChainServer({ port: chainPort });
  teardown.defer(() => chain.close());
  await fund(chain.url, 'local_fundSol', await walletOf(secrets.feePayerKeys), '10000000000');
  // One base unit, so that the account exists which the money for plans goes to.
  const treasury = await walletOf(secrets.treasurySeed);
  await fund(chain.url, 'local_fundUsdc', treasury, '1');
  const prices = await startPriceSource();
  teardown.defer(() => prices.close());

  const persistDir = join(stateDir, 'wrangler');
  onProgress('Bringing the database up to date');
  await migrate(persistDir, { stateDir, onStart: (run) => teardown.defer(() => run.stop()) });

  onProgress('Starting the service');
  const baseUrl = `http://127.0.0.1:${port}`;
  const envFile = writeEnvFile(stateDir, {
    PEPPER: secrets.pepper,
    JWT_KEYS: secrets.jwtKeys,
    RECEIPT_KEYS: secrets.receiptKeys,
    OPERATOR_SECRET: secrets.operatorSecret,
    SEAL_KEYS: secrets.sealKeys,
    CHALLENGE_KEYS: secrets.challengeKeys,
    FEE_PAYER_KEYS: secrets.feePayerKeys,
    TREASURY_WALLET: treasury,
    PRICE_URL: prices.url + PRICE_PATH,
    HANDOFF_SECRETS: secrets.handoffSecrets,
    // There is no bot here: the developer plays the connector, with these secrets from the state directory.
    TELEGRAM_BOT_USERNAME: 'svc_local_bot',
    TELEGRAM_CONNECTOR_SECRETS: secrets.telegramConnectorSecret,
    DISCORD_CLIENT_ID: '000000000000000000',
    DISCORD_REDIRECT_URI: `${baseUrl}/v1/docs`,
    DISCORD_CONNECTOR_SECRETS: secrets.discordConnectorSecret,
    ALLOW_INSECURE_WEBHOOKS: 'true',
    DEMO_WALLET: 'true',
    RPC_URL: chain.url,
    LOCAL_CLOCK_URL: chain.url,
    BASE_URL: baseUrl,
    RATE_MULTIPLIER: '1000',
    ...options.variables,
  });
  const address = ['--ip', '127.0.0.1', '--port', String(port), '--inspector-port', '0'];
  const args = ['--local', '--persist-to', persistDir, ...address, '--env-file', envFile];
  const { gaveUp } = await keepWorker({ args, baseUrl, stateDir, teardown, onLine: options.onLine, onProblem });
  return { baseUrl, rpcUrl: chain.url, gaveUp };
}

/** Address of the first of a secret's seeds. */
async function walletOf(seeds: string): Promise<string> {
  const [seed = ''] = seeds.split(',');
  return (await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(Buffer.from(seed, 'base64url')))).address;
}

/** The service's own wallets hold nothing where a chain begins, and it begins anew at every start. */
async function fund(rpcUrl: string, method: 'local_fundSol' | 'local_fundUsdc', address: string, units: string): Promise<void> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [address, units] });
  const response = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const answer = (await response.json()) as { error?: { message: string } };
  if (answer.error) throw new Error(`${method} ${address}: ${answer.error.message}`);
}
