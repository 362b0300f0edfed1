import type { Ctx } from '../context.ts';
import { SECOND } from '../core/time.ts';
import type { Claimed } from './delivery.store.ts';
import { liveSecrets, targetRules } from './endpoints.ts';
import { toEventResource } from './resource.ts';
import { type Outcome, parseRetryAfter } from './schedule.ts';
import { signatureHeaders } from './signature.ts';
import { checkTarget } from './target.ts';

const TIMEOUT_MS = 15 * SECOND;
const EXCERPT_BYTES = 4096;

/** One POST to a stranger's server: no redirect followed, no more than 4 KB read, 15 s at most. */
export async function post(ctx: Ctx, { delivery, endpoint, event }: Claimed): Promise<Outcome> {
  const startedMs = ctx.elapsedMs();
  const failed = (error: string): Outcome => ({ status: null, ms: ctx.elapsedMs() - startedMs, error, excerpt: null, retryAfterMs: null });
  // The rules may have changed since it was saved.
  const target = checkTarget(endpoint.url, targetRules(ctx));
  if (!target.ok) return failed(`refused: ${target.reason}`);
  const body = JSON.stringify(toEventResource(event));
  const { id: eventId, type: eventType } = event;
  const signable = {
    eventId,
    eventType,
    deliveryId: delivery.id,
    attempt: delivery.attempt + 1,
    body,
    signedPayload: endpoint.signedPayload,
  };
  const headers = signatureHeaders(signable, await liveSecrets(ctx, endpoint), ctx.now);
  try {
    const response = await fetch(target.value, {
      method: 'POST',
      headers,
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const excerpt = await readExcerpt(response);
    const isRedirect = response.status >= 300 && response.status < 400;
    return {
      status: response.status,
      ms: ctx.elapsedMs() - startedMs,
      error: isRedirect ? 'redirects are not followed' : null,
      excerpt,
      retryAfterMs: parseRetryAfter(response.headers.get('Retry-After'), ctx.now),
    };
  } catch (error) {
    return failed(error instanceof Error && error.name === 'TimeoutError' ? 'timeout' : 'connection failed');
  }
}

/** The beginning of an answer, for the merchant's eyes; what looks like a credential is not kept. */
async function readExcerpt(response: Response): Promise<string | null> {
  if (!response.body) return null;
  const reader = response.body.getReader();
  let text = '';
  let bytes = 0;
  const decoder = new TextDecoder();
  while (bytes < EXCERPT_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    const part = value.subarray(0, EXCERPT_BYTES - bytes);
    bytes += part.length;
    text += decoder.decode(part, { stream: true });
  }
  await reader.cancel().catch(() => undefined);
  return redact(text).slice(0, EXCERPT_BYTES) || null;
}

const redact = (text: string): string =>
  text
    .replace(/\b(whsec_|svc_live_|svc_test_|sk_|Bearer\s+|Basic\s+)[\w+/=.-]{6,}/gi, '$1[redacted]')
    .replace(/("?(?:password|secret|token|api_?key|authorization|cookie)"?\s*[:=]\s*"?)[^"\s,;}&]{3,}/gi, '$1[redacted]');
