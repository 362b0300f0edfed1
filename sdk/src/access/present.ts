import type { Challenge, Refusal } from './refusals.ts';

/** Formats a refusal: a page for browsers that accept HTML, JSON with the same facts otherwise. */
export function present({ body, headers }: Refusal, accept: string | null | undefined): { body: string; headers: Record<string, string> } {
  const isPage = /\btext\/html\b/i.test(accept ?? '');
  const type = isPage ? 'text/html; charset=utf-8' : 'application/json';
  const policy: Record<string, string> = isPage ? { 'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'" } : {};
  return {
    body: isPage ? pageOf(body) : JSON.stringify(body),
    headers: { ...headers, ...policy, 'Content-Type': type, Vary: 'Accept', 'X-Content-Type-Options': 'nosniff' },
  };
}

/** Returns the refusal as a web response. */
export function refusalResponse(refusal: Refusal, accept: string | null | undefined): Response {
  const { body, headers } = present(refusal, accept);
  return new Response(body, { status: refusal.status, headers });
}

const NETWORKS: Record<string, { name: string; usdc: string }> = {
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp': { name: 'Solana', usdc: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v' },
  'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1': { name: 'Solana devnet (test money)', usdc: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU' },
};
const USDC_DECIMALS = 6;

/** Formats `0.01 USDC on Solana`. Null if the challenge contains an unknown asset or network. */
function priceOf({ accepts: [first] = [] }: Challenge): string | null {
  const network = NETWORKS[first?.network ?? ''];
  if (!network || first?.asset !== network.usdc || !/^\d+$/.test(first.amount ?? '')) return null;
  const digits = first.amount!.padStart(USDC_DECIMALS + 1, '0');
  const decimals = digits.slice(-USDC_DECIMALS).replace(/0{1,4}$/, '');
  return `${digits.slice(0, -USDC_DECIMALS)}.${decimals} USDC on ${network.name}`;
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escaped = (text: string): string => text.replace(/[&<>"']/g, (one) => ENTITIES[one]!);

const STYLE =
  ':root{color-scheme:light dark}body{font:1rem/1.6 system-ui,sans-serif;max-width:36rem;margin:4rem auto;padding:0 1.25rem;overflow-wrap:anywhere}';

function pageOf({ code, detail, payment_required }: Refusal['body']): string {
  const challenge = payment_required as Challenge | undefined;
  const price = challenge && priceOf(challenge);
  const what = challenge?.resource?.description ?? challenge?.resource?.url;
  const title = challenge ? 'This has a price' : 'This was not served';
  const words = challenge
    ? [
        `${price ? `It costs <strong>${escaped(price)}</strong>` : 'It has to be paid for'}${what ? `: ${escaped(what)}` : ''}.`,
        'This address is made for programs. One that speaks <a href="https://www.x402.org" rel="noreferrer">x402</a> pays by itself and gets the answer at once: nothing was charged for looking.',
        'If you expected a page here, ask whoever gave you the link for the address that people use.',
      ]
    : [escaped(detail)];
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex"><title>${title}</title><style>${STYLE}</style></head><body><main><h1>${title}</h1>${words
    .map((one) => `<p>${one}</p>`)
    .join('')}<p><small><code>${escaped(code)}</code></small></p></main></body></html>`;
}
