/** The headers of a served answer: what a buyer paid for must not be cached for others, and a browser may read the settlement. */
export function servedHeaders(present: { get(name: string): string | null }, paymentResponse: string | null): Record<string, string> {
  const cacheControl = withPrivate(present.get('Cache-Control'));
  if (paymentResponse === null) return { 'Cache-Control': cacheControl };
  const exposed = present.get('Access-Control-Expose-Headers');
  const isExposed = exposed !== null && /(?:^|,)\s*(?:\*|payment-response)\s*(?:,|$)/i.test(exposed);
  return {
    'Cache-Control': cacheControl,
    'PAYMENT-RESPONSE': paymentResponse,
    ...(isExposed ? {} : { 'Access-Control-Expose-Headers': exposed ? `${exposed}, PAYMENT-RESPONSE` : 'PAYMENT-RESPONSE' }),
  };
}

/** Keeps what a handler said about caching, but for shared caches. */
export function withPrivate(value: string | null | undefined): string {
  const directives = (value ?? '').split(',').map((directive) => directive.trim());
  const kept = directives.filter((directive) => directive !== '' && !/^(?:public$|private$|s-maxage\b|proxy-revalidate$)/i.test(directive));
  return ['private', ...kept].join(', ');
}
