import { expect } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { dumpTable, listTables } from '../fixtures/database-dump.ts';
import { testEnv } from '../runner/env.ts';
import { type Body, type Merchant, World } from '../world.ts';
import { newKey } from './agent.ts';
import { watchCopy } from './entitlement-copy.ts';

/** Lets the times pass that an erasure waits for. */
const skipWaits = () =>
  testEnv.DB.prepare(
    "UPDATE customers SET erase_at = 0, erasure = json_set(erasure, '$.takenAt', 0, '$.callsEndAt', 0) WHERE erase_at IS NOT NULL",
  ).run();

/** Expires unpaid checkouts that have ended. */
async function endCheckouts(w: World): Promise<void> {
  await testEnv.DB.prepare("UPDATE payments SET expires_at = 0 WHERE status = 'PENDING_SIGNATURE' AND expires_at <= ?")
    .bind(Date.now())
    .run();
  await w.sweepAlone('expired');
}

export const erasuresLeft = async (): Promise<number> =>
  (await testEnv.DB.prepare('SELECT count(*) AS n FROM customers WHERE erase_at IS NOT NULL').first<number>('n'))!;

/** Runs the sweep until every erasure has ended, or `runs` times. */
export async function completeErasures(w: World, env = w.env, runs = 10): Promise<void> {
  for (let run = 0; run < runs && (await erasuresLeft()) > 0; run++) {
    await skipWaits();
    await endCheckouts(w);
    await w.sweepAlone('erasedCustomers', env).catch(() => null);
    while (w.queue.sent.length > 0) await w.deliver();
  }
  if (runs > 1) expect(await erasuresLeft()).toBe(0);
}

/** Lists the tables and columns of the database that hold a text. */
export async function findWord(word: string): Promise<string[]> {
  const found: string[] = [];
  for (const table of await listTables(testEnv.DB))
    for (const row of await dumpTable(testEnv.DB, table))
      for (const [column, value] of Object.entries(row))
        if (typeof value === 'string' && value.toLowerCase().includes(word)) found.push(`${table}.${column}`);
  return [...new Set(found)].sort();
}

const ERASED_REF = /^erased:[0-9a-f]{8}$/;

/** Merchant with a product of 30 days, and the reference of a customer who is to be erased. */
export class ErasureCase {
  readonly ref = `planted${crypto.randomUUID().slice(0, 8)}-ref`;
  readonly copies: (() => Promise<void>)[] = [];
  readonly w: World;
  readonly ada: Merchant;
  readonly product: Body;

  private constructor(w: World, ada: Merchant, product: Body) {
    this.w = w;
    this.ada = ada;
    this.product = product;
  }

  static async open(terms: object = {}, w = new World()): Promise<ErasureCase> {
    const ada = await w.merchant();
    const opened = new ErasureCase(w, ada, await w.product(ada, { access_period_days: 30, ...terms }));
    await opened.watch({ customerRef: opened.ref });
    return opened;
  }

  async watch(customer: Parameters<typeof watchCopy>[3]): Promise<void> {
    this.copies.push(await watchCopy(this.w, this.ada, this.product.product_id, customer));
  }

  idOf(key: Parameters<typeof customerIdOf>[2] = { customerRef: this.ref }) {
    return customerIdOf(this.ada.userId, true, key);
  }

  async get(path: string): Promise<Body> {
    return (await this.w.call('GET', `/v1/${path}`, { key: this.ada.key })).body as Body;
  }

  post(path: string, body: object, key: string = this.ada.key) {
    return this.w.call('POST', `/v1/${path}`, { key, headers: { 'Idempotency-Key': newKey() }, body });
  }

  async erase(customerId: string = this.idOf()): Promise<void> {
    const { status, body } = await this.post(`customers/${customerId}/erase`, { end_access: true }, this.ada.token);
    expect([status, body.access]).toEqual([202, { active: 0, lapsed: 0 }]);
  }

  /** Delivers all messages, and stores the copies of entitlements and the customers. */
  async settle(): Promise<void> {
    for (let round = 0; round < 4; round++) {
      while (this.w.queue.sent.length > 0) await this.w.deliver();
      for (const storeCopy of this.copies) await storeCopy();
    }
    await this.w.sweepAlone('analytics');
  }

  async buy(input: object = { customer_ref: this.ref }, wallet = this.w.chain.wallet()) {
    const sale = await this.w.purchase(this.product, await wallet, { ...input });
    expect(sale.confirmed.payment.status).toBe('CONFIRMED');
    return sale;
  }

  /** Buys by a wallet of which the copy is watched. */
  async buyByWallet(input: object = {}) {
    const wallet = await this.w.chain.wallet();
    await this.watch({ walletAddress: wallet.address });
    const sale = await this.buy(input, Promise.resolve(wallet));
    await this.settle();
    return { wallet, sale, customer: { wallet_address: wallet.address as string }, id: this.idOf({ walletAddress: wallet.address }) };
  }

  async consumes(customer: object = { customer_ref: this.ref }): Promise<boolean> {
    return (await this.post('access/entitlements/consume', { product_id: this.product.product_id, customer })).status === 200;
  }

  /** Merges a wallet that has bought into the reference. */
  async mergeWallet() {
    const bought = await this.buyByWallet();
    await this.buy();
    await this.settle();
    expect((await this.post(`customers/${this.idOf()}/merge`, { from: bought.id })).status).toBe(200);
    await this.settle();
    return bought;
  }

  /** Payments and memberships of the merchant by reference, or `erased`. */
  async listed(): Promise<{ payments: string[]; memberships: string[] }> {
    const nameOf = (ref: string): string => (ERASED_REF.test(ref) ? 'erased' : ref);
    const [payments, memberships] = [await this.get('payments'), await this.get('memberships')];
    return {
      payments: payments.items.map(({ customer_ref }: Body) => nameOf(customer_ref)).sort(),
      memberships: memberships.items.map(({ status, customer }: Body) => `${status} ${nameOf(customer.customer_ref)}`).sort(),
    };
  }
}
