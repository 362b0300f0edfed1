import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { ProbeRequest } from '#rules/catalogue/listing.ts';
import { checkTarget, targetRules } from './target-url.ts';

const PROBE_MS = 10 * SECOND;
const USER_AGENT = 'svc-catalogue/1';

export type SeenAnswer = { status: number; paymentRequired: string | null } | { failed: string };

/**
 * Asks a merchant's URL as an agent without payment does: one request, no redirect, no cookie, no credential. Reads no body, because the
 * challenge is in a header. `failed`: why there is no answer.
 */
export async function probeShop(ctx: Ctx, { method, url, body, contentType }: ProbeRequest): Promise<SeenAnswer> {
  const target = checkTarget(url, { ...targetRules(ctx), isShop: true });
  if (!target.ok) return { failed: `the address is refused: ${target.reason}` };
  try {
    const response = await fetch(target.value, {
      method,
      ...(body === undefined ? {} : { body }),
      headers: { 'user-agent': USER_AGENT, accept: 'application/json', ...(contentType ? { 'content-type': contentType } : {}) },
      redirect: 'manual',
      signal: AbortSignal.timeout(Math.min(PROBE_MS, ctx.leftMs())),
    });
    await response.body?.cancel();
    return { status: response.status, paymentRequired: response.headers.get('PAYMENT-REQUIRED') };
  } catch (error) {
    return { failed: error instanceof Error && error.name === 'TimeoutError' ? 'no answer within 10 seconds' : 'the connection failed' };
  }
}
