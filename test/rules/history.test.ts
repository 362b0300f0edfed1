import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import {
  type Addition,
  addPaid,
  type Balance,
  emptyBalance,
  paidThroughOf,
  planConsume,
  planRefund,
  remainingOf,
  snapshotOf,
} from '#rules/balance.ts';
import { foldHistory, type HistoryEntry, playEntries, useOf } from '#rules/history.ts';
import { type Happened, play } from '../support/models/history.ts';

const NOW = 1_800_000_000_000;
const day = (days: number) => NOW + days * DAY;
const identity = { entitlementId: 'e', merchantId: 'm', livemode: true, productId: 'p', customer: { customerRef: 'c' } };

/** Entitlement as stored by its object: a running balance and an entry per addition. */
class Holder {
  balance = emptyBalance();
  readonly history: Happened[] = [];
  readonly entries: (HistoryEntry & { isRevoked: boolean })[] = [];
  readonly uses: { units: number; isCounted: boolean }[] = [];
  checkpoint = { count: 0, balance: emptyBalance() };

  add(addition: Addition, at: number): number {
    const id = this.entries.push({ addition, at, use: useOf(this.balance), isRevoked: false }) - 1;
    this.balance = addPaid(this.balance, addition, at);
    this.history.push({ verb: 'add', id, addition, at });
    return id;
  }

  use(units: number, at: number): boolean {
    const planned = planConsume(this.balance, units, at);
    if (!planned.ok) return false;
    this.balance = planned.balance;
    this.uses.push({ units, isCounted: planned.isCounted });
    this.history.push({ verb: 'use', units, isCounted: planned.isCounted, at });
    return true;
  }

  refund(index: number, at: number): void {
    const [use] = this.uses.splice(index, 1);
    this.balance = planRefund(this.balance, use!, at);
    this.history.push({ verb: 'refund', ...use!, at });
  }

  revoke(id: number, at: number): void {
    this.entries[id]!.isRevoked = true;
    this.#refold(at);
  }

  reinstate(id: number, at: number): void {
    this.entries[id]!.isRevoked = false;
    this.#refold(at);
  }

  #refold(at: number): void {
    const { count, balance } = this.checkpoint;
    this.balance = foldHistory(this.balance, balance, this.activeEntries(count), at);
  }

  activeEntries(from: number): HistoryEntry[] {
    return this.entries.slice(from).filter(({ isRevoked }) => !isRevoked);
  }

  /** Replays the history from the start. Version and time of the last change are copied, because they depend on calls. */
  replayed(): Balance {
    const { version, updatedAt } = this.balance;
    return { ...play(this.history, (id) => !this.entries[id]!.isRevoked), version, updatedAt };
  }
}

const holderAfter = (steps: (holder: Holder) => void): Holder => {
  const holder = new Holder();
  steps(holder);
  return holder;
};
const shown = ({ balance }: Holder, at: number) => [remainingOf(balance, at), paidThroughOf(balance)];

describe('dropped payment', () => {
  it('a dropped payment moves no end if units were used up before it', () => {
    const without = holderAfter((h) => {
      h.add({ units: 10, days: 30 }, day(0));
      h.use(10, day(1));
      h.add({ units: 5, days: 30 }, day(2));
    });
    const dropped = holderAfter((h) => {
      h.add({ units: 10, days: 30 }, day(0));
      h.use(10, day(1));
      h.add({ units: 5, days: 30 }, day(2));
      h.revoke(h.add({ units: 1, days: 30 }, day(3)), day(4));
    });
    expect(shown(dropped, day(4))).toEqual([5, day(60)]);
    expect(shown(dropped, day(4))).toEqual(shown(without, day(4)));
  });

  it('units without an end stay endless if another payment is dropped', () => {
    const dropped = holderAfter((h) => {
      h.add({ units: 10, days: 30 }, day(0));
      h.use(10, day(1));
      h.add({ units: 5, days: null }, day(2));
      h.revoke(h.add({ units: 1, days: 30 }, day(3)), day(4));
    });
    expect(shown(dropped, day(4))).toEqual([5, null]);
  });

  it('days added after uncounted time was over create no uncounted time', () => {
    const dropped = holderAfter((h) => {
      h.add({ units: null, days: 30 }, day(0));
      h.add({ units: 5, days: 40 }, day(0));
      h.use(1, day(31));
      h.add({ days: 30 }, day(50));
      h.revoke(h.add({ units: 1 }, day(51)), day(52));
    });
    expect(shown(dropped, day(52))).toEqual([4, day(80)]);
  });

  it('later units are not charged for units that were used up and then dropped', () => {
    const dropped = holderAfter((h) => {
      const [one, two] = [h.add({ units: 5 }, day(0)), h.add({ units: 5 }, day(0))];
      h.use(10, day(1));
      h.revoke(two, day(2));
      h.add({ units: 10 }, day(3));
      h.revoke(one, day(4));
    });
    expect(shown(dropped, day(4))).toEqual([10, null]);
    expect(snapshotOf(dropped.balance, identity, day(4))).toMatchObject({ usedUnits: 10, grantedUnits: 20 });
  });

  it('reinstated uncounted time covers the use that was drawn from units meanwhile', () => {
    const returned = holderAfter((h) => {
      const time = h.add({ units: null, days: 30 }, day(0));
      h.add({ units: 5 }, day(0));
      h.revoke(time, day(1));
      h.use(2, day(2));
      h.reinstate(time, day(3));
    });
    expect(shown(returned, day(4))).toEqual([null, null]);
    expect(shown(returned, day(30))).toEqual([3, null]);
  });
});

