import type { Answer, CallOptions } from './transport.ts';
import type * as T from './types.ts';

const POLL_MS = 1000;
const RUN_MS = 120_000;

export interface ScenarioRun {
  session: T.SandboxSession;
  events: T.SandboxSession['steps'];
}

interface Calls {
  begin(body: object, o?: CallOptions): Promise<Answer<T.SandboxSession>>;
  get(sessionId: string, o?: CallOptions): Promise<Answer<T.SandboxSession>>;
}

/**
 * Runs a scenario of the sandbox and waits for its end. Throws where the session fails, or is not over within two minutes.
 */
export async function runScenario(
  calls: Calls,
  scenario: string,
  asked: Partial<T.RunScenario> = {},
  o?: CallOptions,
): Promise<ScenarioRun> {
  let session: T.SandboxSession = await calls.begin({ scenario, ...asked }, o);
  const endsAt = Date.now() + RUN_MS;
  while (session.status === 'running') {
    if (Date.now() > endsAt) throw new Error(`sandbox session ${session.session_id} is still running`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    session = await calls.get(session.session_id, o);
  }
  if (session.status === 'failed') throw new Error(`sandbox session ${session.session_id} failed`);
  return { session, events: session.steps.filter(({ event_id }) => event_id !== undefined) };
}
