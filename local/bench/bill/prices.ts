/** Cloudflare list prices of the paid Workers plan, in dollars. Nothing else names them. */
export const PRICES_OF = '2026-11-26';

export interface Counts {
  /** Requests, and invocations by queue messages. */
  requests: number;
  rowsRead: number;
  rowsWritten: number;
  objectRequests: number;
  objectRows: number;
  messages: number;
  logLines: number;
}

/** Dollars per million. An alarm that is set is one row of its object, one that rings one request. */
export const PER_MILLION: Counts = {
  requests: 0.3,
  rowsRead: 0.001,
  rowsWritten: 1,
  objectRequests: 0.15,
  objectRows: 1,
  // Written, read and deleted: three operations of $0.40.
  messages: 1.2,
  logLines: 0.6,
};
export const CPU_MS_PER_MILLION = 0.02;
export const OBJECT_GB_SECOND_PER_MILLION = 12.5;
export const DATABASE_GB_MONTH = 0.75;

/** Included in the plan each month. */
export const PLAN_DOLLARS = 5;
export const INCLUDED: Counts & { cpuMs: number; objectGbSeconds: number; databaseGb: number } = {
  requests: 10e6,
  rowsRead: 25e9,
  rowsWritten: 50e6,
  objectRequests: 1e6,
  objectRows: 50e6,
  messages: 1e6 / 3,
  logLines: 20e6,
  cpuMs: 30e6,
  objectGbSeconds: 400_000,
  databaseGb: 5,
};

/** Bytes that a payment adds to the database, indexes included. `test/load/bill-bytes.test.ts` measures them. */
export const BYTES = { sale: 5_950, x402: 4_800 };

/** Assumed, because a count does not give them: processor time, time in an object and how long rows are stored. */
export const ASSUMED = {
  cpuMs: { sale: 60, x402: 60, consume: 0.5 },
  objectMsPerRequest: 5,
  objectGb: 0.128,
  monthsStored: 3,
};
