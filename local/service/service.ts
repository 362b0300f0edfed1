import { join } from 'node:path';
import { callChain } from '../chain/client.ts';
import { startChainServer } from '../chain/rpc/server.ts';
import { DEV_ASSETS_DIR } from '../cli/directories.ts';
import { freePort } from '../cli/ports.ts';
import { openSecrets, writeEnvFile } from '../cli/secrets.ts';
import type { Teardown } from '../cli/teardown.ts';
import { payingVariablesOf, variablesOf } from '../cli/variables.ts';
import { clientOf } from '../outside/identity.ts';
import { startOutside } from '../outside/outside.ts';
import { PORTAL, PRICES } from '../outside/processor.ts';
import { webhookSecretOf } from '../outside/subscriptions.ts';
import { PRICE_PATH, startPriceSource } from './price-source.ts';
import { writeSeveralDatabases } from './several-databases.ts';
import { superviseWorker } from './supervised-worker.ts';
import { readWallet } from './wallet-of.ts';
import { migrate } from './wrangler.ts';

interface ServiceOptions {
  /** 0 takes any free port, here and for the chain. */
  port: number;
  chainPort: number;
  stateDir: string;
  /** Registers the end of everything started, from the first step. */
  teardown: Teardown;
  world?: boolean;
  variables?: Record<string, string>;
  configPath?: string;
  /** Databases of merchants. Several ones have a directory. */
  databases?: number;
  onProgress: (step: string) => void;
  onLine?: (line: string, stream: 'stdout' | 'stderr') => void;
  onProblem: (problem: string) => void;
}

export interface Service {
  baseUrl: string;
  rpcUrl: string;
  /** Resolves with the last log lines when the worker crashed too often to be restarted. */
  gaveUp: Promise<string>;
}

/** Starts the chain, migrates the database, then starts the worker and its cron. Resolves when both run. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { stateDir, teardown, onProgress, onProblem } = options;
  const port = await freePort(options.port, '--port');
  const chainPort = await freePort(options.chainPort, '--chain-port');
  const secrets = openSecrets(stateDir);

  onProgress('Starting a Solana chain (in memory: the database outlives a restart, transactions on chain do not)');
  const chain = await startChainServer({ port: chainPort });
  teardown.defer(() => chain.close());
  await fund(chain.url, 'local_fundSol', await readWallet(secrets.feePayerKeys), '10000000000');
  const operator = await readWallet(secrets.channelKeys);
  await fund(chain.url, 'local_fundSol', operator, '10000000000');
  await fund(chain.url, 'local_fundSol', await readWallet(secrets.subscriptionKeys), '10000000000');
  // Creates the operator's token account: the operator is the payee of payment channels, and a distribution requires every party's account.
  await fund(chain.url, 'local_fundUsdc', operator, '0');
  // Funds one base unit, which creates the treasury's token account.
  const treasury = await readWallet(secrets.treasurySeed);
  await fund(chain.url, 'local_fundUsdc', treasury, '1');
  const prices = await startPriceSource();
  teardown.defer(() => prices.close());

  const persistDir = join(stateDir, 'wrangler');
  const { databases = 1 } = options;
  const configPath = databases > 1 ? writeSeveralDatabases(stateDir, databases) : options.configPath;
  onProgress('Bringing the database up to date');
  const severalPath = databases > 1 ? configPath : undefined;
  await migrate(persistDir, severalPath, { stateDir, onStart: (run) => teardown.defer(() => run.stop()) });

  onProgress('Starting the service');
  const baseUrl = `http://127.0.0.1:${port}`;
  const envFile = writeEnvFile(stateDir, {
    ...variablesOf(secrets, baseUrl),
    ...payingVariablesOf(secrets),
    TREASURY_WALLET: treasury,
    PRICE_URL: prices.url + PRICE_PATH,
    RPC_URL: chain.url,
    LOCAL_CLOCK_URL: chain.url,
    ...(options.world ? await openWorld(baseUrl, teardown) : {}),
    ...options.variables,
  });
  const address = ['--ip', '127.0.0.1', '--port', String(port), '--inspector-port', '0'];
  const config = configPath === undefined ? [] : ['--config', configPath];
  const assets = ['--assets', DEV_ASSETS_DIR];
  const args = ['--local', '--persist-to', persistDir, ...address, '--env-file', envFile, ...assets, ...config];
  const { gaveUp } = await superviseWorker({ args, baseUrl, stateDir, teardown, onLine: options.onLine, onProblem });
  return { baseUrl, rpcUrl: chain.url, gaveUp };
}

async function openWorld(baseUrl: string, teardown: Teardown): Promise<Record<string, string>> {
  const { url, close } = await startOutside({ webhookUrl: `${baseUrl}/v1/billing/webhooks/processor`, asks: true });
  teardown.defer(() => close());
  const [google, github] = [clientOf('dev'), clientOf('dev-hub')];
  const apiKey = 'sk_test_dev';
  return {
    GOOGLE_CLIENT_ID: google.clientId,
    GOOGLE_CLIENT_SECRET: google.clientSecret,
    GOOGLE_ISSUER: `${url}/openid/dev`,
    GITHUB_CLIENT_ID: github.clientId,
    GITHUB_CLIENT_SECRET: github.clientSecret,
    GITHUB_URL: `${url}/github/dev-hub`,
    GITHUB_API_URL: `${url}/github-api/dev-hub`,
    PROCESSOR_API_KEY: apiKey,
    PROCESSOR_API_URL: url,
    PROCESSOR_WEBHOOK_SECRETS: webhookSecretOf(apiKey),
    PROCESSOR_PRICE_STARTER: PRICES.starter,
    PROCESSOR_PRICE_GROWTH: PRICES.growth,
    PROCESSOR_PRICE_SCALE: PRICES.scale,
    PROCESSOR_PORTAL_CONFIGURATION: PORTAL,
    TELEGRAM_BOT_TOKEN: '4711:dev-of-telegram',
    TELEGRAM_API_URL: `${url}/telegram`,
    DISCORD_BOT_TOKEN: 'dev-of-discord',
    DISCORD_API_URL: `${url}/discord`,
  };
}

/** Funds a wallet. Every start creates a new chain, on which the service's wallets are empty. */
const fund = (rpcUrl: string, method: 'local_fundSol' | 'local_fundUsdc', address: string, units: string): Promise<null> =>
  callChain(rpcUrl, method, [address, units]);
