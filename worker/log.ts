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
  taken?: number;
  /** What kind of thing the daily audit found to differ; `subject_id` says which, `code` how. */
  audit?: 'payment' | 'entitlement';
  subject_id?: string;
  deferred?: string;
  dead_letter?: unknown;
}

export function logRequest(line: LogLine): void {
  // biome-ignore lint/suspicious/noConsole: the platform collects this line; nothing else in the service prints.
  console.log(JSON.stringify(line));
}
