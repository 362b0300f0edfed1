import type { KeyPairSigner } from '@solana/kit';
import { x402Client, x402HTTPClient } from '@x402/core/client';
import type { PaymentRequired } from '@x402/core/types';
import { appendPaymentIdentifierToExtensions } from '@x402/extensions';
import type { SIWxSigner } from '@x402/extensions/sign-in-with-x';
import { ExactSvmScheme } from '@x402/svm';
import { keyRing } from '#core/crypto.ts';
import { base58, base64, utf8 } from '#core/encoding.ts';
import { entitlementIdOf, type PaymentId } from '#core/ids.ts';
import { loadSettlement } from '#features/settlements/store.ts';
import { type Env, newCtx } from '#platform/context.ts';
import type { Settlement } from '#platform/db/tables/settlements.ts';
import { NETWORKS } from '#solana/assets.ts';
import type { Answer, Merchant, World } from '../world.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

/** Agent with the unmodified public client, paying on the world's chain. */
export class Agent {
  readonly wallet: KeyPairSigner;
  readonly client: x402Client;
  readonly #http: x402HTTPClient;

  constructor(wallet: KeyPairSigner, rpcUrl: string) {
    this.wallet = wallet;
    this.client = new x402Client().register(NETWORKS.devnet.caip2, new ExactSvmScheme(wallet, { rpcUrl }));
    this.#http = new x402HTTPClient(this.client);
  }

