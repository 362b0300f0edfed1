import { formatErrorChain } from '#core/errors.ts';
import { remembered } from '#core/isolate/memory.ts';

/**
 * Canonical log line of a request, job or object commit: an allow-list of fields in JSON. Must never contain a body, header or raw path.
 */
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
  cause?: string;
  causes?: string[];
  object?: 'entitlement' | 'metered_session';
  taken?: number;
  /** Kind of object that a daily check found to differ. `subject_id` names it, `code` the difference. */
  audit?: 'payment' | 'entitlement';
  subject_id?: string;
  deferred?: string;
  /** Parked message: its queue and kind, never its content. */
  dead_letter?: { queue: string; kind: unknown };
}

/** Prefixes of notes that are counted for operators. Refusals of callers are counted by reason. */
const ABOUT = ['config', 'rpc', 'object', 'batch failed', 'row failed', 'lease', 'schema'] as const;
const REFUSALS: Record<number, string> = { 401: 'refused credential', 403: 'refused permission', 429: 'refused rate' };
const notes = remembered(() => ({
  counted: new Map<string, number>([...ABOUT, ...Object.values(REFUSALS)].map((about) => [about, 0])),
  taken: new Map<string, number>(),
}));

export const notesCounted = (): { about: string; times: number }[] => [...notes.counted].map(([about, times]) => ({ about, times }));

/** Counts of this isolate since the last call, without zeros. */
export function takeNotesCounted(): { about: string; times: number }[] {
  const { counted, taken: before } = notes;
  notes.taken = new Map(counted);
  return [...counted].map(([about, times]) => ({ about, times: times - (before.get(about) ?? 0) })).filter(({ times }) => times > 0);
}

const SAMPLED_EACH = 100;

/**
 * True for one in a hundred request ids, the same ones everywhere, so that the lines of one call are logged together. Only successes of
 * consume are sampled.
 */
export function isSampled(requestId: string): boolean {
  let hash = 0x811c9dc5;
  for (let i = 0; i < requestId.length; i++) hash = Math.imul(hash ^ requestId.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % SAMPLED_EACH === 0;
}

export function logRequest(line: LogLine): void {
  const noted = (line.notes ?? []).map((note) => ABOUT.find((prefix) => note.startsWith(`${prefix}:`)));
  // The status of a job's line is the merchant server's answer to us, not a refusal of ours.
  const refusal = line.job === undefined ? REFUSALS[line.status ?? 0] : undefined;
  for (const about of [...noted, refusal]) if (about) notes.counted.set(about, notes.counted.get(about)! + 1);
  // biome-ignore lint/suspicious/noConsole: the platform collects this line. Nothing else in the service prints.
  console.log(JSON.stringify(line));
}

/** Runs work after the answer is sent. A failure is logged on a separate line with the same ids. */
export const deferring =
  (execution: Pick<ExecutionContext, 'waitUntil'>, ids: Pick<LogLine, 'request_id' | 'cause' | 'causes'>) =>
  (work: Promise<unknown>): void =>
    execution.waitUntil(work.catch((error: unknown) => logRequest({ ...ids, deferred: formatErrorChain(error) })));
