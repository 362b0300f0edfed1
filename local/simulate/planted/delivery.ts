import type { PlantedFault } from './planted-fault.ts';

/** Faults of webhooks, sweeps and retries. */
export const DELIVERY_FAULTS: readonly PlantedFault[] = [
  {
    name: 'fan-out-marked-first',
    breaks: 'An event counts as fanned out before its deliveries are stored, and a failure drops them.',
    mutations: [
      {
        find: 'const [written4] = await ctx.db.batch([insertDeliveries(ctx, deliveries), mark]);',
        replace: 'await mark;\n    const [written4] = await ctx.db.batch([insertDeliveries(ctx, deliveries)]);',
      },
    ],
    finding: /never reached endpoint/,
  },
  {
    name: 'sweep-given-up',
    breaks: 'A sweep is not due again after its first failure.',
    mutations: [{ find: 'failSweep(ctx.db, name, fence, ctx.wallNow)', replace: 'failSweep(ctx.db, name, fence, ctx.wallNow + 1e10)' }],
    finding: /sweeps go on failing/,
  },
  {
    name: 'retry-without-end',
    breaks: 'An object announces its events again for ever, though they were stored.',
    mutations: [
      {
        find: '.awaited) return ',
        replace: '.neverAwaited) return ',
      },
    ],
    finding: /repeat for ever/,
  },
  {
    name: 'rotation-without-overlap',
    breaks: 'The earlier secret of an endpoint stops signing at its rotation.',
    mutations: [{ find: 'const previous = overlapHours > 0 ? [', replace: 'const previous = false ? [' }],
    finding: /no valid signature/,
  },
];
