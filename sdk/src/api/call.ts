import type { SvcError } from '../errors/svc-error.ts';
import type { Operation } from './operations.ts';

export interface ClientOptions {
  /** Base URL of the service, for example `https://api.example.com`. Without user, query and fragment. */
  baseUrl: string;
  /** API key (`svc_…`, server-side only) or session token. Absent: public routes only. */
  key?: string;
  fetch?: (request: Request) => Promise<Response>;
  /** Timeout per attempt in milliseconds. Default 10 000, and 30 000 for calls that wait for the chain, such as a settlement. */
  timeoutMs?: number | undefined;
  /** Timeout per attempt in milliseconds of calls that wait for the chain. Default: `timeoutMs`, or else 30 000. */
  settleTimeoutMs?: number | undefined;
  /** Maximum retries if repeating is safe. Default 2. */
  maxRetries?: number | undefined;
  /** Longest Retry-After that is waited for. A longer one is the error at once. Default 30. */
  maxRetryAfterSeconds?: number | undefined;
  /** Aborts every call of the client. */
  signal?: AbortSignal | undefined;
  /** Mode in which a session token acts. An API key has its own. */
  mode?: 'live' | 'sandbox' | undefined;
  /** Called before each attempt. Credentials are removed from the headers. A hook that fails does not decide the call. */
  onRequest?: ((request: RequestFacts) => void) | undefined;
  /** Called after each answer, refusals included. */
  onResponse?: ((response: ResponseReport) => void) | undefined;
  /** Called before the delay of a repeated attempt. */
  onRetry?: ((retry: RetryReport) => void) | undefined;
}

export interface CallOptions {
  /** Idempotency-Key of a write. Made for each call if absent. Pass your own to make your own retry safe. */
  idempotencyKey?: string | undefined;
  timeoutMs?: number | undefined;
  maxRetries?: number | undefined;
  maxRetryAfterSeconds?: number | undefined;
  /** Aborts the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  mode?: 'live' | 'sandbox' | undefined;
  /** Further headers, such as `X-Svc-Setup-Secret`. */
  headers?: Headers | Record<string, string> | undefined;
}

/** Transport facts of an answer, in its `response`, which JSON omits. */
export interface ResponseFacts {
  status: number;
  headers: Headers;
  requestId: string | null;
  /** True if an earlier attempt of the call may have succeeded. */
  isAmbiguous: boolean;
}

/** Service's answer with `replayed`: true if it repeats the stored answer of an earlier request with this Idempotency-Key. */
export type Answer<T> = T & { readonly replayed: boolean; readonly response: ResponseFacts };

export interface Call {
  operation: Operation;
  params?: Record<string, unknown> | undefined;
  /** Credential of a buyer, which replaces the client's. */
  authorization?: string | undefined;
  query?: object | undefined;
  body?: unknown;
  options?: CallOptions | undefined;
  /** Called before a repeated attempt. An answer that it returns is that of the call, and nothing is sent again. */
  beforeRepeat?: ((failure: SvcError) => Promise<unknown>) | undefined;
}

/** Request as hooks see it: credentials are removed from its headers. */
export interface RequestFacts {
  operationId: string;
  method: string;
  /** URL of the request. A token in its path is replaced by `{token}`. */
  url: string;
  headers: Headers;
  /** Number of the attempt, from 1. */
  attempt: number;
}

export interface ResponseReport extends RequestFacts {
  status: number;
  requestId: string | null;
  durationMs: number;
}

export interface RetryReport extends RequestFacts {
  /** Failure of this attempt. */
  error: SvcError;
  /** Delay before the next attempt. */
  waitMs: number;
}
