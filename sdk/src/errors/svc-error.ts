import type { ErrorCode } from '../generated/error-codes.ts';

/** Codes of errors that this package finds itself. */
export type ClientCode =
  /** The Idempotency-Key of the caller is malformed. Nothing was sent. */
  | 'invalid_idempotency_key'
  | 'request_timeout'
  | 'connection_failed'
  /** The answer is not the service's: a proxy's page, or a body that was cut. */
  | 'unexpected_response'
  | 'webhook_signature_failed';

/** Codes of the service and of this package. Newer services may send others. */
export type SvcErrorCode = ErrorCode | ClientCode | (string & {});

/** Failure reported by the service or found by this client. Branch on `code`, never on the text. */
export class SvcError extends Error {
  readonly code: SvcErrorCode;
  /** HTTP status. 0 without an answer. */
  readonly status: number;
  readonly requestId: string | null;
  /** True if the unchanged request may succeed when sent again. A write needs the same Idempotency-Key. */
  readonly retryable: boolean;
  /** Documentation page of `code`. */
  readonly docsUrl: string;
  readonly meta: Record<string, unknown>;
  readonly headers: Headers;
  /** True if any attempt may have succeeded although its answer was lost. */
  readonly isAmbiguous: boolean;

  constructor(code: SvcErrorCode, message: string, facts: Partial<Omit<SvcError, 'code' | 'message'>> = {}) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = 'SvcError';
    this.code = code;
    this.status = facts.status ?? 0;
    this.requestId = facts.requestId ?? null;
    this.retryable = facts.retryable ?? false;
    this.docsUrl = facts.docsUrl ?? '';
    this.meta = facts.meta ?? {};
    this.headers = facts.headers ?? new Headers();
    this.isAmbiguous = facts.isAmbiguous ?? false;
  }

  /** Retry delay requested by the service or a proxy in seconds, or null. */
  get retryAfterSeconds(): number | null {
    const value = this.headers.get('Retry-After') ?? '';
    if (/^\d{1,9}$/.test(value)) return Number(value);
    const at = value === '' ? Number.NaN : Date.parse(value);
    return Number.isNaN(at) ? null : Math.max(0, Math.ceil((at - Date.now()) / 1000));
  }
}

/** Returns true for an error of this package, and of this code if one is given. */
export function isSvcError<C extends SvcErrorCode = SvcErrorCode>(error: unknown, code?: C): error is SvcError & { readonly code: C } {
  return error instanceof SvcError && (code === undefined || error.code === code);
}

/** Returns the same error with other facts. */
export const withFacts = (error: SvcError, facts: Partial<SvcError>): SvcError =>
  new SvcError(error.code, facts.message ?? error.message, { ...error, cause: error.cause, ...facts });
