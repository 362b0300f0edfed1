import type { PlantedFault } from './planted-fault.ts';

/** Faults that mix merchants, or the sandbox with live. */
export const TENANT_FAULTS: readonly PlantedFault[] = [
  {
    name: 'sandbox-events-at-live-endpoints',
    breaks: 'Events of the sandbox reach live endpoints.',
    mutations: [{ find: 'endpoint2.livemode === event.livemode && ', replace: '' }],
    finding: /reached .*, and its shop does not list it|never reached/,
  },
  {
    name: 'endpoint-of-another-merchant',
    breaks: 'An endpoint is found by its id alone, for every merchant.',
    mutations: [
      {
        find: 'where(and(rowsOf(webhookEndpoints, scope), eq(webhookEndpoints.id, endpointId)))',
        replace: 'where(eq(webhookEndpoints.id, endpointId))',
      },
    ],
    finding: /was answered 20\d to/,
  },
  {
    name: 'rows-of-the-other-mode',
    breaks: 'Lists of a key contain the rows of the other mode.',
    mutations: [{ find: 'eq(table2.livemode, livemode2),\n        ...narrowed3.map', replace: '...narrowed3.map' }],
    finding: /listed in the other mode|of the other mode|was answered 20\d to/,
  },
];
