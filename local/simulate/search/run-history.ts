import { judge } from '../book/judge.ts';
import type { SimulatedHost, SimulatedService } from '../runtime/host.ts';
import { Random } from '../runtime/random.ts';
import { play } from '../world/play.ts';
import { SETTINGS } from '../world/settings.ts';
import type { Plan } from './plan.ts';

export interface Outcome {
  plan: Plan;
  /** Violations, as sentences. Empty: none. */
  findings: string[];
  hash: string;
  steps: number;
  /** Time that passed in the history, in milliseconds. */
  passedMs: number;
  struck: SimulatedHost['struck'];
  calls: ReadonlyMap<string, number>;
  /** Most calls of a run of each sweep, and verbs that made steps between those of another on one subject. */
  trips: ReadonlyMap<string, number>;
  interleavings: ReadonlyMap<string, number>;
  /** Actions of the actors in plain words, and every step. The trace is empty unless asked for. */
  log: readonly string[];
  trace: readonly string[];
}

export async function runHistory(service: SimulatedService, plan: Plan, { isTraced = false } = {}): Promise<Outcome> {
  const { seed, size, faults, roles } = plan;
  const host = service.begin({ seed, variables: SETTINGS, faults, isTraced });
  const startedAt = host.now();
  const findings: string[] = [];
  let log: readonly string[] = [];
  try {
    const history = await play(host, new Random(seed, 'people').next, size, roles);
    log = history.log;
    findings.push(...(await judge(host, history)));
  } catch (error) {
    findings.push(`the history breaks off: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    host.end();
  }
  findings.push(...host.scheduler.problems);
  const { trace, struck, calls } = host;
  return {
    plan,
    findings,
    hash: trace.digest(),
    steps: trace.count,
    passedMs: host.now() - startedAt,
    struck,
    calls,
    trips: host.scheduler.trips,
    interleavings: host.scheduler.interleavings.counts,
    log,
    trace: trace.lines,
  };
}

/** Removes ids and numbers from a finding. Two histories show the same fault if the results are equal. */
export const kindOf = (finding: string): string =>
  finding
    .split(/\n|: \{|which has/)[0]!
    .replace(/weather-by-request-\w+/g, '#')
    .replace(/[A-Za-z0-9_-]*\d[A-Za-z0-9_-]*/g, '#')
    .replace(/[1-9A-HJ-NP-Za-km-z]{32,}/g, '#')
    .slice(0, 160);
