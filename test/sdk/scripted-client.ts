import { expect } from 'vitest';
import { type ClientOptions, createClient, SvcError } from '../../sdk/src/index.ts';

/** Answer of the scripted service, a failure of `fetch`, or no answer. */
type Scripted = Response | Error | 'silence';

/** Client of a scripted service: one entry per request, the last one for all further requests. */
export function scripted(script: Scripted[], options: Partial<ClientOptions> = {}) {
  const seen: { at: number; method: string; url: string; key: string | null; headers: Headers; body: string }[] = [];
  const client = createClient({
    baseUrl: 'https://svc.test/',
    key: 'svc_live_abc',
    timeoutMs: 200,
    fetch: async (request) => {
      const { method, url, headers } = request;
      seen.push({ at: Date.now(), method, url, key: headers.get('Idempotency-Key'), headers, body: await request.clone().text() });
      const next = script[Math.min(seen.length, script.length) - 1]!;
      if (next === 'silence') return new Promise(() => {});
      if (next instanceof Error) throw next;
      return next.clone();
    },
    ...options,
  });
  return { client, seen };
}

export const refusal = (
  status: number,
  code: string,
  extra: { retryable?: boolean; headers?: Record<string, string>; meta?: object } = {},
) =>
  Response.json(
    {
      detail: `text of ${code}`,
      code,
      request_id: 'req_12345678',
      docs_url: 'https://svc.test/docs',
      retryable: extra.retryable ?? false,
      meta: extra.meta ?? {},
    },
    { status, headers: { 'X-Svc-Request-Id': 'req_12345678', ...extra.headers } },
  );
export const unavailable = () => refusal(503, 'temporarily_unavailable', { retryable: true });
export const payment = (fields: object) => Response.json({ payment_id: 'p1', ...fields });
export const catchFailure = async (work: Promise<unknown>): Promise<SvcError> => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SvcError);
  return error as SvcError;
};
