import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test';
import { expect } from 'vitest';
import { entitlementIdOf } from '#core/ids.ts';
import type { Env } from '#platform/context.ts';
import { type EntitlementKey, snapshotOf } from '#rules/balance.ts';
import { PAID_PLANS, type PaidPlan } from '#rules/plans.ts';
import type { TestChain } from '../chain/chain.ts';
import { joinQueues } from '../clients/entitlement.ts';
import { withFaults } from '../faults/faults.ts';
import { buy, payFor, paymentResponse } from '../people/activation.ts';
import { type Agent, letLeasesEnd, newKey, type Shop, withObjectFaults } from '../people/agent.ts';
import { testEnv } from '../runner/env.ts';
import type { Answer, Merchant, World } from '../world.ts';
import { type Happened, play } from './history.ts';

// biome-ignore lint/suspicious/noExplicitAny: call() has already checked answers against the document.
type Body = any;

export const BOUGHT = { units: 3, days: 10 };

export type Dice = (below: number) => number;

interface Paid {
  paymentId: string;
  signature: string;
  /** True if the transaction is on the chain. A dropped one that was never seen does not return. */
  isThere: boolean;
}

interface Use {
  consumptionId: string;
  units: number;
  isCounted: boolean;
}

/** Ignores a lost connection of work after the answer. */
export function lostOnTheWay(error: Error): null {
  if (error.message === 'Network connection lost.') return null;
  throw error;
}

const STEPS = [
  ...(['checkout', 'checkout', 'checkout', 'x402', 'x402', 'plan', 'grant', 'consume', 'consume', 'refund'] as const),
  ...(['orphan', 'orphan', 'return', 'return', 'return'] as const),
];

/**
 * Customer of one product who also buys plans for an account, and a record of what happened: payments by the chain, everything else by the
 * answers.
 */
export class AnyLife {
  readonly #w: World;
  readonly shop: Shop;
  readonly #node: TestChain;
  readonly account: Merchant;
  readonly #spender: Agent;
  readonly #dice: Dice;
  readonly paid: Paid[] = [];
  readonly plans: (Paid & { plan: PaidPlan })[] = [];
  readonly #happened: Happened[] = [];
  readonly #uses: Use[] = [];
  /** Index of each payment in the entitlement object's record. */
  readonly credited = new Map<string, number>();
  readonly revoked = new Set<number>();
  #additions = 0;
  readonly stepLog: string[] = [];

  constructor(w: World, people: { shop: Shop; node: TestChain; account: Merchant; spender: Agent }, dice: Dice) {
    this.#w = w;
    this.shop = people.shop;
    this.#node = people.node;
    this.account = people.account;
    this.#spender = people.spender;
    this.#dice = dice;
  }

