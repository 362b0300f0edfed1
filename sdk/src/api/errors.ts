/** Failure reported by the service or found by this client. Branch on `code`, never on the text. */
export class SvcError extends Error {
  /** Stable code: the codes of the service, and `invalid_idempotency_key`, `request_timeout` and `connection_failed` of the client. */
  readonly code: string;
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

  constructor(code: string, message: string, facts: Partial<Omit<SvcError, 'code' | 'message'>> = {}) {
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

  /** Retry delay requested by the service in seconds, or null. */
  get retryAfterSeconds(): number | null {
    const value = this.headers.get('Retry-After');
    return value !== null && /^\d{1,9}$/.test(value) ? Number(value) : null;
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const firstText = (...values: unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value !== '');

function problemsOf(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return undefined;
  return detail.map((problem) => (isObject(problem) ? `${[problem.loc].flat().join('.')}: ${problem.msg}` : String(problem))).join('; ');
}

/** Builds the error of a failed answer, with the precedence in which clients read codes and texts. */
export function toSvcError(response: Response, text: string, { isAmbiguous }: { isAmbiguous: boolean }): SvcError {
  const { status, headers } = response;
  const body = parseJson(text);
  const requestId = headers.get('X-Svc-Request-Id') ?? headers.get('X-Request-Id');
  if (!isObject(body)) {
    const message = `The answer ${status} does not come from the service`;
    return new SvcError('unexpected_response', message, { status, headers, requestId, isAmbiguous, retryable: status >= 500 });
  }
  const detail = isObject(body.detail) ? body.detail : {};
  const code = firstText(detail.code, body.code, body.error) ?? 'unexpected_response';
  return new SvcError(code, firstText(detail.message, body.detail, problemsOf(body.detail), body.message, body.error) ?? code, {
    status,
    headers,
    isAmbiguous,
    requestId: firstText(body.request_id) ?? requestId,
    retryable: typeof body.retryable === 'boolean' ? body.retryable : status === 429 || status >= 500,
    docsUrl: firstText(body.docs_url) ?? '',
    meta: isObject(body.meta) ? body.meta : {},
  });
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
