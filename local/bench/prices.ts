import { type Measured, typical } from './load/measure.ts';

/** The platform's list prices beyond what is included, in dollars for a million of each. */
const PRICES = { request: 0.3, cpuMs: 0.02, objectRequest: 0.15, gbSecond: 12.5, rowWritten: 1 };
/** What an object is billed for while it is at work. */
const OBJECT_GB = 0.128;
/** Of a consume: its account's and its entitlement's. */
const OBJECTS = 2;

export interface Price {
  clients: number;
  /** Consumes in one call of the entitlement's object. */
  group: number;
  rowsWritten: number;
  dollars: number;
}

/** What a million consumes with a key cost by what this run measured of them; the database hears of them every two seconds, which is left out. */
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
