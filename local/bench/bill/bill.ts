import {
  ASSUMED,
  type Counts,
  CPU_MS_PER_MILLION,
  DATABASE_GB_MONTH,
  INCLUDED,
  OBJECT_GB_SECOND_PER_MILLION,
  PER_MILLION,
  PLAN_DOLLARS,
} from './prices.ts';

const FIGURES = Object.keys(PER_MILLION) as (keyof Counts)[];

export const zero = (): Counts => ({
  requests: 0,
  rowsRead: 0,
  rowsWritten: 0,
  objectRequests: 0,
  objectRows: 0,
  messages: 0,
  logLines: 0,
});

const byFigure = (figure: (name: keyof Counts) => number): Counts =>
  Object.fromEntries(FIGURES.map((name) => [name, figure(name)])) as unknown as Counts;
export const sum = (...all: Counts[]): Counts => byFigure((name) => all.reduce((total, one) => total + one[name], 0));
export const times = (counts: Counts, factor: number): Counts => byFigure((name) => counts[name] * factor);

export const difference = (more: Counts, less: Counts): Counts => byFigure((name) => Math.max(0, more[name] - less[name]));

export interface Work {
  counts: Counts;
  cpuMs: number;
  bytes: number;
}

const objectGbSeconds = ({ objectRequests }: Counts): number => (objectRequests * ASSUMED.objectMsPerRequest * ASSUMED.objectGb) / 1000;

/** Prices a million of one kind of work beyond what is included, without storage. */
export const perMillion = ({ counts, cpuMs }: Omit<Work, 'bytes'>): number =>
  FIGURES.reduce((total, name) => total + counts[name] * PER_MILLION[name], 0) +
  cpuMs * CPU_MS_PER_MILLION +
  objectGbSeconds(counts) * OBJECT_GB_SECOND_PER_MILLION;

/** Prices a month with `idle` work and `number` times `each`, after what the plan includes. */
export function monthDollars({ counts, cpuMs, bytes }: Work, number: number, idle: Counts): number {
  const month = sum(times(counts, number), idle);
  const beyond = (used: number, included: number) => Math.max(0, used - included);
  const counted = FIGURES.reduce((total, name) => total + beyond(month[name], INCLUDED[name]) * PER_MILLION[name], 0);
  const cpu = beyond(cpuMs * number, INCLUDED.cpuMs) * CPU_MS_PER_MILLION;
  const objects = beyond(objectGbSeconds(month), INCLUDED.objectGbSeconds) * OBJECT_GB_SECOND_PER_MILLION;
  const gigabytes = (bytes * number * ASSUMED.monthsStored) / 1e9;
  return PLAN_DOLLARS + (counted + cpu + objects) / 1e6 + beyond(gigabytes, INCLUDED.databaseGb) * DATABASE_GB_MONTH;
}
