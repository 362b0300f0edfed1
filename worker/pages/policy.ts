import type { Ctx } from '#platform/context.ts';

/** What a hosted page may do: run our one script, ask our own API, show https images. Anything else the browser refuses. */
export interface PagePolicy {
  nonce: string;
  /** Local development only: the node of the demo wallet. */
  alsoConnectTo: string | null;
  /** A form that asks for this page, or another of ours, with what was typed. No page sends a form anywhere else. */
  hasForm?: boolean;
  /** Who may show the page in a frame, as the policy spells it. */
  frameAncestors: string;
}

const policyOf = ({ nonce, alsoConnectTo, hasForm = false, frameAncestors }: PagePolicy): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "img-src 'self' https: data:",
    `connect-src 'self'${alsoConnectTo === null ? '' : ` ${alsoConnectTo}`}`,
    "base-uri 'none'",
    `form-action ${hasForm ? "'self'" : "'none'"}`,
    `frame-ancestors ${frameAncestors}`,
  ].join('; ');

export function pageHeaders(ctx: Ctx, policy: PagePolicy): Record<string, string> {
  const isSecure = ctx.baseUrl.startsWith('https:');
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policyOf(policy),
    ...(policy.frameAncestors === "'none'" ? { 'X-Frame-Options': 'DENY' } : {}),
    // Wallets open windows of their own; a page that opens ours may not reach into it.
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=(), payment=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept-Language, User-Agent',
    ...(isSecure ? { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } : {}),
  };
}
