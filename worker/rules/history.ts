/**
 * Balance of an entitlement as if revoked purchases had never been made. An addition depends on prior use, so each is stored with the use
 * up to then, and the difference between two is replayed as use.
 * Used units stay used: units that the valid additions do not cover are written off. Pure, like balance.ts.
 * @module
 */

import { type Addition, addPaid, assertBalance, type Balance, isOn, leftOf, planRefund, UNITS_MAX } from './balance.ts';

export type Use = Pick<Balance, 'drawnUnits' | 'refundedUnits' | 'drawnAt'>;

export const useOf = ({ drawnUnits, refundedUnits, drawnAt }: Use): Use => ({ drawnUnits, refundedUnits, drawnAt });

export interface HistoryEntry {
  addition: Addition;
  at: number;
  use: Use;
}

/** Replays the use of counted units up to a later point. Draws remaining units even if they expired meanwhile. */
export function playUse(balance: Balance, { drawnUnits, refundedUnits, drawnAt }: Use): Balance {
  const change = drawnUnits - balance.drawnUnits;
  const draws = Math.max(0, change + refundedUnits - balance.refundedUnits);
  const uncovered = Math.max(0, draws - leftOf(balance));
  const drawn = {
    ...balance,
    grantedUnits: balance.grantedUnits + uncovered,
    drawnUnits: balance.drawnUnits + draws,
    writtenOffUnits: balance.writtenOffUnits + uncovered,
    // Like planConsume: an uncounted period that had ended when counted units were drawn is spent.
    unlimitedThrough: draws > 0 && !isOn(balance.unlimitedThrough, drawnAt) ? 0 : balance.unlimitedThrough,
  };
  return { ...planRefund(drawn, { units: draws - change, isCounted: true }, drawnAt), refundedUnits, drawnAt };
}

export function playEntries(from: Balance, entries: Iterable<HistoryEntry>): Balance {
  let balance = from;
  for (const { addition, at, use } of entries) balance = addPaid(playUse(balance, use), addition, at);
  return balance;
}

/** Balance after a change of valid entries. `entries` are those valid now, starting after `from`. */
export function foldHistory(balance: Balance, from: Balance, entries: Iterable<HistoryEntry>, now: number): Balance {
  const played = playUse(playEntries(from, entries), balance);
  const { uncountedUnits, version } = balance;
  const grantedUnits = Math.min(played.grantedUnits, UNITS_MAX - uncountedUnits);
  return assertBalance({ ...played, grantedUnits, uncountedUnits, version: version + 1, updatedAt: now });
}