  /** The wallet as the public client for sign-in takes it: its types name messages less strictly. */
  get signer(): SIWxSigner {
    return this.wallet as unknown as SIWxSigner;
  }

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

/** Pays as the public client does, with its own name for the payment. */
export const payAs = (agent: Agent, header: string, id: string): Promise<string> => {
  const required = decoded(header);
  appendPaymentIdentifierToExtensions(required.extensions, id);
  return agent.payFor(required);
};

export const newAgent = async (w: World, usdc?: bigint): Promise<Agent> => new Agent(await w.chain.wallet(usdc), w.chain.url);

export const feePayerOf = (w: World): string => base58.encode(keyRing(w.env.FEE_PAYER_KEYS as string)[0]!.publicKey);

let keys = 0;
export const newKey = (): string => `key-${++keys}-${crypto.randomUUID()}`;

/** Prepares the merchant's payout account and funds the fee payer. */
export async function readyToBePaid(w: World, merchant: Merchant): Promise<void> {
  await w.chain.call('local_fundSol', feePayerOf(w), '1000000000');
  await w.chain.call('local_fundUsdc', merchant.wallet.address, '1');
}

/** Sells a product to agents: confirmed for live mode, with a payout account and a funded fee payer. */
export async function sellToAgents(w: World, merchant: Merchant, terms: Record<string, unknown> = {}): Promise<Body> {
  await readyToBePaid(w, merchant);
  return w.product(merchant, { price: { asset: 'USDC', amount: '0.01' }, live_mode_confirmed: true, ...terms });
}

/** Sells a product to agents at these origins of the merchant. */
export async function sellAt(w: World, merchant: Merchant, origins: string[], terms: Record<string, unknown> = {}): Promise<Body> {
  await setOrigins(w, merchant.key, origins);
  return sellToAgents(w, merchant, terms);
}

export const setOrigins = (w: World, key: string, origins: string[]): Promise<Answer<Body>> =>
  w.call('PUT', '/v1/access/rail-settings/x402_solana_usdc', { key, body: { origins }, headers: { 'Idempotency-Key': newKey() } });

/** Calls a write of the access API, under a new key by default. */
export const write = (w: World, merchant: Merchant, path: string, body: unknown, options: WriteOptions = {}) =>
  w.call('POST', `/v1/access/${path}`, {
    key: options.key ?? merchant.key,
    body,
    headers: { 'Idempotency-Key': options.idempotencyKey ?? newKey() },
    ...(options.env ? { env: options.env } : {}),
  });

export interface WriteOptions {
  key?: string;
  idempotencyKey?: string;
  env?: Env;
}

export type Shop = Awaited<ReturnType<typeof openShop>>;

export async function openShop(w: World, terms: Record<string, unknown> = {}) {
  const merchant = await w.merchant();
  return stall(w, merchant, await sellToAgents(w, merchant, terms), await newAgent(w));
}

export function stall(w: World, merchant: Merchant, product: Body, agent: Agent) {
  const named = { product_id: product.product_id as string };
  const customer = { wallet_address: agent.wallet.address as string };
  const consume = (body: object = {}, options: WriteOptions = {}) =>
    write(w, merchant, 'entitlements/consume', { ...named, customer, ...body }, options);
  const challenge = async (body: object = {}): Promise<string> => {
    const { status, body: answer, headers } = await consume(body);
    const header = headers.get('PAYMENT-REQUIRED');
    if (!header) throw new Error(`no challenge: ${status} ${JSON.stringify(answer)}`);
    return header;
  };
  return {
    w,
    merchant,
    product,
    agent,
    customer,
    consume,
    challenge,
    pay: async (body: object = {}): Promise<string> => agent.pay(await challenge(body)),
    settle: (payment_signature: string, body: object = {}, options: WriteOptions = {}) =>
      write(w, merchant, 'x402/settle', { ...named, payment_signature, consume_units: 1, ...body }, options),
    grant: (body: object = {}, options: WriteOptions = {}) =>
      write(w, merchant, 'entitlements/grant', { ...named, customer, reason: 'a test', ...body }, options),
    refund: (consumption_id: string, options: WriteOptions = {}) =>
      write(w, merchant, 'entitlements/refund', { consumption_id, reason: 'a test' }, options),
    entitlement: async (who: object = customer): Promise<Body> => {
      const id = entitlementIdOf(merchant.userId, true, named.product_id, asCustomer(who));
      return (await w.call('GET', `/v1/access/entitlements/${id}`, { key: merchant.key })).body;
    },
    /** Counts the rows that payments of this product left behind. A payment replaces its settlement. */
    books: async () => {
      const count = async (sql: string) => (await w.env.DB.prepare(sql).bind(named.product_id).first<number>('n'))!;
      const of = (table: string, column: string) =>
        count(`SELECT count(*) AS n FROM ${table} WHERE ${column} IN
          (SELECT payment_id FROM settlements WHERE product_id = ?1 UNION SELECT id FROM payments WHERE product_id = ?1)`);
      return {
        settlements: await count('SELECT count(*) AS n FROM settlements WHERE product_id = ?'),
        claims: await of('tx_claims', 'subject_id'),
        payments: await count('SELECT count(*) AS n FROM payments WHERE product_id = ?'),
        receipts: await of('receipts', 'payment_id'),
        memberships: await count('SELECT count(*) AS n FROM memberships WHERE product_id = ?'),
      };
    },
  };
}

export const ONE = { settlements: 0, claims: 1, payments: 1, receipts: 1, memberships: 0 };

/** Restates the settlement of a payment, for tests that insert copies. */
export const restateSettlement = async (w: World, paymentId: string): Promise<Settlement> =>
  (await loadSettlement(newCtx(w.env, { requestId: 'req_restate', defer: () => {} }), paymentId as PaymentId))!.settlement;

const asCustomer = (who: { wallet_address?: string; customer_ref?: string }) =>
  who.wallet_address === undefined ? { customerRef: who.customer_ref } : { walletAddress: who.wallet_address };

/** True if a resource server may serve for this answer: a success that is no replay and not another request's. */
export const mayServe = ({ status, headers }: Answer<Body>): boolean =>
  status === 200 && !headers.has('Idempotent-Replayed') && !headers.has('X-Svc-Duplicate-Settlement');

/** Expected answer of any other request with the same payment, with nothing left. */
export function asDuplicate({ payment_response, ...body }: Body, remaining = body.remaining): Body {
  const { extensions: _, ...plain } = decoded(payment_response);
  const unproven = base64.encode(utf8(JSON.stringify(plain)));
  return { ...body, duplicate: true, granted_units: 0, consumed_units: 0, remaining, payment_response: unproven };
}

export const withConfig = (w: World, config: Record<string, string>): Env => ({ ...w.env, ...config });

export interface ObjectCall {
  binding: 'ADMISSION' | 'ENTITLEMENT' | 'METERED_SESSION';
  verb: string;
  number: number;
}

/** Decides if the wire is cut at a call. An action of the test, such as a rival call, is awaited first. */
type ObjectCut = (call: ObjectCall) => boolean | Promise<boolean>;

/** Real objects behind a wire that counts calls and can be cut before or after them. */
export function withObjectFaults(env: Env, faults: { before?: ObjectCut; after?: ObjectCut } = {}): { env: Env; calls: ObjectCall[] } {
  const calls: ObjectCall[] = [];
  const cut = () => Object.assign(new Error('Network connection lost.'), { retryable: true });
  const wrap = (binding: ObjectCall['binding']) => ({
    getByName: (name: string) => {
      const stub = env[binding].getByName(name) as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
      const travel =
        (verb: string) =>
        async (...args: unknown[]) => {
          const call = { binding, verb, number: calls.length + 1 };
          calls.push(call);
          if (await faults.before?.(call)) throw cut();
          const answer = await stub[verb]!(...args);
          if (await faults.after?.(call)) throw cut();
          return answer;
        };
      return new Proxy({}, { get: (_, verb) => travel(String(verb)) });
    },
  });
  const objects = { ADMISSION: wrap('ADMISSION'), ENTITLEMENT: wrap('ENTITLEMENT'), METERED_SESSION: wrap('METERED_SESSION') };
  return { env: { ...env, ...objects } as unknown as Env, calls };
}

/** Expires the leases of requests with a dead holder. */
export const letLeasesEnd = (w: World): Promise<unknown> =>
  w.env.DB.prepare('UPDATE claims SET lease_until = 0 WHERE status IS NULL').run();

/** Ages doubts by half a minute, the delay after the chain was first read without a payment that can no longer land. */
export const letDoubtsAge = (w: World): Promise<unknown> =>
  w.env.DB.prepare("UPDATE settlements SET doubted_at = doubted_at - 31000 WHERE status = 'pending'").run();

export async function sweepAll(w: World): Promise<void> {
  await w.env.DB.prepare("UPDATE settlements SET next_check_at = 0 WHERE status <> 'settled' AND next_check_at IS NOT NULL").run();
  await w.sweepAlone('settlements');
}

export const decoded = (header: string): Body => JSON.parse(new TextDecoder().decode(base64.decode(header)));
