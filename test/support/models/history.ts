import { type Addition, addPaid, type Balance, emptyBalance, isOn, leftOf, planRefund } from '#rules/balance.ts';

export type Happened =
  | { verb: 'add'; id: number; addition: Addition; at: number }
  | { verb: 'use'; units: number; isCounted: boolean; at: number }
  | { verb: 'refund'; units: number; isCounted: boolean; at: number };

/** Applies a use that was made: draws what is left and writes off the rest. */
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

/** Replays the history from the start without dropped additions, as the reference for an object's shortcuts. */
export function play(history: Happened[], isActive: (id: number) => boolean): Balance {
  let balance = emptyBalance();
  for (const step of history) {
    if (step.verb === 'add') balance = isActive(step.id) ? addPaid(balance, step.addition, step.at) : balance;
    else balance = step.verb === 'use' ? forceUse(balance, step) : planRefund(balance, step, step.at);
  }
  return balance;
}
