import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Address, createKeyPairSignerFromPrivateKeyBytes, type KeyPairSigner } from '@solana/kit';
import { createPaymentChannelSessionOpener, createSessionFetch, type SessionFetchClient } from '@solana/mpp/client';
import { DevProcess } from '../local/dev/dev-process.ts';
import { ClientChain } from './chain.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of the service, checked by its own tests.
export type Body = any;

/** Pause between attempts while no worker is running. Retrying without a pause would take the processor from the starting worker. */
const PAUSE_MS = 50;

async function readBody(answer: Response): Promise<Response> {
  const body = await answer.arrayBuffer();
  return new Response(body.byteLength === 0 ? null : body, answer);
}

/** Repeats the identical request until a complete answer arrives. A request in flight at a kill gets 5xx, a partial answer or none. */
export const untilAnswered: typeof fetch = async (input, init) => {
  for (;;) {
    const answer = await fetch(input, init)
      .then(readBody)
      .catch(() => null);
    if (answer !== null && answer.status < 500) return answer;
    await sleep(PAUSE_MS);
  }
};

interface Parts extends Pick<MeteredService, 'dev' | 'chain' | 'baseUrl' | 'merchantAccount' | 'key' | 'productId'> {
  stateDir: string;
}

/** Service of `npm run dev` with a merchant that sells metered sessions to wallets of its chain. */
export class MeteredService {
  readonly dev: DevProcess;
  readonly chain: ClientChain;
  readonly baseUrl: string;
  readonly #stateDir: string;
  readonly key: string;
  readonly productId: string;
  readonly merchantAccount: Address;

  private constructor(parts: Parts) {
    this.dev = parts.dev;
    this.chain = parts.chain;
    this.baseUrl = parts.baseUrl;
    this.merchantAccount = parts.merchantAccount;
    this.#stateDir = parts.stateDir;
    this.key = parts.key;
    this.productId = parts.productId;
  }

  static async start(): Promise<MeteredService> {
    const stateDir = mkdtempSync(join(tmpdir(), 'svc-metered-'));
    const dev = new DevProcess(stateDir);
    const { baseUrl, rpcUrl } = await dev.ready();
    const chain = new ClientChain(rpcUrl);
    const { merchant } = JSON.parse(readFileSync(join(stateDir, 'secrets.json'), 'utf8'));
    const payout = await createKeyPairSignerFromPrivateKeyBytes(new Uint8Array(Buffer.from(merchant.payoutSeed, 'base64url')));
    const product = await call(baseUrl, merchant.key, 'POST', '/v1/products', {
      name: 'Text by the piece',
      price: { asset: 'USDC', amount: '1' },
      payout_wallet: payout.address,
      live_mode_confirmed: true,
    });
    const merchantAccount = await chain.call<Address>('local_fundUsdc', payout.address, '0');
    return new MeteredService({ dev, chain, baseUrl, merchantAccount, stateDir, key: merchant.key, productId: product.product_id });
  }

  call(method: string, path: string, body?: object): Promise<Body> {
    return call(this.baseUrl, this.key, method, path, body);
  }

  newSession(): Promise<Body> {
    return this.call('POST', '/v1/access/metered-sessions', {
      product_id: this.productId,
      cap: { asset: 'USDC', amount: '1' },
      unit_price: { asset: 'USDC', amount: '0.000007' },
    });
  }

  /** Opens a session with the public client for a wallet with 5 USDC, of which 0.1 are deposited. */
  async open(): Promise<MeteredBuyer> {
    const session = await this.newSession();
    const wallet = await this.chain.openWallet(5_000_000n);
    const opener = createPaymentChannelSessionOpener({ signer: wallet.signer, deposit: 100_000n, rpcUrl: this.chain.url });
    const client = createSessionFetch({ opener, liveCommitIntervalMs: 0, fetch: untilAnswered });
    const opened = await client.fetchWithSession(session.authorize_url, { method: 'POST' });
    return { session, wallet, client, opened };
  }

  async end(): Promise<void> {
    await this.dev.end();
    rmSync(this.#stateDir, { recursive: true, force: true });
  }
}

export interface MeteredBuyer {
  session: Body;
  wallet: { signer: KeyPairSigner; address: Address; tokenAccount: Address };
  client: SessionFetchClient;
  opened: Response;
}

async function call(baseUrl: string, key: string, method: string, path: string, body?: object): Promise<Body> {
  const headers = { 'X-Svc-Key': key, 'content-type': 'application/json', 'Idempotency-Key': crypto.randomUUID() };
  const url = path.startsWith('http') ? path : baseUrl + path;
  const answer = await untilAnswered(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) });
  const read = (await answer.json()) as Body;
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(read)}`);
  return read;
}
