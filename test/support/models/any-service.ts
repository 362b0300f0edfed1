import { expect } from 'vitest';
import { base64url } from '#core/encoding.ts';
import { LiveShop } from '../chain/live-channel.ts';
import { callTesting, joinCustomer } from '../clients/sandbox.ts';
import { listTables, type Row } from '../fixtures/database-dump.ts';
import { archiveAll } from '../fixtures/old-books.ts';
import { feePayerOf, newKey, write } from '../people/agent.ts';
import { testEnv } from '../runner/env.ts';
import type { Merchant, World } from '../world.ts';
import type { AnyLife, Dice } from './subscription-model.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

const STEPS = ['sandboxPurchase', 'sandboxUse', 'sandboxStrangers', 'sandboxSession', 'archive', 'turn', 'meter', 'meter'] as const;
const SCENARIOS = ['payment_confirmed', 'payment_late', 'payment_underpaid', 'x402_settled', 'metered_session_full'];
const RINGS = [
  'FEE_PAYER_KEYS',
  'CHALLENGE_KEYS',
  'SEAL_KEYS',
  'FACTOR_KEYS',
  'RECEIPT_KEYS',
  'JWT_KEYS',
  'CHANNEL_KEYS',
  'EMAIL_LINK_KEYS',
];

/** Steps of the service between those of its customers: sandbox, archive, keys and a metered session. */
export class AnyService {
  readonly #w: World;
  readonly #merchant: Merchant;
  readonly #sold: { product_id: string; slug: string };
  readonly #lives: AnyLife[];
  readonly #dice: Dice;
  readonly #channel: LiveShop;
  #promised = 0n;
  readonly stepLog: string[] = [];

  constructor(w: World, merchant: Merchant, parts: { lives: AnyLife[]; sold: Body; channel: LiveShop }, dice: Dice) {
    this.#w = w;
    this.#merchant = merchant;
    this.#sold = parts.sold;
    this.#lives = parts.lives;
    this.#channel = parts.channel;
    this.#dice = dice;
  }

  static async open(w: World, merchant: Merchant, lives: AnyLife[], dice: Dice): Promise<AnyService> {
    const sold = await w.product({ ...merchant, key: merchant.sandboxKey }, { price: { asset: 'USDC', amount: '0.01' }, usage_units: 3 });
    const channel = await LiveShop.make(w, { body: { idle_timeout_seconds: 86_400 } });
    expect((await channel.authorize(await channel.pull())).status).toBe(200);
    await channel.project();
    return new AnyService(w, merchant, { lives, sold, channel }, dice);
  }

