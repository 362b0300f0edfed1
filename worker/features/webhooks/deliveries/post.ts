import { utf8 } from '#core/encoding.ts';
import { storyOf } from '#core/errors.ts';
import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { checkTarget, targetRules } from '#platform/providers/target-url.ts';
import { liveSecrets, SecretLost } from '../endpoints/endpoint.ts';
import { toEventResource } from '../resource.ts';
import { type AttemptOutcome, parseRetryAfter } from './schedule.ts';
import { signatureHeaders } from './signature.ts';
import type { Claimed } from './store.ts';

/** How long a stranger's server may take for its answer. */
export const POST_MS = 15 * SECOND;
const EXCERPT_BYTES = 4096;

/**
 * One POST to a stranger's server: no redirect followed, no more than 4 KB read, `POST_MS` at most. Its caller has that much left, so that a
 * timeout is always the server's own.
 */
export async function postAttempt(ctx: Ctx, { delivery, endpoint, event }: Claimed): Promise<AttemptOutcome> {
  const startedMs = ctx.elapsedMs();
  const failed = (error: string): AttemptOutcome => ({
    status: null,
    ms: ctx.elapsedMs() - startedMs,
    error,
    excerpt: null,
    retryAfterMs: null,
  });
  // The rules may have changed since it was saved.
  const target = checkTarget(endpoint.url, targetRules(ctx));
  if (!target.ok) return failed(`refused: ${target.reason}`);
  const body = JSON.stringify(toEventResource(event, { isTest: delivery.testEvent !== null }));
  const { id: eventId, type: eventType } = event;
  const signable = {
    eventId,
    eventType,
    deliveryId: delivery.id,
    attempt: delivery.attempt + 1,
    body,
    signedPayload: endpoint.signedPayload,
  };
  let response: Response;
  try {
    const headers = signatureHeaders(signable, await liveSecrets(ctx, endpoint), ctx.wallNow);
    const signal = AbortSignal.timeout(POST_MS);
    response = await fetch(target.value, { method: 'POST', headers, body, redirect: 'manual', signal });
  } catch (error) {
    return failed(reasonOf(ctx, error));
  }
  const excerpt = await readExcerpt(response);
  const isRedirect = response.status >= 300 && response.status < 400;
  return {
    status: response.status,
    ms: ctx.elapsedMs() - startedMs,
    error: isRedirect ? 'redirects are not followed' : null,
    excerpt,
    retryAfterMs: parseRetryAfter(response.headers.get('Retry-After'), ctx.wallNow),
  };
}

/** Why there is no answer, in words for the merchant; what is our own fault is told to us too. */
function reasonOf(ctx: Ctx, error: unknown): string {
  if (error instanceof SecretLost) {
    ctx.note(storyOf(error));
    return 'signing failed';
  }
  return error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'connection failed';
}

/** The beginning of an answer, for the merchant's eyes: a body that stalls or breaks off does not undo the status before it. */
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
    // What was read so far is what there is to show.
  }
  const text = redact(new TextDecoder().decode(Uint8Array.from(parts.flatMap((part) => [...part]))));
  // Bytes that are no text grow as they are decoded, and what is stored has a limit all the same.
  return new TextDecoder().decode(utf8(text).subarray(0, EXCERPT_BYTES)).replace(/\uFFFD$/, '') || null;
}

const redact = (text: string): string =>
  text
    .replace(/\b(whsec_|svc_live_|svc_test_|sk_|Bearer\s+|Basic\s+)[\w+/=.-]{6,}/gi, '$1[redacted]')
    .replace(
      /("?(?:password|secret|token|api_?key|authorization|cookie)"?\s*[:=]\s*"?)(?:(?<=")[^"]{3,}|[^"\s,;}&]{3,})/gi,
      '$1[redacted]',
    );
