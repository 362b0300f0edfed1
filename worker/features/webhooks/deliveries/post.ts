import { utf8 } from '#core/encoding.ts';
import { formatErrorChain } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { checkTarget, targetRules } from '#platform/providers/target-url.ts';
import { liveSecrets, SecretUnsealError } from '../endpoints/endpoint.ts';
import { toEventResource } from '../resource.ts';
import { type Attempted, parseRetryAfter } from './schedule.ts';
import { signatureHeaders } from './signature.ts';
import type { Claimed } from './store.ts';

export const POST_MS = 15 * SECOND;
const EXCERPT_BYTES = 4096;

/** Builds headers and body of the next attempt, signed with the live secrets. Throws SecretUnsealError. */
export async function newRequest(
  ctx: Ctx,
  { delivery, endpoint, event }: Claimed,
  at: number,
): Promise<{ headers: Record<string, string>; body: string }> {
  const body = JSON.stringify(toEventResource(event, { isTest: delivery.testEvent !== null }));
  const { id: eventId, type: eventType } = event;
  const { signedPayload } = endpoint;
  const signable = { eventId, eventType, deliveryId: delivery.id, attempt: delivery.attempt + 1, body, signedPayload };
  return { headers: signatureHeaders(signable, await liveSecrets(ctx, endpoint), at), body };
}

/**
 * Sends one POST: no redirects, at most 4 KB of the answer, at most `POST_MS`. The caller has at least that much time left, so a timeout is
 * always the endpoint's.
 */
export async function postAttempt(ctx: Ctx, { delivery, endpoint, event }: Claimed): Promise<Attempted> {
  const startedMs = ctx.elapsedMs();
  const at = ctx.wallNow + startedMs;
  const failed = (error: string): Attempted => ({
    at,
    status: null,
    ms: ctx.elapsedMs() - startedMs,
    error,
    excerpt: null,
    retryAfterMs: null,
  });
  // Target rules may have changed since the URL was saved.
  const target = checkTarget(endpoint.url, targetRules(ctx));
  if (!target.ok) return failed(`refused: ${target.reason}`);
  let response: Response;
  try {
    const { headers, body } = await newRequest(ctx, { delivery, endpoint, event }, at);
    const signal = AbortSignal.timeout(POST_MS);
    response = await fetch(target.value, { method: 'POST', headers, body, redirect: 'manual', signal });
  } catch (error) {
    return failed(reasonOf(ctx, error));
  }
  const excerpt = await readExcerpt(response);
  const isRedirect = response.status >= 300 && response.status < 400;
  return {
    at,
    status: response.status,
    ms: ctx.elapsedMs() - startedMs,
    error: isRedirect ? 'redirects are not followed' : null,
    excerpt,
    retryAfterMs: parseRetryAfter(response.headers.get('Retry-After'), ctx.wallNow),
  };
}

/** Returns the merchant's error text for a missing answer. The service's own faults are logged too. */
function reasonOf(ctx: Ctx, error: unknown): string {
  if (error instanceof SecretUnsealError) {
    ctx.note(formatErrorChain(error));
    return 'signing failed';
  }
  return error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'connection failed';
}

/** Reads the start of the answer. A body that stalls or breaks off does not change the status. */
async function readExcerpt(response: Response): Promise<string | null> {
  if (!response.body) return null;
  const reader = response.body.getReader();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  try {
    while (bytes < EXCERPT_BYTES) {
      const { done, value } = await reader.read();
      if (done) break;
      parts.push(value.subarray(0, EXCERPT_BYTES - bytes));
      bytes += parts.at(-1)!.length;
    }
    await reader.cancel();
  } catch {
    // The excerpt ends with what was read so far.
  }
  const text = redact(new TextDecoder().decode(Uint8Array.from(parts.flatMap((part) => [...part]))));
  // Invalid UTF-8 grows when decoded, so the decoded text is cut again to the stored limit.
  return new TextDecoder().decode(utf8(text).subarray(0, EXCERPT_BYTES)).replace(/\uFFFD$/, '') || null;
}

const redact = (text: string): string =>
  text
    .replace(/\b(whsec_|svc_live_|svc_test_|sk_|Bearer\s+|Basic\s+)[\w+/=.-]{6,}/gi, '$1[redacted]')
    .replace(
      /("?(?:password|secret|token|api_?key|authorization|cookie)"?\s*[:=]\s*"?)(?:(?<=")[^"]{3,}|[^"\s,;}&]{3,})/gi,
      '$1[redacted]',
    );
