import { type Fix, fixOf } from '#features/products/selling/fixes.ts';
import type { Obstacle, Prospect } from '#features/products/selling/obstacles.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { ListingReason } from '#rules/catalogue/listing.ts';
import { X402_RAIL } from '#rules/rails.ts';

/** Why a resource is not in the public catalogue, and the call that changes it. */
export interface Reason {
  code: ListingReason;
  message: string;
  fix: Fix | null;
}

/** Meaning of each reason, and what to do. docs/discovery.md has the same words. */
export const REASON_TEXTS: Record<ListingReason, { message: string; fix: string | null }> = {
  sandbox: { message: 'Nothing of the sandbox is listed.', fix: 'List live products with a live key.' },
  not_opted_in: {
    message: 'The product is not to be listed.',
    fix: 'Set `discovery` of the product with `listed: true` and its routes.',
  },
  product_archived: { message: 'The product is archived.', fix: 'Unarchive the product.' },
  no_route: { message: 'The product has no routes.', fix: 'Name the routes of your shop that sell the product in `discovery.routes`.' },
  not_ready: { message: 'The product cannot be sold over x402.', fix: 'Resolve what readiness names.' },
  no_origin: { message: 'The x402 rail has no origin.', fix: 'Set `origins` of the x402 rail to where your shop answers.' },
  mcp_not_looked_at: { message: 'MCP tools are not called, so they are not listed.', fix: null },
  example_missing: {
    message: 'A parameter of the path has no example, so the route cannot be called.',
    fix: 'Add `example.path_params` to the route.',
  },
  unreachable: { message: 'The URL did not answer.', fix: 'Make it answer over https within 10 seconds, then refresh.' },
  redirected: { message: 'The URL answers with a redirect.', fix: 'Name the final path or origin, then refresh.' },
  status_not_402: {
    message: 'The URL does not answer 402 to a request without payment.',
    fix: 'Protect the route before anything else checks the request, then refresh.',
  },
  challenge_unreadable: {
    message: 'The 402 has no readable PAYMENT-REQUIRED header.',
    fix: 'Forward the header of consume unchanged, then refresh.',
  },
  challenge_not_yours: {
    message: 'The 402 asks for something other than this product.',
    fix: 'Protect the route with this product, in live mode, then refresh.',
  },
  payee_differs: { message: 'The 402 pays none of your payout wallets.', fix: 'Use a payout wallet of yours as `payTo`, then refresh.' },
  schema_invalid: {
    message: 'The extension `bazaar` of the 402 is not valid.',
    fix: 'Declare the route as the x402 reference does, then refresh.',
  },
  look_pending: { message: 'The URL is called within a minute.', fix: null },
  stale: { message: 'The latest good answer is older than 72 hours.', fix: 'Check that the URL answers 402, then refresh.' },
};

interface About {
  product?: Product | null;
  obstacle?: { name: Obstacle; prospect: Prospect };
  /** Result of a probe. */
  message?: string | null;
}

export function reasonOf(code: ListingReason, { product, obstacle, message }: About): Reason {
  const text = REASON_TEXTS[code];
  if (obstacle) {
    const fix = fixOf(obstacle.name, X402_RAIL, obstacle.prospect);
    return { code, message: `${obstacle.name}: ${fix.detail}`, fix };
  }
  return { code, message: message ?? text.message, fix: text.fix === null ? null : { detail: text.fix, ...callOf(code, product) } };
}

/** Routes of a product, because a change replaces all of them. */
const routesOf = (product: Product | null | undefined): object[] =>
  product?.discovery?.routes.length ? product.discovery.routes : [{ method: 'GET', path: '/<path of your route>' }];

function callOf(code: ListingReason, product: Product | null | undefined): Omit<Fix, 'detail'> {
  const path = `/v1/products/${product?.id ?? '{product_id}'}`;
  switch (code) {
    case 'sandbox':
      return {};
    case 'not_opted_in':
    case 'no_route':
      return {
        method: 'PATCH',
        path,
        body: { discovery: { ...product?.discovery, listed: true, routes: routesOf(product) } },
      };
    case 'product_archived':
      return { method: 'POST', path: `${path}/unarchive` };
    case 'no_origin':
      return { method: 'PUT', path: `/v1/access/rail-settings/${X402_RAIL}`, body: { origins: ['https://<host of your shop>'] } };
    case 'example_missing':
      return { method: 'PATCH', path };
    default:
      return { method: 'POST', path: '/v1/access/x402/listings/refresh' };
  }
}
