/** Returns the headers of a served answer: shared caches must not store a paid answer, and browsers may read the settlement. */
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

/** Removes shared caching from the handler's directives and retains the rest. */
export function withPrivate(value: string | null | undefined): string {
  const all = (value ?? '').split(',').map((directive) => directive.trim());
  const directives = all.filter((directive) => directive !== '' && !/^(?:public$|private$|s-maxage\b|proxy-revalidate$)/i.test(directive));
  return ['private', ...directives].join(', ');
}
