import { FAULTS } from '../runtime/faults.ts';
import type { Outcome } from './run-history.ts';

const AIM = 100;

export interface Counts {
  histories: number;
  steps: number;
  passedMs: number;
  /** By way out and verb. */
  calls: Record<string, number>;
  /** By fault, and by fault and what it struck: a way out, or a verb of the service. */
  faults: Record<string, number>;
  strikes: Record<string, number>;
}

export const noCounts = (): Counts => ({ histories: 0, steps: 0, passedMs: 0, calls: {}, faults: {}, strikes: {} });

const count = (counts: Record<string, number>, name: string, by = 1): void => {
  counts[name] = (counts[name] ?? 0) + by;
};

export function addOutcome(counts: Counts, { steps, passedMs, struck, calls }: Outcome): void {
  counts.histories++;
  counts.steps += steps;
  counts.passedMs += passedMs;
  for (const [way, times] of calls) count(counts.calls, way, times);
  for (const { kind, way, invocation } of struck) {
    count(counts.faults, kind);
    count(counts.strikes, `${kind} at ${way}`);
    if (invocation !== '') count(counts.strikes, `${kind} in ${invocation}`);
  }
}

const table = (counts: Record<string, number>): string[] =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, times]) => `  ${String(times).padStart(9)}  ${name}`);

/** Describes the coverage: calls by verb, faults by kind, and how many pairs of fault and verb were met often enough. */
export function describeCoverage({ calls, faults, strikes }: Counts, { showsPairs }: { showsPairs: boolean }): string[] {
  const pairs = Object.values(strikes);
  const often = pairs.filter((times) => times >= AIM).length;
  const missing = FAULTS.filter((kind) => !faults[kind]);
  return [
    'faults that struck:',
    ...table(faults),
    ...(missing.length > 0 ? [`  never: ${missing.join(', ')}`] : []),
    `pairs of fault and verb: ${pairs.length} met, ${often} of them ${AIM} times or more`,
    ...(showsPairs ? table(strikes) : []),
    'calls by verb:',
    ...table(calls),
  ];
}
