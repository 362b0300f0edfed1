import type { Customer } from '../generated/types.ts';
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
type Extended = { extensions?: Record<string, unknown> } | null;

/** Removes the signed receipt (extension `offer-receipt` of x402) from a PAYMENT-RESPONSE, because the receipt says that the buyer was served. */
export function withoutReceipt(paymentResponse: string): string {
  const decoded = decodedHeader<Extended>(paymentResponse);
  // An unreadable header has no receipt.
  if (!decoded) return paymentResponse;
  const { extensions, ...settled } = decoded;
  const { [RECEIPT]: _, ...others } = extensions ?? {};
  const bare = Object.keys(others).length === 0 ? settled : { ...settled, extensions: others };
  return btoa(String.fromCharCode(...new TextEncoder().encode(JSON.stringify(bare))));
}

/** Removes shared caching from the handler's directives and retains the rest. */
export function withPrivate(value: string | null | undefined): string {
  const all = (value ?? '').split(',').map((directive) => directive.trim());
  const directives = all.filter((directive) => directive !== '' && !/^(?:public$|private$|s-maxage\b|proxy-revalidate$)/i.test(directive));
  return ['private', ...directives].join(', ');
}

/** Decodes a header of x402, base64 of JSON. Returns undefined if malformed. */
export function decodedHeader<T>(header: string): T | undefined {
  try {
    return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(header), (byte) => byte.charCodeAt(0)))) as T;
  } catch {
    return undefined;
  }
}

/** True for a challenge that offers a sign-in, and for a payment that echoes one. */
export const offersSignIn = (header: string): boolean => decodedHeader<Extended>(header)?.extensions?.['sign-in-with-x'] !== undefined;

/** Returns the wallet that a SIGN-IN-WITH-X header names, proven or not. */
export const walletIn = (signIn: string): Customer => ({
  wallet_address: String(decodedHeader<{ address?: unknown } | null>(signIn)?.address),
});
