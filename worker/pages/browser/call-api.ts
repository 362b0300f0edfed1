import type { Answer, Failure } from '../parts/answer.ts';

const TIMEOUT_MS = 25_000;

/** Offset of the service's clock to this device's, so that countdowns are right on a device with a wrong clock. */
let skewMs = 0;
/** True once a page or an answer has carried `now`, which is more precise than a `Date` header. */
let knowsServiceTime = false;
export const serverNow = (): number => Date.now() + skewMs;

/** Sets the clock offset. `agoMs`: age of `now`. */
function setServiceTime(now: string | undefined, agoMs = 0): void {
  const at = Date.parse(now ?? '');
  if (Number.isNaN(at)) return;
  skewMs = at + agoMs - Date.now();
  knowsServiceTime = true;
}

/** Sets the service time from a rendered page. The device's clock measures only the time since the response. */
export function startServiceTime(now: string): void {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  setServiceTime(now, performance.now() - (navigation?.responseStart ?? 0));
}

interface Call {
  body?: unknown;
  /** Fields of a form, for a page that acts in the session of this browser. */
  form?: Record<string, string>;
  token?: string;
  idempotencyKey?: string;
  identitySession?: string;
  /** Sends and stores cookies, which bind an OAuth flow to this browser. */
  setsCookie?: boolean;
  /** Completes the call although the page is left meanwhile. */
  outlivesPage?: boolean;
}

const headersOf = ({ body, token, idempotencyKey, identitySession }: Call): Record<string, string> => ({
  ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
  ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  ...(identitySession === undefined ? {} : { 'x-svc-identity-session': identitySession }),
});

/** Calls a route of the same origin. Never throws: a network failure returns code `offline`. */
export async function callApi<T>(method: 'GET' | 'POST' | 'DELETE', path: string, call: Call = {}): Promise<Answer<T>> {
  try {
    const response = await fetch(path, {
      method,
      credentials: call.setsCookie || call.form ? 'same-origin' : 'omit',
      cache: 'no-store',
      keepalive: call.outlivesPage === true,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      headers: headersOf(call),
      ...(call.form ? { body: new URLSearchParams(call.form) } : call.body === undefined ? {} : { body: JSON.stringify(call.body) }),
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    // A `Date` header has a resolution of one second, so a difference below two seconds is ignored.
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
