export type Handler = (request: Request) => Promise<Response>;

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** Body that is sent unchanged instead of JSON. */
  raw?: string | Uint8Array<ArrayBuffer>;
}

// biome-ignore lint/suspicious/noExplicitAny: every answer is checked against the published document.
export type Body = any;

export interface Answer {
  status: number;
  headers: Headers;
  body: Body;
}

/** Service under simulation as its callers and its judge see it. */
export interface Host {
  /** Sends one request. Rejects if the connection is lost before an answer. */
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  now(): number;
  /** Moves the clock and runs the crons, alarms and messages that fall due. */
  advance(ms: number): Promise<void>;
  /** Runs until nothing is left to do at the present time. */
  settle(): Promise<void>;
  rows(sql: string, ...values: unknown[]): unknown[];
  /** Answers the service's requests to a host outside. */
  serve(hostname: string, handler: Handler): void;
  /** Published OpenAPI document of the service. */
  readonly document: object;
  /** Number of faults that have struck so far. Absent: none ever does. */
  faults?(): number;
  /** Alarms of objects, by binding and name. Absent: none is known. */
  alarms?(): { target: string; at: number }[];
  /** Ends all faults. */
  calm?(): void;
}
