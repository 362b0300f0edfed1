import type { Answer, Failure } from '../parts/answer.ts';

/** The API as a page's browser calls it: same origin, every answer a value, no cookies but where one is asked for. */
const TIMEOUT_MS = 25_000;

/** How far this device's clock is behind the service's; a countdown by a wrong clock would be wrong. */
let skewMs = 0;
/** True once an answer or the page itself has said its business time, which a `Date` header is coarser than. */
let knowsServiceTime = false;
export const serverNow = (): number => Date.now() + skewMs;

/** Counts on the service's time from here. `now`: of an answer that has come this moment, or `agoMs` before. */
function setServiceTime(now: string | undefined, agoMs = 0): void {
  const at = Date.parse(now ?? '');
  if (Number.isNaN(at)) return;
  skewMs = at + agoMs - Date.now();
  knowsServiceTime = true;
}

/** Service time of a page that was rendered with it: the device's own clock is asked for nothing but what passed since. */
export function startServiceTime(now: string): void {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  setServiceTime(now, performance.now() - (navigation?.responseStart ?? 0));
}

interface Call {
  body?: unknown;
  /** The session of the person who calls. */
  token?: string;
  idempotencyKey?: string;
  /** In which a buyer showed who they are. */
  identitySession?: string;
  /** Keeps a cookie that the answer sets, which binds what was begun to this browser. */
  keepsCookie?: boolean;
}

const headersOf = ({ body, token, idempotencyKey, identitySession }: Call): Record<string, string> => ({
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  ...(identitySession === undefined ? {} : { 'x-svc-identity-session': identitySession }),
});

/** Calls a route. A refusal is a value too, and so is an answer that never came: code `offline`. */
export async function callApi<T>(method: 'GET' | 'POST' | 'DELETE', path: string, call: Call = {}): Promise<Answer<T>> {
  try {
    const response = await fetch(path, {
      method,
      credentials: call.keepsCookie ? 'same-origin' : 'omit',
      cache: 'no-store',
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: headersOf(call),
      ...(call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    // The header counts whole seconds; less than two of them is no skew.
    if (!Number.isNaN(date) && !knowsServiceTime) skewMs = Math.abs(date - Date.now()) > 2000 ? date - Date.now() : 0;
    if (response.status === 204) return { ok: true, value: undefined as T };
    const answer = (await response.json()) as T & { now?: string; code?: string; detail?: unknown; meta?: Failure['meta'] };
    setServiceTime(answer.now);
    if (response.ok) return { ok: true, value: answer };
    const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
    return {
      ok: false,
      status: response.status,
      code: answer.code ?? 'unknown',
      detail: typeof answer.detail === 'string' ? answer.detail : '',
      meta: answer.meta ?? {},
      retryAfterMs: Number.isFinite(retryAfter) ? retryAfter * 1000 : null,
    };
  } catch {
    return { ok: false, status: 0, code: 'offline', detail: '', meta: {}, retryAfterMs: null };
  }
}
