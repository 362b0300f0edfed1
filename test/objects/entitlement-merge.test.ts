// @module-tag volume
import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import { customerIdOf } from '#core/ids.ts';
import { DAY, HOUR } from '#core/time.ts';
import type { Addition } from '#rules/balance.ts';
import { type Moved, projectedOf } from '#rules/entitlement-rpc.ts';
import { abort, type Holder, interceptJobs, newHolder, readAlarm, silence, untilAnswered } from '../support/clients/entitlement.ts';
import { seededRandom, shuffled } from '../support/faults/faults.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { SEED, SOAK } from '../support/runner/env.ts';

afterEach(letTimeRun);

const random = seededRandom(SEED);
const below = (n: number) => Math.floor(random() * n);
/** 25 histories in every run, 1,000 in the volume run. */
const HISTORIES = SOAK > 1 ? 1_000 : 25;

const targetOf = ({ identity }: Holder) => ({ customerId: customerIdOf(identity.merchantId, true, identity.customer), identity });

const isRedirected = (answer: object): boolean => 'mergedInto' in answer;

/** Two entitlements of one product: the customers `from` and `into`, behind a queue that loses, doubles and reorders messages. */
class MergedPair {
  readonly from = newHolder();
  readonly into = newHolder({ merchantId: this.from.identity.merchantId, customerRef: 'customer-2' });
  readonly uses: { holder: Holder; consumptionId: string; units: number }[] = [];
  readonly #queue: Moved[] = [];
  readonly #sent: Moved[] = [];
  now = Date.now() + HOUR;
  granted = 0;
  used = 0;
  payments = 0;
  isMerged = false;

  async open(): Promise<void> {
    setTime(this.now);
    for (const holder of [this.from, this.into]) {
      const jobs = await interceptJobs(holder.stub);
      this.#taken.set(holder, jobs.sent);
    }
  }
  readonly #taken = new Map<Holder, Awaited<ReturnType<typeof interceptJobs>>['sent']>();

  /** Makes a call that may be cut off, and repeats it until answered. */
  async ask<T>(holder: Holder, call: () => Promise<T>): Promise<T> {
    const first = call().catch(() => null);
    if (below(5) === 0) await abort(holder);
    await first;
    if (below(8) === 0) await evictDurableObject(holder.stub).catch(() => null);
    const answer = await untilAnswered(holder, call);
    await this.open();
    return answer;
  }

  /** Credits as the Worker does: what arrives after the merge goes to the target. */
  async credit(holder: Holder, paymentId: string, addition: Addition, use: { key: string; units: number } | null = null) {
    const answer = await this.ask(holder, () => holder.credit(paymentId, addition, use, this.now));
    return isRedirected(answer) ? this.ask(this.into, () => this.into.credit(paymentId, addition, use, this.now)) : answer;
  }

  async act(key: string, addition: Addition): Promise<void> {
    const holder = below(2) === 0 ? this.from : this.into;
    const verb = ['credit', 'consume', 'consume', 'refund', 'grant', 'ring', 'deliver'][below(7)]!;
    if (verb === 'credit') {
      await this.credit(holder, `pay-${this.payments}`, addition);
      this.payments++;
      this.granted += addition.units ?? 0;
    } else if (verb === 'grant') {
      const answer = await this.ask(holder, () => holder.grant(key, addition, this.now));
      if (isRedirected(answer)) await this.ask(this.into, () => this.into.grant(key, addition, this.now));
      this.granted += addition.units ?? 0;
    } else if (verb === 'consume') {
      const units = 1 + below(4);
      const answer = await this.ask(holder, () => holder.consume(key, units, this.now));
      if (this.isMerged && holder === this.from) expect(answer).toMatchObject({ ok: false, reason: 'entitlement_missing', remaining: 0 });
      if (!answer.ok) return;
      this.used += units;
      this.uses.push({ holder, consumptionId: answer.consumptionId, units });
    } else if (verb === 'refund' && this.uses.length > 0) {
      const [use] = this.uses.splice(below(this.uses.length), 1);
      await this.ask(use!.holder, () => use!.holder.refund(key, use!.consumptionId, this.now));
      this.used -= use!.units;
    } else if (verb === 'ring') await this.ring();
    else if (verb === 'deliver') await this.deliver(false);
  }

  async merge(): Promise<void> {
    const { identity, stub: _ } = this.from;
    const call = async () => this.from.stub.mergeAway({ identity, into: targetOf(this.into), now: this.now });
    const moved = await this.ask(this.from, call);
    if (moved) this.#queue.push(moved);
    this.isMerged = moved !== null;
  }

