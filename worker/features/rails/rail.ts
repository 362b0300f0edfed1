import type { Fix } from '#features/products/selling/fixes.ts';
import type { Prospect } from '#features/products/selling/obstacles.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { Outlook } from './outlook.ts';
import type { Outage } from './quote.ts';

/** Current state of a sale according to node and price source. Nothing can be sold while one of them does not answer. */
export interface LiveView extends Outlook {
  /** True if the payout wallet has a token account. Null without a wallet, if none is needed, or if the node does not answer. */
  hasAccount: boolean | null;
}

/** State of a rail for all merchants. `reason` is missing only if the rail is available. */
export interface RailStatus {
  status: 'available' | 'degraded' | 'unavailable';
  reason?: string;
}

/** Calls of a rail to node and price source. Fixed facts are in its row of rules/rails.ts, and are checked first. */
export interface Rail {
  status(ctx: Ctx): Promise<RailStatus>;
  /** Returns whether a product could currently be sold without other obstacles. Never cached. */
  probe(ctx: Shard, prospect: Prospect): Promise<LiveView>;
  /** True if the product's probe repeats all checks of `status`, so that its result wins. */
  overridesStatus: boolean;
  /** Returns a warning about a price that stops no sale, or null. */
  priceWarning(product: Pick<Product, 'priceAmount'>): string | null;
}

export const AVAILABLE: RailStatus = { status: 'available' };

export const OUTAGE_FIXES: Record<Outage, Fix> = {
  rpc_unavailable: { detail: 'The Solana node does not respond. Retry in a minute.' },
  price_unavailable: {
    detail: 'The SOL price source is unavailable. Retry in a minute, or pay in the price’s own asset.',
  },
};
