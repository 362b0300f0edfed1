import { type Addition, addPaid, type Balance, emptyBalance, isOn, leftOf, planRefund } from '#rules/balance.ts';

/** What really happened to an entitlement, in its order. */
export type Happened =
  | { verb: 'add'; id: number; addition: Addition; at: number }
  | { verb: 'use'; units: number; isCounted: boolean; at: number }
  | { verb: 'refund'; units: number; isCounted: boolean; at: number };

/** Use that was made: it takes what is left, and what is not covered is written off. */
function forceUse(balance: Balance, { units, isCounted, at }: { units: number; isCounted: boolean; at: number }): Balance {
  if (!isCounted) return { ...balance, uncountedUnits: balance.uncountedUnits + units };
  const uncovered = Math.max(0, units - leftOf(balance));
  return {
    ...balance,
    grantedUnits: balance.grantedUnits + uncovered,
    writtenOffUnits: balance.writtenOffUnits + uncovered,
    drawnUnits: balance.drawnUnits + units,
    drawnAt: at,
    unlimitedThrough: isOn(balance.unlimitedThrough, at) ? balance.unlimitedThrough : 0,
  };
}

/** Everything once more from the beginning, step by step, without what does not stand: what an object's short cuts are held against. */
export function play(history: Happened[], stands: (id: number) => boolean): Balance {
  let balance = emptyBalance();
  for (const step of history) {
    if (step.verb === 'add') balance = stands(step.id) ? addPaid(balance, step.addition, step.at) : balance;
    else balance = step.verb === 'use' ? forceUse(balance, step) : planRefund(balance, step, step.at);
  }
  return balance;
}
