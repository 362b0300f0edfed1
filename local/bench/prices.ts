import { ASSUMED, CPU_MS_PER_MILLION, OBJECT_GB_SECOND_PER_MILLION, PER_MILLION } from './bill/prices.ts';
import { type Measured, typical } from './load/measure.ts';

const OBJECTS = 2;

export interface Price {
  clients: number;
  group: number;
  rowsWritten: number;
  dollars: number;
}

/** Prices a million consumes with a key from this run's measurements. `--bill` counts the reports to the database too. */
export function pricesOf(measured: Measured[]): Price[] {
  return measured
    .filter(({ row }) => row.id === 'authed')
    .flatMap((one) => {
      const { perSecond, cpuMicros, objectCalls, rowsWritten } = typical(one);
      if (objectCalls === undefined || rowsWritten === undefined) return [];
      const busySeconds = OBJECTS / perSecond;
      const dollars =
        PER_MILLION.requests +
        (cpuMicros / 1000) * CPU_MS_PER_MILLION +
        objectCalls * PER_MILLION.objectRequests +
        rowsWritten * PER_MILLION.objectRows +
        busySeconds * ASSUMED.objectGb * OBJECT_GB_SECOND_PER_MILLION;
      return [{ clients: one.clients, group: 1 / (objectCalls - 1), rowsWritten, dollars }];
    });
}
