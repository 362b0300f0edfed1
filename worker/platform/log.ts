import { storyOf } from '#core/errors.ts';
import { remembered } from '#core/isolate/memory.ts';

/** The one canonical line of a request, a job or an object's commit: an allow-list of fields, JSON, no body, no header, no raw path. */
export interface LogLine {
  request_id: string;
  method?: string;
  endpoint?: string;
  status?: number;
  ms?: number;
  account_id?: string;
  key_id?: string;
  code?: string;
  notes?: string[];
  job?: string;
  sweep?: string;
  /** The request, cron or run of a sweep that this goes back to; `causes` where there may be several. */
  cause?: string;
  causes?: string[];
  /** The kind of Durable Object that wrote the line. */
  object?: 'entitlement' | 'metered_session';
  taken?: number;
  /** What kind of thing a daily check found to differ; `subject_id` says which, `code` how. */
  audit?: 'payment' | 'entitlement';
  subject_id?: string;
  deferred?: string;
  /** A message that is kept for a person: where it waited and what kind it is, never what it says. */
  dead_letter?: { queue: string; kind: unknown };
}

/**
 * What notes are about, by the word they begin with: the platform counts lines, this tells an operator at a glance. And of callers that
 * were sent away, why.
 */
const ABOUT = ['config', 'rpc', 'object', 'batch failed', 'row failed', 'lease', 'schema'] as const;
const REFUSALS: Record<number, string> = { 401: 'refused credential', 403: 'refused permission', 429: 'refused rate' };
const notes = remembered(() => ({
  counted: new Map<string, number>([...ABOUT, ...Object.values(REFUSALS)].map((about) => [about, 0])),
  taken: new Map<string, number>(),
}));

/** How often each was noted in this isolate. */
export const notesCounted = (): { about: string; times: number }[] => [...notes.counted].map(([about, times]) => ({ about, times }));

/** How often each was noted in this isolate since this was asked last; those that were not are left out. */
export function takeNotesCounted(): { about: string; times: number }[] {
  const { counted, taken: before } = notes;
  notes.taken = new Map(counted);
  return [...counted].map(([about, times]) => ({ about, times: times - (before.get(about) ?? 0) })).filter(({ times }) => times > 0);
}

export function logRequest(line: LogLine): void {
  const noted = (line.notes ?? []).map((note) => ABOUT.find((word) => note.startsWith(`${word}:`)));
  // The status of an attempt is what a merchant's server answered us.
  const refusal = line.job === undefined ? REFUSALS[line.status ?? 0] : undefined;
  for (const about of [...noted, refusal]) if (about) notes.counted.set(about, notes.counted.get(about)! + 1);
  // biome-ignore lint/suspicious/noConsole: the platform collects this line; nothing else in the service prints.
  console.log(JSON.stringify(line));
}

/** Work that goes on after the answer is out. A failure of it is a line of its own, under the ids of what began it. */
export const deferring =
  (execution: Pick<ExecutionContext, 'waitUntil'>, ids: Pick<LogLine, 'request_id' | 'cause' | 'causes'>) =>
  (work: Promise<unknown>): void =>
    execution.waitUntil(work.catch((error: unknown) => logRequest({ ...ids, deferred: storyOf(error) })));
