import { runDurableObjectAlarm } from 'cloudflare:test';
import { ed25519 } from '@noble/curves/ed25519.js';
import { base58, base64url, canonicalJson, utf8 } from '#core/encoding.ts';
import { CHANNEL_PROGRAMS, type ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { encodeVoucher } from '#solana/programs/payment-channels/vouchers.ts';
import { newKey, write } from '../people/agent.ts';
import { testEnv } from '../runner/env.ts';
import { pause } from '../runner/queues.ts';
import type { Answer, Merchant, World } from '../world.ts';
import { joinQueues } from './entitlement.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

/** Buyer of a metered session as the public clients behave: a session key that signs vouchers, and a channel address. */
export class ChannelBuyer {
  readonly #seed = crypto.getRandomValues(new Uint8Array(32));
  readonly authorizedSigner = base58.encode(ed25519.getPublicKey(this.#seed));
  channelId = base58.encode(ed25519.getPublicKey(crypto.getRandomValues(new Uint8Array(32))));

  voucher(
    cumulative: bigint,
    { program = CHANNEL_PROGRAMS.older, expiresAt = 4_102_444_800, channelId = this.channelId }: VoucherOptions = {},
  ) {
    const said = { channelId: channelId as never, cumulativeAmount: cumulative, expiresAt: BigInt(expiresAt) };
    const signature = base58.encode(ed25519.sign(encodeVoucher(program, said), this.#seed));
    return { data: { channelId, cumulativeAmount: cumulative.toString(), expiresAt }, signature };
  }

  /** Payload of `createEphemeralSessionOpener`, with a channel that does not exist. */
  ephemeralOpen(deposit: string) {
    const signature = base58.encode(crypto.getRandomValues(new Uint8Array(64)));
    return { action: 'open', authorizedSigner: this.authorizedSigner, channelId: this.channelId, deposit, mode: 'push', signature };
  }
}

interface VoucherOptions {
  program?: ChannelProgram;
  expiresAt?: number;
  channelId?: string;
}

export function challengeIn(header: string): Record<string, string> {
  return Object.fromEntries([...header.replace(/^Payment /, '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name!, value!]));
}

export const credential = (header: string, payload: object): string =>
  `Payment ${base64url.encode(utf8(canonicalJson({ challenge: challengeIn(header), payload })))}`;

export const decoded = (text: string): Body => JSON.parse(new TextDecoder().decode(base64url.decode(text)));

export async function projectSession(w: World, sessionId: string): Promise<void> {
  const stub = testEnv.METERED_SESSION.getByName(sessionId);
  await joinQueues(w, stub);
  await runDurableObjectAlarm(stub);
  await w.deliver();
}

const PROJECTION_MS = 30_000;

/** Waits for the alarm of a sandbox session's object, which notifies the database. The test does not ring the alarm. */
export async function waitForProjection(w: World, sessionId: string): Promise<void> {
  await joinQueues(w, testEnv.METERED_SESSION.getByName(sessionId));
  const isSent = () =>
    w.queue.sent.some(({ job }) => job.kind === 'projectMeteredSession' && job.projection.snapshot.sessionId === sessionId);
  for (const endsAt = Date.now() + PROJECTION_MS; !isSent(); await pause(50))
    if (Date.now() > endsAt) throw new Error(`session ${sessionId} never notified the database`);
  await w.deliver();
}

interface OpenOptions {
  cap?: string;
  body?: object;
  isOpen?: boolean;
  merchant?: Merchant;
}

export class MeteredShop {
  readonly buyer = new ChannelBuyer();
  readonly w: World;
  readonly merchant: Merchant;
  readonly session: Body;
  readonly key: string;

  constructor(w: World, merchant: Merchant, session: Body, key: string) {
    this.w = w;
    this.merchant = merchant;
    this.session = session;
    this.key = key;
  }

  static async open(w: World, { cap = '1', body = {}, isOpen = true, merchant: seller }: OpenOptions = {}) {
    const merchant = seller ?? (await w.merchant());
    const key = merchant.sandboxKey;
    const { body: product } = await w.call('POST', '/v1/products', {
      key,
      headers: { 'Idempotency-Key': newKey() },
      body: { name: 'Text by the piece', price: { asset: 'USDC', amount: '1' } },
    });
    const request = { product_id: product.product_id, cap: { asset: 'USDC', amount: cap }, ...body };
    const made = await write(w, merchant, 'metered-sessions', request, { key });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    const shop = new MeteredShop(w, merchant, made.body, key);
    if (isOpen) await shop.authorize(shop.buyer.ephemeralOpen('1000000'));
    return shop;
  }

  get path(): string {
    return `/v1/access/metered-sessions/${this.session.session_id}`;
  }

  authorize(payload: object | null, header: string = this.session.challenge.header, env = this.w.env): Promise<Answer<Body>> {
    const headers: Record<string, string> = payload === null ? {} : { Authorization: credential(header, payload) };
    return this.w.call('POST', `${this.path}/authorize`, { headers, env });
  }

  deliver(body: object, { key = this.key, idempotencyKey = newKey() } = {}): Promise<Answer<Body>> {
    return this.w.call('POST', `${this.path}/deliveries`, { key, body, headers: { 'Idempotency-Key': idempotencyKey } });
  }

  announce(amount: string, deliveryId = `mpp-${newKey()}`): Promise<Answer<Body>> {
    const body = { amount, deliveryId, sessionId: this.buyer.channelId, commitUrl: 'https://resource.example.com/text' };
    return this.w.call('POST', '/__402/session/deliveries', { body });
  }

  commit(body: object, headers: Record<string, string> = {}): Promise<Answer<Body>> {
    return this.w.call('POST', `${this.path}/commits`, { body, headers });
  }

  close(): Promise<Answer<Body>> {
    return this.w.call('POST', `${this.path}/close`, { key: this.key, headers: { 'Idempotency-Key': newKey() } });
  }

  async read(): Promise<Body> {
    return (await this.w.call('GET', this.path, { key: this.key })).body;
  }
}
