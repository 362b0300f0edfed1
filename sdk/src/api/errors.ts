import { SvcError } from '../errors/svc-error.ts';

const EXCERPT_MAX = 200;
/** Refusals while an earlier request with the key is not decided, which may still succeed. */
export const UNDECIDED = ['idempotency_in_progress', 'idempotency_race'];

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);
const firstText = (...values: unknown[]): string | undefined =>
  values.find((value): value is string => typeof value === 'string' && value !== '');

function problemsOf(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return undefined;
  return detail.map((problem) => (isObject(problem) ? `${[problem.loc].flat().join('.')}: ${problem.msg}` : String(problem))).join('; ');
}

/** Builds the error of a failed answer, with the precedence in which clients read codes and texts. */
export function toSvcError(response: Response, text: string): SvcError {
  const { status, headers } = response;
  const body = parseJson(text);
  const requestId = headers.get('X-Svc-Request-Id') ?? headers.get('X-Request-Id');
  if (!isObject(body)) {
    const excerpt = text.slice(0, EXCERPT_MAX);
    const message = `The answer ${status} does not come from the service: ${excerpt === '' ? 'its body is empty' : excerpt}`;
    const meta = { excerpt };
    const facts = { status, headers, requestId, meta, retryable: status >= 500, isAmbiguous: true };
    return new SvcError('unexpected_response', message, facts);
  }
  const detail = isObject(body.detail) ? body.detail : {};
  const code = firstText(detail.code, body.code, body.error) ?? 'unexpected_response';
  return new SvcError(code, firstText(detail.message, body.detail, problemsOf(body.detail), body.message, body.error) ?? code, {
    status,
    headers,
    // A failing server may have acted, and so may one behind a proxy that answered. Other refusals of the service changed nothing.
    isAmbiguous: status >= 500 || code === 'unexpected_response' || UNDECIDED.includes(code),
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
