import type { TestingResource } from '../generated/resources.ts';
import type { SandboxSession, SandboxSessionRequest } from '../generated/types.ts';
import type { CallOptions } from './call.ts';
import { sleep } from './signals.ts';

const POLL_MS = 1000;
const RUN_MS = 120_000;

export interface ScenarioRun {
  session: SandboxSession;
  events: SandboxSession['steps'];
}

/** Calls of the sandbox. */
export interface Testing extends TestingResource {
  /** Runs a scenario to its end. Returns its session and the events in order. Throws if it fails, or takes more than two minutes. */
  run(scenario: string, body?: Omit<SandboxSessionRequest, 'scenario'>, options?: CallOptions): Promise<ScenarioRun>;
}

export async function runScenario(
  { createSession, getSession }: TestingResource,
  ...[scenario, body, options]: Parameters<Testing['run']>
): Promise<ScenarioRun> {
  const signals = options?.signal ? [options.signal] : [];
  let session: SandboxSession = await createSession({ scenario, ...body }, options);
  const endsAt = Date.now() + RUN_MS;
  while (session.status === 'running') {
    if (Date.now() > endsAt) throw new Error(`sandbox session ${session.session_id} is still running`);
    await sleep(POLL_MS, signals);
    session = await getSession(session.session_id, options);
  }
  if (session.status === 'failed') throw new Error(`sandbox session ${session.session_id} failed`);
  return { session, events: session.steps.filter(({ event_id }) => event_id !== undefined) };
}
