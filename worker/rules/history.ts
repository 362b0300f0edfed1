/**
 * What an entitlement's balance is when only some of its purchases stand, as if the others had never been made. What an
 * addition does depends on what was used before it, so each is kept with the use up to then, and between two of them the
 * difference is played as use. Used units stay used: what the standing additions do not cover is written off. Pure, like
 * balance.ts.
 * @module
 */

import { type Addition, addPaid, assertBalance, type Balance, isOn, leftOf, planRefund, UNITS_MAX } from './balance.ts';

export type Use = Pick<Balance, 'drawnUnits' | 'refundedUnits' | 'drawnAt'>;

export const useOf = ({ drawnUnits, refundedUnits, drawnAt }: Use): Use => ({ drawnUnits, refundedUnits, drawnAt });

/** `use` is that before the addition. */
export interface HistoryEntry {
  addition: Addition;
  at: number;
  use: Use;
}

/** Brings the use of counted units to what it was at a later point. It takes what is left, though that ended by then. */
export function playUse(balance: Balance, { drawnUnits, refundedUnits, drawnAt }: Use): Balance {
  const change = drawnUnits - balance.drawnUnits;
  const draws = Math.max(0, change + refundedUnits - balance.refundedUnits);
  const uncovered = Math.max(0, draws - leftOf(balance));
  const drawn = {
    ...balance,
    grantedUnits: balance.grantedUnits + uncovered,
    drawnUnits: balance.drawnUnits + draws,
    writtenOffUnits: balance.writtenOffUnits + uncovered,
    // As in planConsume: uncounted time that was over when counted units were drawn is spent.
    unlimitedThrough: draws > 0 && !isOn(balance.unlimitedThrough, drawnAt) ? 0 : balance.unlimitedThrough,
  };
  return { ...planRefund(drawn, { units: draws - change, isCounted: true }, drawnAt), refundedUnits, drawnAt };
}

/** Goes on from a balance with entries that stand, in their order. */
export function playEntries(from: Balance, entries: Iterable<HistoryEntry>): Balance {
  let balance = from;
  for (const { addition, at, use } of entries) balance = addPaid(playUse(balance, use), addition, at);
  return balance;
}

/** The balance after a change of what stands: `entries` are those that stand now, from the point at which `from` was true. */
export function foldHistory(balance: Balance, from: Balance, entries: Iterable<HistoryEntry>, now: number): Balance {
  const played = playUse(playEntries(from, entries), balance);
  const { uncountedUnits, version } = balance;
  const grantedUnits = Math.min(played.grantedUnits, UNITS_MAX - uncountedUnits);
  return assertBalance({ ...played, grantedUnits, uncountedUnits, version: version + 1, updatedAt: now });
}
