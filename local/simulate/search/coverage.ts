import { FAULTS } from '../runtime/faults.ts';
import type { Outcome } from './run-history.ts';
import { STRIKES, strikeAt } from './targets.ts';

const STRIKES_AIM = 100;
const INTERLEAVED_AIM = 20;
/** Trips of a sweep that the coverage counts. Later ones are rounds of the same loop. */
const TRIPS_MAX = 16;
const CUTTING: readonly string[] = ['spent', 'refused', 'lost', 'died', 'died_after'];

export interface Counts {
  histories: number;
  steps: number;
  passedMs: number;
  /** By way out and verb. */
  calls: Record<string, number>;
  /** By fault, and by fault and what it struck: a way out, or a verb of the service. */
  faults: Record<string, number>;
  strikes: Record<string, number>;
  /** Most trips of each sweep, and cuts by sweep and trip. */
  trips: Record<string, number>;
  cuts: Record<string, number>;
  /** By `verb @ await | other verb`. */
  interleavings: Record<string, number>;
}

export const noCounts = (): Counts => ({
  histories: 0,
  steps: 0,
  passedMs: 0,
  calls: {},
  faults: {},
  strikes: {},
  trips: {},
  cuts: {},
  interleavings: {},
});

const count = (counts: Record<string, number>, name: string, by = 1): void => {
  counts[name] = (counts[name] ?? 0) + by;
};

export function addOutcome(counts: Counts, { steps, passedMs, struck, calls, trips, interleavings }: Outcome): void {
  counts.histories++;
  counts.steps += steps;
  counts.passedMs += passedMs;
  for (const [way, times] of calls) count(counts.calls, way, times);
  for (const [sweep, most] of trips) counts.trips[sweep] = Math.max(counts.trips[sweep] ?? 0, Math.min(most, TRIPS_MAX));
  for (const [pair, times] of interleavings) count(counts.interleavings, pair, times);
  for (const { kind, way, invocation, trip } of struck) {
    count(counts.faults, kind);
    count(counts.strikes, strikeAt({ kind, at: way }));
    if (invocation !== '') count(counts.strikes, `${kind} in ${invocation}`);
    if (invocation.startsWith('sweep ') && CUTTING.includes(kind) && trip <= TRIPS_MAX) count(counts.cuts, `${invocation} @ ${trip}`);
  }
}

const table = (counts: Record<string, number>): string[] =>
  Object.entries(counts)
    .sort(([, a], [, b]) => b - a)
    .map(([name, times]) => `  ${String(times).padStart(9)}  ${name}`);

const atLeast = (counts: Record<string, number>, times: number): number => Object.values(counts).filter((one) => one >= times).length;

/** Cuts of a sweep by trip, without trips that no run of it makes. */
function describeCuts({ trips, cuts }: Counts): string[] {
  const possible = Object.entries(trips).flatMap(([sweep, most]) => Array.from({ length: most }, (_, trip) => `${sweep} @ ${trip + 1}`));
  const missing = possible.filter((one) => !cuts[one]);
  return [
    `trips of sweeps: ${possible.length} of ${Object.keys(trips).length} sweeps, ${possible.length - missing.length} were cut`,
    ...(missing.length > 0 && missing.length <= 40 ? [`  not cut: ${missing.join(', ')}`] : []),
  ];
}

function describeInterleavings({ interleavings }: Counts): string[] {
  const verbs: Record<string, number> = {};
  for (const [name, times] of Object.entries(interleavings)) count(verbs, name.replace(/ @ \d+/, ''), times);
  const ofVerbs = `${Object.keys(verbs).length} pairs met, ${atLeast(verbs, INTERLEAVED_AIM)} of them ${INTERLEAVED_AIM} times or more`;
  const awaits = `${Object.keys(interleavings).length} awaits, ${atLeast(interleavings, INTERLEAVED_AIM)} of them as often`;
  return [`verbs interleaved on one subject: ${ofVerbs}; at ${awaits}`];
}

/** Describes the coverage: faults by kind and by verb, sweeps by trip, interleaved verbs, and calls. */
export function describeCoverage(counts: Counts, { showsPairs }: { showsPairs: boolean }): string[] {
  const { calls, faults, strikes } = counts;
  const missing = FAULTS.filter((kind) => !faults[kind]);
  const aimed = Object.fromEntries(STRIKES.map((name) => [name, strikes[name] ?? 0]));
  const met = atLeast(aimed, 1);
  return [
    'faults that struck:',
    ...table(faults),
    ...(missing.length > 0 ? [`  never: ${missing.join(', ')}`] : []),
    `pairs of fault and verb: ${STRIKES.length} aimed at, ${met} of them met, ${atLeast(aimed, STRIKES_AIM)} met ${STRIKES_AIM} times or more`,
    `and in all: ${Object.keys(strikes).length} met, ${atLeast(strikes, STRIKES_AIM)} of them ${STRIKES_AIM} times or more`,
    ...describeCuts(counts),
    ...describeInterleavings(counts),
    ...(showsPairs ? ['pairs by fault and verb:', ...table({ ...aimed, ...strikes }), 'sweeps by trip:', ...table(counts.cuts)] : []),
    ...(showsPairs ? ['interleaved verbs:', ...table(counts.interleavings)] : []),
    'calls by verb:',
    ...table(calls),
  ];
}
