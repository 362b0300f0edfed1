// @module-tag volume
import { evictDurableObject, runDurableObjectAlarm } from 'cloudflare:test';
import { afterEach, describe, expect, it } from 'vitest';
import { DAY, HOUR } from '#core/time.ts';
import { type Addition, snapshotOf } from '#rules/balance.ts';
import { type EntitlementProjection, projectedOf } from '#rules/entitlement-rpc.ts';
import { abort, interceptJobs, newHolder, readAlarm, type SentJobs, silence, untilAnswered } from '../support/clients/entitlement.ts';
import { seededRandom, shuffled } from '../support/faults/faults.ts';
import { type Happened, play } from '../support/models/history.ts';
import { letTimeRun, setTime } from '../support/runner/clock.ts';
import { SEED, SOAK } from '../support/runner/env.ts';

afterEach(letTimeRun);

const random = seededRandom(SEED);
const below = (n: number) => Math.floor(random() * n);
const ADDITIONS: Addition[] = [
  { units: 5, days: null },
  { units: 3, days: 4 },
  { units: null, days: 2 },
  { units: 7, days: 1 },
];

/** Object that is killed, evicted and woken at bad times, behind a queue that loses, doubles and reorders messages. */
class FaultyObject {
  readonly holder = newHolder();
  readonly history: Happened[] = [];
  readonly revoked = new Set<number>();
  readonly uses: { consumptionId: string; units: number; isCounted: boolean }[] = [];
  now = Date.now() + HOUR;
  payments = 0;
  /** State of the database: the newest snapshot, and the count of each event. */
  listed: EntitlementProjection['snapshot'] | null = null;
  readonly events = new Map<number, string>();
  #jobs!: SentJobs;
  readonly #queue: EntitlementProjection[] = [];

  async open(): Promise<void> {
    setTime(this.now);
    this.#jobs = await interceptJobs(this.holder.stub);
    this.#jobs.uses = below(3) === 0 ? 'refused' : 'recorded';
  }

  /** Takes what the object has sent, and what it has stored by itself. */
  #take(): void {
    this.#queue.push(...this.#jobs.sent.splice(0));
    for (const snapshot of this.#jobs.stored.splice(0)) this.#list(snapshot);
  }

  #list(snapshot: EntitlementProjection['snapshot']): void {
    if ((this.listed?.version ?? 0) < snapshot.version) this.listed = snapshot;
  }

  /** Makes a call that may be cut off, and repeats it until answered. */
  async ask<T>(call: () => Promise<T>): Promise<T> {
    const first = call().catch(() => null);
    if (below(6) === 0) await abort(this.holder);
    await first;
    if (below(6) === 0) await evictDurableObject(this.holder.stub).catch(() => null);
    const answer = await untilAnswered(this.holder, call);
    this.#take();
    await this.open();
    return answer;
  }

  async act(key: string): Promise<void> {
    const { holder, history, uses } = this;
    const at = this.now;
    const id = below(this.payments + 1);
    const verb = ['credit', 'credit', 'consume', 'consume', 'consume', 'refund', 'revoke', 'reinstate', 'finalize'][below(9)]!;
    if (verb === 'credit') {
      const addition = ADDITIONS[below(ADDITIONS.length)]!;
      await this.ask(() => holder.credit(`pay-${this.payments}`, addition));
      history.push({ verb: 'add', id: this.payments++, addition, at });
    } else if (verb === 'consume') {
      const units = 1 + below(4);
      const answer = await this.ask(() => holder.consume(key, units));
      if (!answer.ok) return;
      const use = { units, isCounted: answer.remaining !== null };
      uses.push({ consumptionId: answer.consumptionId, ...use });
      history.push({ verb: 'use', ...use, at });
    } else if (verb === 'refund' && uses.length > 0) {
      const [{ consumptionId, ...use }] = uses.splice(below(uses.length), 1) as [(typeof uses)[number]];
      const answer = await this.ask(() => holder.refund(key, consumptionId));
      // A refund key is dropped after a day, and the consumption stays refunded.
      if (answer.ok) history.push({ verb: 'refund', ...use, at });
    } else if (verb === 'revoke' && id < this.payments) {
      await this.ask(() => holder.revoke(`pay-${id}`));
      this.revoked.add(id);
    } else if (verb === 'reinstate' && id < this.payments) {
      await this.ask(() => holder.reinstate(`pay-${id}`));
      this.revoked.delete(id);
    } else if (verb === 'finalize') await this.ask(() => holder.finalize([`pay-${id}`, `pay-${this.payments - 1}`]));
  }

  async ring(): Promise<void> {
    if ((await readAlarm(this.holder.stub)) !== null) await runDurableObjectAlarm(this.holder.stub);
    this.#take();
  }

  /** Delivers queued messages in any order. Each may be lost or doubled, and its acknowledgement lost. */
  async deliver(isReliable: boolean): Promise<void> {
    for (const message of shuffled(this.#queue.splice(0), random)) {
      if (!isReliable && below(3) === 0) continue;
      if (!isReliable && below(4) === 0) this.#queue.push(message);
      this.#list(message.snapshot);
      for (const { type, snapshot } of message.events) this.events.set(snapshot.version, type);
      if (isReliable || below(4) > 0) await untilAnswered(this.holder, async () => this.holder.stub.published(projectedOf(message)));
    }
  }
}

describe('random histories of a crashing object behind a misbehaving queue', () => {
  it('every step equals a replay from the beginning, and finally the database has all of it', async () => {
    for (let round = 0; round < 3 * SOAK; round++) {
      const object = new FaultyObject();
      const { holder, history } = object;
      await object.open();
      for (let step = 0; step < 40; step++) {
        object.now += below(3) === 0 ? below(DAY) : below(10_000);
        await object.open();
        await object.act(`key-${step}`);
        if (below(4) === 0) await object.ring();
        if (below(4) === 0) await object.deliver(false);
        const shown = await holder.read();
        if (!shown) continue;
        const { version, updatedAt } = shown;
        const balance = { ...play(history, (id) => !object.revoked.has(id)), version, updatedAt };
        expect(shown).toEqual(snapshotOf(balance, holder.identity, object.now));
      }
      for (let calm = 0; calm < 5; calm++) {
        object.now += 10 * 60_000;
        await object.open();
        await object.ring();
        await object.deliver(true);
      }
      const { status: _, remaining: __, grantedUnits: ___, ...state } = object.listed!;
      expect(await holder.read()).toMatchObject(state);
      const granted = [...object.events.values()].filter((type) => type === 'entitlement.granted');
      expect(granted).toHaveLength(object.payments);
      await silence(holder.stub);
    }
  });
});
