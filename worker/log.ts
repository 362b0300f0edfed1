/** The one canonical line of a request or job: an allow-list of fields, JSON, no body, no header, no raw path. */
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
  /** The request or run that asked for this. */
  cause?: string;
  taken?: number;
  /** What kind of thing the daily audit found to differ; `subject_id` says which, `code` how. */
  audit?: 'payment' | 'entitlement';
  subject_id?: string;
  deferred?: string;
  /** A message that is kept for a person: where it waited and what kind it is, never what it says. */
  dead_letter?: { queue: string; kind: unknown };
}

/** What notes are about, by the word they begin with: the platform counts lines, this tells an operator at a glance. */
const ABOUT = ['rpc', 'object', 'batch failed', 'row failed', 'lease', 'schema'] as const;
const counted = new Map<string, number>(ABOUT.map((about) => [about, 0]));

/** How often each was noted in this isolate. */
export const notesCounted = (): { about: string; times: number }[] => [...counted].map(([about, times]) => ({ about, times }));

export function logRequest(line: LogLine): void {
  for (const note of line.notes ?? []) {
    const about = ABOUT.find((word) => note.startsWith(`${word}:`));
    if (about) counted.set(about, counted.get(about)! + 1);
  }
  // biome-ignore lint/suspicious/noConsole: the platform collects this line; nothing else in the service prints.
  console.log(JSON.stringify(line));
}
