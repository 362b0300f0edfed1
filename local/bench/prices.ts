import { type Measured, typical } from './load/measure.ts';

/** Cloudflare list prices beyond the included volume, in dollars per million. */
const PRICES = { request: 0.3, cpuMs: 0.02, objectRequest: 0.15, gbSecond: 12.5, rowWritten: 1 };
const OBJECT_GB = 0.128;
const OBJECTS = 2;

export interface Price {
  clients: number;
  group: number;
  rowsWritten: number;
  dollars: number;
}

/** Prices a million consumes with a key from this run's measurements. Excludes the reports to the database every two seconds. */
export function pricesOf(measured: Measured[]): Price[] {
  return measured
    .filter(({ row }) => row.id === 'authed')
    .flatMap((one) => {
      const { perSecond, cpuMicros, objectCalls, rowsWritten } = typical(one);
      if (objectCalls === undefined || rowsWritten === undefined) return [];
      const busySeconds = OBJECTS / perSecond;
      const dollars =
        PRICES.request +
        (cpuMicros / 1000) * PRICES.cpuMs +
        objectCalls * PRICES.objectRequest +
        rowsWritten * PRICES.rowWritten +
        busySeconds * OBJECT_GB * PRICES.gbSecond;
      return [{ clients: one.clients, group: 1 / (objectCalls - 1), rowsWritten, dollars }];
    });
}
