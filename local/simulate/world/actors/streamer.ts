import type { Product, Shop, Stream } from '../../book/history.ts';
import type { Answer, Body } from '../../book/host.ts';
import { Channel, type Generation, signVoucher } from '../outside/channels.ts';
import { Wallet } from '../outside/wallet.ts';
import { Actor } from './actor.ts';
import { newWallet } from './open-shop.ts';

const DOLLARS = 20n;
const CAP = 1_000_000n;
const CAP_TEXT = '1';
/** Base units of one use. */
const USE_MAX = 60_000;
const IDLE_SECONDS = [60, 200] as const;
const DEPOSITS = [CAP / 8n, CAP / 2n, CAP] as const;
/** Ends of vouchers: never, and just far enough ahead to be accepted. */
const VOUCHER_SECONDS = [null, 1_700, 5_000] as const;

interface Opened extends Stream {
  generation: Generation;
  signer: Wallet;
  channel: Channel | null;
  /** Challenge that the opening answered. Null until the session is open. */
  header: string;
  isOpen: boolean;
  commits: Body[];
}

const STREAM_STATES = ['closing', 'closed', 'expired', 'failed'];

/** Buyer of metered sessions, live and in the sandbox, and the merchant's server that reserves and closes. */
export class Streamer extends Actor {
  #wallet: Wallet | null = null;
  readonly #streams: Opened[] = [];

  readonly verbs = [
    this.open,
    this.open,
    this.use,
    this.use,
    this.use,
    this.use,
    this.useTogether,
    this.payWithoutDelivery,
    this.payBelow,
    this.commitAgain,
    this.overdraw,
    this.topUp,
    this.closeAsMerchant,
    this.closeAsBuyer,
    this.exit,
  ];

