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
  deferred?: string;
  dead_letter?: unknown;
}

export function logRequest(line: LogLine): void {
  // biome-ignore lint/suspicious/noConsole: the platform collects this line; nothing else in the service prints.
  console.log(JSON.stringify(line));
}
