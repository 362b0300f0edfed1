// @module-tag volume
import { describe, expect, it } from 'vitest';
import { PLANTED_FAULTS } from '../../local/simulate/planted/catalogue.ts';
import { hunt } from '../../local/simulate/planted/hunt.ts';

/** Faults that the first histories show. `npm run simulate -- --planted` hunts all of them. */
const FAST = [
  'endpoint-of-another-merchant',
  'sandbox-events-at-live-endpoints',
  'receipt-number-skipped',
  'retry-without-end',
  'replay-missing',
  'credit-at-each-report',
];
const HISTORIES_MAX = 60;

describe('planted faults', { timeout: 300_000 }, () => {
  it.each(FAST)('the simulator finds %s', async (name) => {
    const fault = PLANTED_FAULTS.find((one) => one.name === name)!;
    const { found } = await hunt(fault, { historiesMax: HISTORIES_MAX });
    expect(found).toMatch(fault.finding);
  });
});