  async step(): Promise<void> {
    const step = STEPS[this.#dice(STEPS.length)]!;
    this.stepLog.push(step);
    if (!step.startsWith('sandbox')) return this[step]();
    const now = Date.now();
    const before = [await liveRows(), await this.#liveObjects(now)];
    await this[step]();
    expect([await liveRows(), await this.#liveObjects(now)], this.stepLog.join()).toEqual(before);
  }

  #liveObjects = (now: number): Promise<unknown[]> =>
    Promise.all([
      testEnv.METERED_SESSION.getByName(this.#channel.session.session_id).read({ now }),
      testEnv.METERED_SESSION.getByName(`channel:live:${this.#channel.buyer.channelId}`).findSession(),
      ...this.#lives.map((life) => life.object.read({ now })),
    ]);

  #test = (path: string, body: object) => callTesting(this.#w, this.#merchant, 'POST', path, body);

  async sandboxPurchase(): Promise<Body> {
    const bill = await this.#w.connect(this.#sold, { customer_ref: 'a-tester' });
    const paid = await this.#test('pay', { payment_id: bill.payment_id });
    const { body } = await this.#w.confirm(bill.payment_id, paid.body.tx_signature);
    return body.payment;
  }

  async sandboxUse(): Promise<void> {
    const [w, key, product_id] = [this.#w, this.#merchant.sandboxKey, this.#sold.product_id];
    const sold = { product_id, customer: { customer_ref: 'a-testing-agent' } };
    const refused = await write(w, this.#merchant, 'entitlements/consume', { ...sold, units: 4 }, { key });
    const paid = await this.#test('pay', { payment_required: refused.headers.get('PAYMENT-REQUIRED') });
    await write(w, this.#merchant, 'x402/settle', { ...sold, payment_signature: paid.body.payment_signature, consume_units: 1 }, { key });
  }

  /** Checks that the sandbox refuses every name of a live row, or finds nothing. */
  async sandboxStrangers(): Promise<void> {
    const [w, key] = [this.#w, this.#merchant.sandboxKey];
    const paid = this.#lives.flatMap((life) => life.paid);
    const live = paid[this.#dice(Math.max(1, paid.length))];
    if (!live) return;
    const own = await this.sandboxPurchase();
    const headers = { 'Idempotency-Key': newKey() };
    const refused = [
      await this.#test('pay', { payment_id: live.paymentId }),
      await w.call('POST', `/v1/payments/${live.paymentId}/refund-transaction`, { key }),
      await w.call('POST', `/v1/payments/${live.paymentId}/refund-confirm`, { key, body: { tx_signature: live.signature } }),
      await w.call('POST', `/v1/access/metered-sessions/${this.#channel.session.session_id}/close`, { key, headers }),
    ];
    for (const { status, body } of refused) expect(status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
    const asRefund = { key, body: { tx_signature: live.signature } };
    const { body } = await w.call('POST', `/v1/payments/${own.payment_id}/refund-confirm`, asRefund);
    expect(body.refunded).toBeUndefined();
    await w.confirm(own.payment_id, live.signature);
  }

  async sandboxSession(): Promise<void> {
    const { status, body } = await this.#test('sessions', { scenario: SCENARIOS[this.#dice(SCENARIOS.length)]! });
    if (status === 201) await joinCustomer(this.#w, this.#merchant, body.session_id);
  }

  archive = (): Promise<unknown> => archiveAll(this.#w);

  /** Adds a key in front of a ring. Open rows name the one behind. */
  async turn(): Promise<void> {
    const name = RINGS[this.#dice(RINGS.length)]!;
    const fresh = base64url.encode(crypto.getRandomValues(new Uint8Array(32)));
    Object.assign(this.#w, { env: { ...this.#w.env, [name]: `${fresh},${this.#w.env[name]}` } });
    this.stepLog.push(name);
    if (name === 'FEE_PAYER_KEYS') await this.#w.chain.call('local_fundSol', feePayerOf(this.#w), '1000000000');
  }

  /** Announces and pays a delivery. One in four times the session is closed instead and sells nothing afterwards. */
  async meter(): Promise<void> {
    if (this.#dice(4) === 0) return void (await this.#channel.close());
    const amount = BigInt(1 + this.#dice(1000));
    const { status } = await this.#channel.use(amount, this.#promised + amount);
    if (status === 200) this.#promised += amount;
  }

  ring = (): Promise<void> => this.#channel.watch();

  close = (): Promise<Body> => this.#channel.close();

  /** Checks that the amount promised by the channel's buyer moved once, is recorded once and has a receipt, and nothing else moved. */
  async expectTruth(): Promise<void> {
    const stepLog = this.stepLog.join();
    const { merchant, session, wallet } = this.#channel;
    const { status, settled } = await this.#channel.read();
    expect([status, settled.base_units], stepLog).toEqual(['closed', `${this.#promised}`]);
    expect(await this.#w.chain.held(wallet.address), stepLog).toBe(5_000_000n - this.#promised);
    expect(await this.#w.chain.held(merchant.wallet.address), stepLog).toBe(1n + this.#promised);
    const { body } = await this.#w.call('GET', `/v1/payments?product_id=${session.product_id}&per_page=100`, { key: merchant.key });
    const booked = body.items.map(({ price }: Body) => BigInt(price.base_units));
    expect(
      booked.reduce((sum: bigint, units: bigint) => sum + units, 0n),
      stepLog,
    ).toBe(this.#promised);
    for (const { receipt_id } of body.items)
      expect((await this.#w.call('GET', `/v1/receipt/${receipt_id}/verify`)).body, stepLog).toMatchObject({ valid: true });
  }
}

async function liveRows(): Promise<Map<string, Row[]>> {
  const tables: string[] = [];
  for (const table of await listTables(testEnv.DB)) if (await hasMode(table)) tables.push(table);
  const read = await testEnv.DB.batch<Row>(tables.map((table) => testEnv.DB.prepare(`SELECT * FROM ${table} WHERE livemode = 1`)));
  return new Map(tables.map((table, index) => [table, read[index]!.results]));
}

const modes = new Map<string, boolean>();
async function hasMode(table: string): Promise<boolean> {
  const known = modes.get(table);
  if (known !== undefined) return known;
  const sql = `SELECT 1 AS found FROM pragma_table_info('${table}') WHERE name = 'livemode'`;
  const found = (await testEnv.DB.prepare(sql).first('found')) !== null;
  modes.set(table, found);
  return found;
}
