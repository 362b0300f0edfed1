import { SvcError } from '../errors/svc-error.ts';

const EXCERPT_MAX = 200;

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
    const excerpt = text.slice(0, EXCERPT_MAX);
    const message = `The answer ${status} does not come from the service: ${excerpt === '' ? 'its body is empty' : excerpt}`;
    const meta = { excerpt };
    return new SvcError('unexpected_response', message, { status, headers, requestId, isAmbiguous, meta, retryable: status >= 500 });
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