  get #payer(): Wallet {
    this.#wallet ??= newWallet(this, this.world.chain, DOLLARS);
    return this.#wallet;
  }

  async open(): Promise<void> {
    const { shop } = this.anyMerchant();
    const product = this.anyProduct(shop, this.dice.chance(0.6), 'time');
    if (product === null) return;
    const generation = this.dice.oneOf(['older', 'current'] as const);
    const made = await this.#create(shop, product, generation);
    if (made?.status !== 201) return this.note(`no metered session: ${made?.status} ${made?.body?.code}`);
    const { session_id: sessionId, challenge } = made.body;
    const signer = new Wallet(this.dice.bytes(32));
    const [deposit, mode] = [this.dice.oneOf(DEPOSITS), this.dice.oneOf(['pull', 'push'] as const)];
    const choice = { payer: this.#payer, signer, generation, deposit, mode, salt: BigInt(this.dice.below(2 ** 30)) };
    const channel = product.livemode ? new Channel(choice, challenge.request) : null;
    const channelId = channel?.id ?? new Wallet(this.dice.bytes(32)).address;
    const known = { shop, product, livemode: product.livemode, sessionId, channelId, deposit, signed: 0n, acknowledged: 0n };
    const stream: Opened = { ...known, generation, signer, channel, header: challenge.header, isOpen: false, commits: [] };
    this.#streams.push(stream);
    this.history.streams.push(stream);
    const pushed = channel !== null && mode === 'push' ? this.world.chain.send(channel.signOpening()) : null;
    if (mode === 'push' && channel !== null && pushed === null) return this.note(`the chain refused the channel of ${sessionId}`);
    const action = channel?.openAction(pushed) ?? {
      ...{ action: 'open', channelId, authorizedSigner: signer.address, mode: 'push' },
      ...{ deposit: `${deposit}`, signature: '1'.repeat(64) },
    };
    for (let times = this.dice.chance(0.2) ? 2 : 1; times > 0; times--) await this.#authorize(stream, action, 'opened');
  }

  #create(shop: Shop, product: Product, generation: Generation): Promise<Answer | null> {
    const body = {
      product_id: product.productId,
      cap: { asset: 'USDC', amount: CAP_TEXT },
      idle_timeout_seconds: this.dice.oneOf(IDLE_SECONDS),
      channel_program: PROGRAMS[generation],
    };
    return this.persist('POST', '/v1/access/metered-sessions', { key: keyOf(shop, product.livemode), body });
  }

  /** Sends a credential that answers a challenge. Without an own challenge, a fresh one is asked for first. */
  async #authorize(stream: Opened, action: object, words: string, isFresh = false): Promise<Answer | null> {
    const path = `/v1/access/metered-sessions/${stream.sessionId}/authorize`;
    const asked = isFresh ? await this.persist('POST', path) : null;
    if (isFresh && asked?.status !== 402) return asked;
    const header = asked?.headers.get('WWW-Authenticate') ?? stream.header;
    const answer = await this.persist('POST', path, { headers: { Authorization: credentialOf(header, action) } });
    const { status, body } = answer ?? { status: 0, body: null };
    this.note(`${words} ${stream.sessionId}: ${status} ${body?.status ?? body?.meta?.reason ?? body?.code}`);
    if (status === 200) this.#accept(stream, body);
    return answer;
  }

  #accept(stream: Opened, body: Body): void {
    stream.isOpen ||= body.status === 'open';
    const { cumulative } = body;
    const units = BigInt(typeof cumulative === 'object' ? cumulative.base_units : cumulative);
    if (units > stream.signed) this.history.find(`session ${stream.sessionId} has ${units}, the buyer signed ${stream.signed}`);
    if (units > stream.acknowledged) stream.acknowledged = units;
  }

  /** The merchant's server reserves, the buyer pays. */
  async use(): Promise<void> {
    const stream = this.#anyOpen();
    if (stream === null) return;
    const units = BigInt(1 + this.dice.below(USE_MAX));
    const state = await this.#read(stream);
    const directive = state && (await this.#reserve(stream, units));
    if (directive) await this.#commit(stream, directive.deliveryId, BigInt(state.cumulative.base_units) + units);
    if (this.dice.chance(0.2)) await this.payBelow(stream);
  }

  /** Two deliveries are paid at once, so that one voucher overtakes the other. */
  async useTogether(): Promise<void> {
    const stream = this.#anyOpen();
    const state = stream && (await this.#read(stream));
    if (!state) return;
    const units = BigInt(1 + this.dice.below(USE_MAX));
    const before = BigInt(state.cumulative.base_units);
    const directives = [await this.#reserve(stream, units), await this.#reserve(stream, units)];
    await Promise.all(directives.map((one, n) => one && this.#commit(stream, one.deliveryId, before + units * BigInt(n + 1))));
  }

  /** Signs a voucher below the last one, which owes nothing new. The session must not fall back to it. */
  async payBelow(stream: Opened | null = this.#anyOpen()): Promise<void> {
    if (!stream || stream.acknowledged < 2n) return;
    const cumulative = stream.acknowledged - 1n - BigInt(this.dice.below(Number(stream.acknowledged) - 1));
    await this.#authorize(stream, { action: 'voucher', voucher: this.#sign(stream, cumulative) }, 'paid below the last', true);
  }

  async payWithoutDelivery(): Promise<void> {
    const stream = this.#anyOpen();
    const state = stream && (await this.#read(stream));
    if (!state) return;
    const cumulative = BigInt(state.cumulative.base_units) + BigInt(1 + this.dice.below(USE_MAX));
    await this.#authorize(stream, { action: 'voucher', voucher: this.#sign(stream, cumulative) }, 'paid', true);
  }

  async commitAgain(): Promise<void> {
    const stream = this.#anyOpen();
    if (stream === null || stream.commits.length === 0) return;
    const before = stream.acknowledged;
    const answer = await this.#send(stream, this.dice.oneOf(stream.commits));
    if (answer?.status === 200 && stream.acknowledged !== before) this.history.find(`a repeated voucher of ${stream.sessionId} paid again`);
  }

  /** Signs more than the deposit, which must be refused. */
  async overdraw(): Promise<void> {
    const stream = this.#anyOpen();
    const state = stream && (await this.#read(stream));
    if (!state) return;
    const cumulative = BigInt(state.deposit.base_units) + 1n;
    const { signed } = stream;
    const answer = await this.#authorize(stream, { action: 'voucher', voucher: this.#sign(stream, cumulative) }, 'overdrew', true);
    if (answer?.status === 200) this.history.find(`session ${stream.sessionId} accepted ${cumulative} above its deposit`);
    else stream.signed = signed;
  }

  async #reserve(stream: Opened, units: bigint): Promise<Body | null> {
    const amount = { asset: 'USDC', amount: decimalOf(units) };
    const path = `/v1/access/metered-sessions/${stream.sessionId}/deliveries`;
    const answer = await this.persist('POST', path, { key: keyOf(stream.shop, stream.livemode), body: { amount } });
    this.note(`reserved ${units} of ${stream.sessionId}: ${answer?.status} ${answer?.body?.meta?.reason ?? ''}`);
    return answer?.status === 201 ? answer.body : null;
  }

  async #commit(stream: Opened, deliveryId: string, cumulative: bigint): Promise<void> {
    const body = { deliveryId, voucher: this.#sign(stream, cumulative) };
    const answer = await this.#send(stream, body);
    if (answer?.status === 200) stream.commits.push(body);
  }

  async #send(stream: Opened, body: Body): Promise<Answer | null> {
    const answer = await this.persist('POST', `/v1/access/metered-sessions/${stream.sessionId}/commits`, { body });
    this.note(`committed to ${stream.sessionId}: ${answer?.status} ${answer?.body?.status ?? answer?.body?.meta?.reason}`);
    if (answer?.status === 200) this.#accept(stream, answer.body);
    return answer;
  }

  #sign(stream: Opened, cumulative: bigint): object {
    const seconds = this.dice.oneOf(VOUCHER_SECONDS);
    const expiresAt = seconds === null ? 0 : Math.floor(this.host.now() / 1000) + seconds;
    if (cumulative > stream.signed) stream.signed = cumulative;
    return signVoucher(stream.signer, stream.generation, stream.channelId, cumulative, expiresAt);
  }

  async topUp(): Promise<void> {
    const stream = this.#anyOpen();
    const state = stream && (await this.#read(stream));
    if (!state) return;
    const more = BigInt(1 + this.dice.below(1000));
    const newDeposit = BigInt(state.deposit.base_units) + more;
    if (newDeposit > CAP) return;
    const sent = stream.channel ? this.world.chain.act(this.#payer, [stream.channel.topUp(more)]) : '1'.repeat(64);
    if (sent === null) return;
    stream.deposit = newDeposit;
    const action = { action: 'topUp', channelId: stream.channelId, newDeposit: `${newDeposit}`, signature: sent };
    await this.#authorize(stream, action, `topped up by ${more}`, true);
  }

  async closeAsMerchant(): Promise<void> {
    const stream = this.#anyOpen();
    if (stream === null) return;
    const path = `/v1/access/metered-sessions/${stream.sessionId}/close`;
    const answer = await this.persist('POST', path, { key: keyOf(stream.shop, stream.livemode) });
    this.note(`the merchant closed ${stream.sessionId}: ${answer?.status} ${answer?.body?.status ?? answer?.body?.code}`);
  }

  async closeAsBuyer(): Promise<void> {
    const stream = this.#anyOpen();
    const state = stream && (await this.#read(stream));
    if (!state) return;
    const voucher = this.#sign(stream, BigInt(state.cumulative.base_units));
    await this.#authorize(stream, { action: 'close', channelId: stream.channelId, voucher }, 'the buyer closed', true);
  }

  /** The payer asks the chain for the deposit, so that the merchant must settle within the grace period. */
  async exit(): Promise<void> {
    const stream = this.#anyOpen();
    if (!stream?.channel || this.dice.chance(0.5)) return;
    const signature = this.world.chain.act(this.#payer, [stream.channel.requestClose()]);
    this.note(`the payer asked the chain to close ${stream.sessionId}: ${signature}`);
  }

  async #read(stream: Opened): Promise<Body | null> {
    const answer = await this.read(`/v1/access/metered-sessions/${stream.sessionId}`, keyOf(stream.shop, stream.livemode));
    if (answer?.status !== 200) return null;
    if (STREAM_STATES.includes(answer.body.status)) stream.isOpen = false;
    return answer.body;
  }

  #anyOpen(): Opened | null {
    const open = this.#streams.filter(({ isOpen }) => isOpen);
    return open.length === 0 ? null : this.dice.oneOf(open.slice(-3));
  }
}

const PROGRAMS = {
  older: 'GuoKrzaBiZnW5DvJ3yZVE7xHqbcBvaX9SH6P6Cn9gNvc',
  current: 'CHNLxYvVA28MJP9PrFuDXccuoGXAx7jBacfLEkahyGsX',
} as const;

const keyOf = ({ liveKey, sandboxKey }: Shop, livemode: boolean): string => (livemode ? liveKey : sandboxKey);

const decimalOf = (units: bigint): string => `${units / CAP}.${(units % CAP).toString().padStart(6, '0')}`.replace(/\.?0+$/, '');

/** Answers a challenge of scheme `Payment`. */
function credentialOf(header: string, payload: object): string {
  const challenge = Object.fromEntries([...header.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
  return `Payment ${Buffer.from(JSON.stringify({ challenge, payload })).toString('base64url')}`;
}