  async ring(): Promise<void> {
    for (const holder of [this.from, this.into]) {
      if ((await readAlarm(holder.stub)) !== null) await runDurableObjectAlarm(holder.stub);
      for (const message of this.#taken.get(holder)!.splice(0)) {
        if (message.moved && holder === this.from) this.#queue.push(message.moved);
        else await holder.stub.published(projectedOf(message));
      }
    }
  }

  async deliver(isReliable: boolean): Promise<void> {
    for (const moved of shuffled(this.#queue.splice(0), random)) {
      this.#sent.push(moved);
      if (!isReliable && below(3) === 0) continue;
      if (!isReliable && below(3) === 0) this.#queue.push(moved);
      await this.ask(this.into, async () => this.into.stub.receive({ moved, now: this.now }));
    }
  }

  /** Rings and delivers until the target has the latest version. Repeats what the queue dropped, as the unacknowledged object does. */
  async settle(): Promise<void> {
    for (let calm = 0; calm < 3; calm++) {
      await this.ring();
      if (this.isMerged) await this.merge();
      await this.deliver(true);
    }
    // Everything that was sent arrives once more, the oldest last.
    const again = this.#sent.toSorted((one, other) => other.version - one.version);
    for (const moved of again) await this.into.stub.receive({ moved, now: this.now });
  }

  async end(): Promise<void> {
    for (const { stub } of [this.from, this.into]) await silence(stub);
  }
}

async function run(steps: number, additions: Addition[], check: (pair: MergedPair) => Promise<void>): Promise<void> {
  const pair = new MergedPair();
  await pair.open();
  const mergeAt = below(steps);
  for (let step = 0; step < steps; step++) {
    pair.now += below(5_000);
    await pair.open();
    if (step === mergeAt) await pair.merge();
    await pair.act(`key-${step}`, additions[below(additions.length)]!);
  }
  await pair.merge();
  await pair.settle();
  await check(pair);
  await pair.end();
}

describe('merge of two entitlements', () => {
  it(`${HISTORIES} random histories with crashes neither drop nor double a unit`, async () => {
    for (let round = 0; round < HISTORIES; round++)
      await run(
        14,
        [
          { units: 5, days: null },
          { units: 3, days: null },
        ],
        async ({ from, into, granted, used, isMerged, now }) => {
          const [left, moved] = [await into.read(now), await from.read(now)];
          expect([round, left?.remaining ?? 0]).toEqual([round, granted - used]);
          if (isMerged) expect(moved).toMatchObject({ status: 'revoked', remaining: 0, mergedInto: targetOf(into).customerId });
        },
      );
  }, 600_000);

  it('remaining time moves once, and time that the merged customer pays for later as well', async () => {
    const pair = new MergedPair();
    await pair.open();
    const { from, into, now } = pair;
    await into.credit('pay-a', { units: null, days: 10 }, null, now);
    await from.credit('pay-b', { units: null, days: 4 }, null, now);
    pair.now += DAY;
    await pair.open();
    await pair.merge();
    for (let times = 0; times < 2; times++) await pair.settle();
    expect((await into.read(pair.now))!.paidThrough).toBe(now + 13 * DAY);
    await pair.credit(from, 'pay-c', { units: null, days: 2 });
    await pair.settle();
    expect((await into.read(pair.now))!.paidThrough).toBe(now + 15 * DAY);
    expect(await from.read(pair.now)).toMatchObject({ status: 'revoked', paidThrough: null });
    await pair.end();
  });

  it('time paid under the merged customer after its earlier time ended counts from that payment', async () => {
    const pair = new MergedPair();
    await pair.open();
    const { from, into, now } = pair;
    await into.credit('pay-a', { units: null, days: 30 }, null, now);
    await from.credit('pay-b', { units: null, days: 4 }, null, now);
    pair.now += DAY;
    await pair.open();
    await pair.merge();
    await pair.settle();
    pair.now += 19 * DAY;
    await pair.open();
    await pair.credit(from, 'pay-c', { units: null, days: 5 });
    await pair.settle();
    expect((await into.read(pair.now))!.paidThrough).toBe(now + 38 * DAY);
    await pair.end();
  });

  it.each([
    ['before', 'target', { by: 'none' }],
    ['before', 'nobody', { by: 'none' }],
    ['after', 'target', { by: 'none' }],
    ['after', 'nobody', { by: 'mine' }],
  ])(
    'a payment credited %s the merge is served once, though its use crashed and %s used the unit meanwhile',
    async (credited, user, expected) => {
      const pair = new MergedPair();
      await pair.open();
      const { from, into } = pair;
      await from.credit('pay-0', { units: 2, days: null }, null, pair.now);
      await from.consume('use-0', 2, pair.now);
      const unit = { units: 1, days: null };
      if (credited === 'before') await from.credit('pay-a', unit, null, pair.now);
      await pair.merge();
      await pair.settle();
      // The event of the payment credits it. The request that brought it crashed, and is repeated.
      await pair.credit(from, 'pay-a', unit);
      await pair.settle();
      const isServed = user === 'target' && (await into.consume('use-a', 1, pair.now)).ok;
      const retried = await pair.credit(from, 'pay-a', unit, { key: 'settle', units: 1 });
      expect([isServed, retried.consumption]).toEqual([user === 'target', expect.objectContaining(expected)]);
      await pair.settle();
      const isServedNow = (await into.consume('use-b', 1, pair.now)).ok;
      expect(isServedNow).toBe(user === 'nobody' && expected.by === 'none');
      expect((await pair.credit(from, 'pay-a', unit, { key: 'settle', units: 1 })).consumption).toEqual(retried.consumption);
      await pair.end();
    },
  );

  it('a late payment that the chain drops is taken from the target, and given again', async () => {
    const pair = new MergedPair();
    await pair.open();
    const { from, into } = pair;
    await from.credit('pay-0', { units: 1, days: null }, null, pair.now);
    await pair.merge();
    await pair.settle();
    await pair.credit(from, 'pay-a', { units: 5, days: null });
    const remaining = async () => (await into.read(pair.now))!.remaining;
    expect(await remaining()).toBe(6);
    expect(await from.revoke('pay-a', pair.now)).toEqual({ mergedInto: into.identity });
    await into.revoke('pay-a', pair.now);
    expect(await remaining()).toBe(1);
    expect(await from.reinstate('pay-a', pair.now)).toEqual({ mergedInto: into.identity });
    await into.reinstate('pay-a', pair.now);
    expect(await remaining()).toBe(6);
    await pair.end();
  });

  it('access without an end wins', async () => {
    const pair = new MergedPair();
    await pair.open();
    await pair.into.credit('pay-a', { units: null, days: 10 }, null, pair.now);
    await pair.from.credit('pay-b', { units: null, days: null }, null, pair.now);
    await pair.merge();
    await pair.settle();
    expect(await pair.into.read(pair.now)).toMatchObject({ unlimited: true, paidThrough: null, status: 'active' });
    await pair.end();
  });

  it('a payment that the chain drops after the merge takes back what it moved, and gives it again', async () => {
    const pair = new MergedPair();
    await pair.open();
    const { from, into } = pair;
    await from.credit('pay-a', { units: 10, days: null }, null, pair.now);
    await from.consume('use-a', 3, pair.now);
    await into.credit('pay-b', { units: 5, days: null }, null, pair.now);
    await pair.merge();
    await pair.settle();
    const remaining = async () => (await into.read(pair.now))!.remaining;
    expect(await remaining()).toBe(12);
    await from.revoke('pay-a', pair.now);
    await pair.settle();
    expect(await remaining()).toBe(5);
    await from.reinstate('pay-a', pair.now);
    await pair.settle();
    expect(await remaining()).toBe(12);
    await pair.end();
  });

  it('a merged entitlement that is merged on passes everything to the last one', async () => {
    const pair = new MergedPair();
    await pair.open();
    const { from, into } = pair;
    const last = newHolder({ merchantId: from.identity.merchantId, customerRef: 'customer-3' });
    await from.credit('pay-a', { units: 10, days: null }, null, pair.now);
    await pair.merge();
    await pair.settle();
    const moveOn = async () => {
      const moved = await into.stub.mergeAway({ identity: into.identity, into: targetOf(last), now: pair.now });
      await last.stub.receive({ moved: moved!, now: pair.now });
    };
    await moveOn();
    for (const holder of [from, into]) expect(await holder.credit('pay-b', { units: 4, days: null })).toHaveProperty('mergedInto');
    await last.credit('pay-b', { units: 4, days: null }, null, pair.now);
    await pair.settle();
    await moveOn();
    expect((await last.read(pair.now))!.remaining).toBe(14);
    expect(await into.read(pair.now)).toMatchObject({ status: 'revoked', remaining: 0 });
    await pair.end();
    await silence(last.stub);
  });
});
