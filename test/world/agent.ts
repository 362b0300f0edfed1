import type { KeyPairSigner } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import type { PaymentRequired } from '@x402/core/types';
import { ExactSvmScheme } from '@x402/svm';
import { keyRing } from '../../worker/core/crypto.ts';
import { base58, base64 } from '../../worker/core/encoding.ts';
import { NETWORKS } from '../../worker/solana/assets.ts';
import type { Merchant, World } from './world.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers whose shape call() has already checked against the document.
type Body = any;

/** An agent with the unmodified public client, paying on the world's chain. */
export class Agent {
  readonly wallet: KeyPairSigner;
  readonly client: x402Client;
  readonly #http: x402HTTPClient;

  constructor(wallet: KeyPairSigner, rpcUrl: string) {
    this.wallet = wallet;
    this.client = new x402Client().register(NETWORKS.devnet.caip2, new ExactSvmScheme(wallet, { rpcUrl }));
    this.#http = new x402HTTPClient(this.client);
  }

  /** The PAYMENT-SIGNATURE value for a PAYMENT-REQUIRED header. */
  async pay(header: string): Promise<string> {
    const required = this.#http.getPaymentRequiredResponse((name) => (name.toUpperCase() === 'PAYMENT-REQUIRED' ? header : null));
    return this.payFor(required);
  }

  async payFor(required: PaymentRequired): Promise<string> {
    const payload = await this.client.createPaymentPayload(required);
    const headers = this.#http.encodePaymentSignatureHeader(payload);
    return headers['PAYMENT-SIGNATURE']!;
  }
}

export const newAgent = async (w: World, usdc?: bigint): Promise<Agent> => new Agent(await w.chain.wallet(usdc), w.chain.url);

/** Address of the key that pays the network for agents. */
export const feePayerOf = (w: World): string => base58.encode(keyRing(w.env.FEE_PAYER_KEYS as string)[0]!.publicKey);

let keys = 0;
export const newKey = (): string => `key-${++keys}-${crypto.randomUUID()}`;

/** A product that agents can buy: confirmed for live mode, with a payout account and a fee payer that can pay. */
export async function sellToAgents(w: World, merchant: Merchant, terms: Record<string, unknown> = {}): Promise<Body> {
  await w.chain.call('local_fundSol', feePayerOf(w), '1000000000');
  await w.chain.call('local_fundUsdc', merchant.wallet.address, '1');
  return w.product(merchant, { price: { asset: 'USDC', amount: '0.01' }, live_mode_confirmed: true, ...terms });
}

/** A write of the access API under a key of its own, unless one is named. */
export const write = (w: World, merchant: Merchant, path: string, body: unknown, options: { key?: string; idempotencyKey?: string } = {}) =>
  w.call('POST', `/v1/access/${path}`, {
    key: options.key ?? merchant.key,
    body,
    headers: { 'Idempotency-Key': options.idempotencyKey ?? newKey() },
  });

export const decoded = (header: string): Body => JSON.parse(new TextDecoder().decode(base64.decode(header)));