const additions: fc.Arbitrary<Addition> = fc.record(
  { units: fc.option(fc.integer({ min: 1, max: 20 }), { nil: null }), days: fc.option(fc.integer({ min: 1, max: 5 }), { nil: null }) },
  { requiredKeys: [] },
);
const steps = fc.array(
  fc.record({
    wait: fc.integer({ min: 0, max: 2 * DAY }),
    verb: fc.constantFrom('add', 'add', 'use', 'use', 'use', 'refund', 'revoke', 'reinstate', 'checkpoint'),
    addition: additions,
    units: fc.integer({ min: 1, max: 9 }),
    pick: fc.nat(),
  }),
  { maxLength: 60 },
);

describe('foldHistory over random histories', () => {
  it('folding equals a replay from the beginning, whatever was revoked, reinstated and folded before', () => {
    fc.assert(
      fc.property(steps, (list) => {
        const holder = new Holder();
        let now = NOW;
        for (const { wait, verb, addition, units, pick } of list) {
          now += wait;
          const { entries, checkpoint } = holder;
          const open = entries.length - checkpoint.count;
          if (verb === 'add') holder.add(addition, now);
          else if (verb === 'use') holder.use(units, now);
          else if (verb === 'refund' && holder.uses.length > 0) holder.refund(pick % holder.uses.length, now);
          else if (verb === 'revoke' && open > 0) holder.revoke(checkpoint.count + (pick % open), now);
          else if (verb === 'reinstate' && open > 0) holder.reinstate(checkpoint.count + (pick % open), now);
          else if (verb === 'checkpoint' && open > 0) {
            const count = checkpoint.count + 1 + (pick % open);
            const decided = entries.slice(checkpoint.count, count).filter(({ isRevoked }) => !isRevoked);
            holder.checkpoint = { count, balance: playEntries(checkpoint.balance, decided) };
          }
          expect(holder.balance).toEqual(holder.replayed());
        }
        const { balance, checkpoint } = holder;
        const expected = { ...balance, version: balance.version + 1, updatedAt: now };
        expect(foldHistory(balance, emptyBalance(), holder.activeEntries(0), now)).toEqual(expected);
        expect(foldHistory(balance, checkpoint.balance, holder.activeEntries(checkpoint.count), now)).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it('uses remain, holdings never exceed the grants, and a revocation plus a reinstatement changes nothing', () => {
    fc.assert(
      fc.property(steps, fc.nat(), (list, pick) => {
        const holder = new Holder();
        let now = NOW;
        for (const { wait, verb, addition, units } of list) {
          now += wait;
          if (verb === 'use') holder.use(units, now);
          else holder.add(addition, now);
        }
        if (holder.entries.length === 0) return;
        const before = snapshotOf(holder.balance, identity, now);
        const id = pick % holder.entries.length;
        holder.revoke(id, now);
        const without = snapshotOf(holder.balance, identity, now);
        expect(without.usedUnits).toBe(before.usedUnits);
        const given = holder.activeEntries(0).reduce((sum, { addition }) => sum + (addition.units ?? 0), 0);
        expect(without.remaining ?? 0).toBeLessThanOrEqual(given);
        holder.reinstate(id, now);
        const { version, updatedAt, ...after } = snapshotOf(holder.balance, identity, now);
        expect({ ...before, version, updatedAt }).toEqual({ ...after, version, updatedAt });
      }),
      { numRuns: 1000 },
    );
  });
});

describe('units beyond the countable maximum', () => {
  const MAX = Number.MAX_SAFE_INTEGER;

  it('excess units are left out without refusing the payment, and count once the larger grant is revoked', () => {
    const holder = holderAfter((h) => {
      const huge = h.add({ units: MAX }, NOW);
      h.add({ units: 7 }, NOW);
      expect(h.balance.grantedUnits).toBe(MAX);
      h.revoke(huge, NOW);
    });
    expect(shown(holder, NOW)).toEqual([7, null]);
  });

  it('excess units are left out again if a fold counts uncounted use', () => {
    const holder = holderAfter((h) => {
      h.add({ units: null, days: 1 }, NOW);
      const id = h.add({ units: MAX - 10 }, NOW);
      h.use(10, NOW);
      h.revoke(id, NOW);
      h.add({ units: MAX }, NOW);
      h.reinstate(id, NOW);
    });
    expect(holder.balance).toMatchObject({ grantedUnits: MAX - 10, uncountedUnits: 10 });
  });
});
