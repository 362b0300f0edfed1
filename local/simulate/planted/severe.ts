import type { PlantedFault } from './planted-fault.ts';

/** The severe faults of former releases, brought back: the mending of each is taken out again. */
export const SEVERE_FAULTS: readonly PlantedFault[] = [
  {
    name: 'live-refund-by-sandbox',
    breaks: 'A transaction of the simulated chain, without the signature of its payer, marks a live payment refunded.',
    mutations: [
      {
        find: 'where(and(eq(refunds.nonce, nonce), rowsOnChain(ctx, refunds)))',
        replace: 'where(eq(refunds.nonce, nonce))',
      },
      {
        find: 'if (refund2?.paymentId !== paymentId2) throw mismatch("memo_mismatch");',
        replace: 'if (!refund2) throw mismatch("memo_mismatch");\n      paymentId2 = refund2.paymentId;',
      },
      { find: 'if (!hasAuthorities(signed4)) return', replace: 'if (false) return' },
    ],
    finding: /which the chain does not have/,
  },
  {
    name: 'sweep-without-budget',
    breaks: 'A sweep takes more rows than its invocation has calls for, so that a backlog starves what saves money.',
    mutations: [{ find: 'return Math.max(0, CALLS_MAX - RESERVED_CALLS - this.#spent);', replace: 'return CALLS_MAX;' }],
    finding: /makes more than \d+ calls/,
  },
  {
    name: 'plan-of-a-former-price',
    breaks: 'A card subscription at a price of earlier times gives no plan.',
    mutations: [{ find: 'pricesOf(config2, plan).includes(id2)', replace: 'pricesOf(config2, plan)[0] === id2' }],
    finding: /pays for plan \w+ by card, and has/,
  },
];