  /** Runs the object's alarm, if one is set. Its jobs join the queue, also after an unexpected eviction. */
  async ring(): Promise<void> {
    await joinQueues(this.#w, this.object);
    await runDurableObjectAlarm(this.object);
  }

  async step(): Promise<void> {
    const step = STEPS[this.#dice(STEPS.length)]!;
    this.stepLog.push(step);
    await this[step]();
    await this.observe();
  }

  /** Pays in the hosted checkout. One in four buyers never reports the payment and leaves the rest to the sweeps. */
  async checkout(): Promise<void> {
    const { agent, product } = this.shop;
    const bill = await this.#until(
      ({ status }) => status === 200,
      (env) => this.#w.call('POST', `/v1/products/p/${product.slug}/connect`, { body: { wallet_address: agent.wallet.address }, env }),
    );
    const signature = await this.#node.pay(agent.wallet, bill.body);
    const { payment_id: paymentId } = bill.body;
    this.paid.push({ paymentId, signature, isThere: true });
    if (this.#dice(4) === 0) return;
    await this.#until(
      ({ body }) => body.payment?.status === 'CONFIRMED',
      (env) => this.#w.confirm(paymentId, signature, { env }),
    );
  }

  async x402(): Promise<void> {
    const { remaining = 0 } = await this.shop.entitlement();
    const refused = await this.#until(
      ({ headers }) => headers.has('PAYMENT-REQUIRED'),
      (env) => this.shop.consume({ units: remaining + 1 }, { env }),
    );
    const payment = await this.shop.agent.pay(refused.headers.get('PAYMENT-REQUIRED')!);
    const idempotencyKey = newKey();
    const units = 1 + this.#dice(BOUGHT.units);
    const { body } = await this.#until(
      ({ status }) => status === 200,
      (env) => this.shop.settle(payment, { consume_units: units }, { idempotencyKey, env }),
    );
    this.paid.push({ paymentId: body.payment_id, signature: body.tx_signature, isThere: true });
    await this.#notice();
    this.#used(body.consumption_id, units, body.remaining !== null);
  }

  async plan(): Promise<void> {
    const plan = PAID_PLANS[this.#dice(PAID_PLANS.length)]!;
    const { key } = this.account;
    const offered = await buy(this.#w, plan, { key });
    // A plan below the current one is not for sale.
    if (offered.status !== 402) return;
    const payment = await payFor(this.#w, this.#spender, plan, { key });
    const bought = await this.#until(
      ({ status }) => status === 200,
      (env) => buy(this.#w, plan, { key }, payment, { env }),
    );
    const { transaction: signature } = paymentResponse(bought);
    const row = await testEnv.DB.prepare('SELECT payment_id FROM settlements WHERE tx_signature = ?')
      .bind(signature)
      .first<{ payment_id: string }>();
    this.plans.push({ paymentId: row!.payment_id, signature, isThere: true, plan });
  }

  async grant(): Promise<void> {
    const idempotencyKey = newKey();
    const units = 1 + this.#dice(3);
    await this.#until(
      ({ status }) => status === 200,
      (env) => this.shop.grant({ units }, { idempotencyKey, env }),
    );
    this.#happened.push({ verb: 'add', id: this.#additions++, addition: { units }, at: Date.now() });
  }

  async consume(): Promise<void> {
    const idempotencyKey = newKey();
    const units = 1 + this.#dice(3);
    const { status, body } = await this.#until(
      ({ status }) => status === 200 || status === 403,
      (env) => this.shop.consume({ units }, { idempotencyKey, env }),
    );
    if (status === 200) this.#used(body.consumption_id, units, body.remaining !== null);
  }

  async refund(): Promise<void> {
    if (this.#uses.length === 0) return;
    const [{ consumptionId, ...use }] = this.#uses.splice(this.#dice(this.#uses.length), 1) as [Use];
    const idempotencyKey = newKey();
    await this.#until(
      ({ status }) => status === 200,
      (env) => this.shop.refund(consumptionId, { idempotencyKey, env }),
    );
    this.#happened.push({ verb: 'refund', ...use, at: Date.now() });
  }

  /** Drops a transaction from the chain: often a confirmed one, sometimes one that was never seen. */
  async orphan(): Promise<void> {
    const final = await this.#claimed('final_at IS NOT NULL');
    const open = [...this.paid, ...this.plans].filter(({ isThere, signature }) => isThere && !final.has(signature));
    const one = open[this.#dice(open.length)];
    if (!one) return;
    one.isThere = false;
    await this.#w.chain.fault({ kind: 'vanish', signature: one.signature, times: 0 });
  }

  async return(): Promise<void> {
    const dropped = await this.#claimed('dropped_at IS NOT NULL');
    const gone = [...this.paid, ...this.plans].filter(({ isThere, signature }) => !isThere && dropped.has(signature));
    const one = gone[this.#dice(gone.length)];
    if (!one) return;
    one.isThere = true;
    await this.#w.chain.call('local_landAgain', one.signature);
  }

  async #claimed(state: string): Promise<Set<string>> {
    const signatures = [...this.paid, ...this.plans].map(({ signature }) => signature);
    const { results } = await testEnv.DB.prepare(
      `SELECT tx_signature FROM tx_claims WHERE ${state} AND tx_signature IN (SELECT value FROM json_each(?))`,
    )
      .bind(JSON.stringify(signatures))
      .all<{ tx_signature: string }>();
    return new Set(results.map(({ tx_signature }) => tx_signature));
  }

  /** Repeats a call until an answer arrives, as an SDK does, over broken wires except for the last attempts. */
  async #until(isAnswer: (answer: Answer<Body>) => boolean, call: (env: Env) => Promise<Answer<Body>>): Promise<Answer<Body>> {
    for (let attempt = 1; ; attempt++) {
      const isCut = attempt <= 3 && this.#dice(3) > 0;
      const answer = await call(isCut ? this.#cut() : this.#w.env).catch(lostOnTheWay);
      if (answer && isAnswer(answer)) return answer;
      if (attempt === 12) throw new Error(`${this.stepLog.join()}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      // Moves the time past the lease of a dead request and its send deadline.
      await letLeasesEnd(this.#w);
      await testEnv.DB.prepare("UPDATE settlements SET created_at = created_at - 10000 WHERE status = 'pending' AND merchant_id IN (?, ?)")
        .bind(this.shop.merchant.userId, this.account.userId)
        .run();
    }
  }

  /** Loses one database trip or object call, before or after its effect. */
  #cut(): Env {
    const at = 1 + this.#dice(8);
    const when = this.#dice(2) === 0 ? 'before' : 'after';
    const faults = { [when]: ({ number }: { number: number }) => number === at };
    return this.#dice(2) === 0 ? withFaults(this.#w.env, faults).env : withObjectFaults(this.#w.env, faults).env;
  }

  #used(consumptionId: string, units: number, isCounted: boolean): void {
    this.#uses.push({ consumptionId, units, isCounted });
    this.#happened.push({ verb: 'use', units, isCounted, at: Date.now() });
  }

  get entitlementId(): string {
    const { merchant, product, customer } = this.shop;
    return entitlementIdOf(merchant.userId, true, product.product_id, { walletAddress: customer.wallet_address });
  }

  get object() {
    return testEnv.ENTITLEMENT.getByName(`${this.shop.merchant.userId}:live:${this.entitlementId}`);
  }

  /**
   * Records when the object took in a payment, and which payments the object holds as dropped. The model computes the resulting balance.
   */
  async #notice(): Promise<void> {
    type Row = { payment_id: string; added_at: number; is_revoked: number };
    const sql = 'SELECT * FROM grants WHERE payment_id IS NOT NULL AND credited IS NOT NULL ORDER BY tick';
    const rows = await runInDurableObject(this.object, (_, { storage }) => {
      const isUsed = storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'grants'").toArray().length > 0;
      return isUsed ? storage.sql.exec<Row>(sql).toArray() : [];
    });
    for (const { payment_id, added_at, is_revoked } of rows) {
      if (!this.credited.has(payment_id)) {
        this.credited.set(payment_id, this.#additions);
        this.#happened.push({ verb: 'add', id: this.#additions++, addition: BOUGHT, at: added_at });
      }
      const id = this.credited.get(payment_id)!;
      if (is_revoked === 1) this.revoked.add(id);
      else this.revoked.delete(id);
    }
  }

  /** Checks that the object shows its history as if dropped purchases never happened. */
  async observe(): Promise<void> {
    await this.#notice();
    const { version, updatedAt, ...shown } = (await this.object.read({ now: Date.now() })) ?? { version: 0 };
    if (version === 0) return expect(this.#happened, this.stepLog.join()).toEqual([]);
    const balance = play(this.#happened, (id) => !this.revoked.has(id));
    const { version: _, updatedAt: __, ...expected } = snapshotOf(balance, shown as EntitlementKey, Date.now());
    expect(shown, this.stepLog.join()).toEqual({ ...shown, ...expected });
  }
}
