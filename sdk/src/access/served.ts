import type { StoredAnswer } from '../responses/responses.ts';

/**
 * Returns the headers of an answer: shared caches must not store a paid answer, and browsers may read the settlement. `hasFailed`: the use
 * was given back, so that the settlement has no receipt.
 */
export function servedHeaders(
  present: { get(name: string): string | null },
  paymentResponse: string | null,
  hasFailed = false,
): Record<string, string> {
  const cacheControl = withPrivate(present.get('Cache-Control'));
  if (paymentResponse === null) return { 'Cache-Control': cacheControl };
  const exposed = present.get('Access-Control-Expose-Headers');
  const isExposed = exposed !== null && /(?:^|,)\s*(?:\*|payment-response)\s*(?:,|$)/i.test(exposed);
  return {
    'Cache-Control': cacheControl,
    'PAYMENT-RESPONSE': hasFailed ? withoutReceipt(paymentResponse) : paymentResponse,
    ...(isExposed ? {} : { 'Access-Control-Expose-Headers': exposed ? `${exposed}, PAYMENT-RESPONSE` : 'PAYMENT-RESPONSE' }),
  };
}

/** Builds the answer of a request that was paid for and answered before. */
export const replayedAnswer = ({ status, headers, paymentResponse, body }: StoredAnswer) => ({
  status,
  headers: { ...servedHeaders({ get: () => null }, paymentResponse), ...headers, 'Idempotent-Replayed': 'true' },
  body,
});

const RECEIPT = 'offer-receipt';

/** Removes the signed receipt (extension `offer-receipt` of x402) from a PAYMENT-RESPONSE, because the receipt says that the buyer was served. */
export function withoutReceipt(paymentResponse: string): string {
  try {
    const bytes = Uint8Array.from(atob(paymentResponse), (char) => char.charCodeAt(0));
    const { extensions, ...settled } = JSON.parse(new TextDecoder().decode(bytes)) as { extensions?: Record<string, unknown> };
    const { [RECEIPT]: _, ...others } = extensions ?? {};
    const bare = Object.keys(others).length === 0 ? settled : { ...settled, extensions: others };
    return btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(bare))));
  } catch {
    // An unreadable header has no receipt.
    return paymentResponse;
  }
}

/** Removes shared caching from the handler's directives and retains the rest. */
export function withPrivate(value: string | null | undefined): string {
  const all = (value ?? '').split(',').map((directive) => directive.trim());
  const directives = all.filter((directive) => directive !== '' && !/^(?:public$|private$|s-maxage\b|proxy-revalidate$)/i.test(directive));
  return ['private', ...directives].join(', ');
}
