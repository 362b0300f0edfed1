import type { Fix } from '#features/products/selling/fixes.ts';
import type { Prospect } from '#features/products/selling/obstacles.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import type { Outlook } from './outlook.ts';
import type { Outage } from './quote.ts';

/** What the node and the price source say of a sale, asked this moment. While one does not answer, nothing can be sold. */
export interface LiveView extends Outlook {
  /** Of the payout wallet's token account; null where there is no wallet, none is needed, or the node does not answer. */
  hasAccount: boolean | null;
}

/** The state of a rail for all merchants right now; `reason` is missing only where it is available. */
export interface RailStatus {
  status: 'available' | 'degraded' | 'unavailable';
  reason?: string;
}

/** What a rail asks of the node and the price source. Its fixed facts are in its row (rules/rails.ts), and are checked first. */
export interface Rail {
  /** Asked for a rail that is switched on and configured. */
  status(ctx: Ctx): Promise<RailStatus>;
  /** Whether a product could be sold this moment, once nothing else is in its way. Never answered from memory. */
  look(ctx: Shard, prospect: Prospect): Promise<LiveView>;
  /** `look` asks for one product all that `status` asks for everyone, so that what `status` says is out of date beside it. */
  looksAgain: boolean;
  /** What a merchant should know of a price although it stops no sale; null where there is nothing to say. */
  caution(product: Pick<Product, 'priceAmount'>): string | null;
}

export const AVAILABLE: RailStatus = { status: 'available' };

/** What to do while someone does not answer: only waiting helps. */
export const SILENCE: Record<Outage, Fix> = {
  rpc_unavailable: { detail: 'The Solana node does not respond. Retry in a minute.' },
  price_unavailable: {
    detail: 'The SOL price source is unavailable. Retry in a minute, or pay in the price’s own asset.',
  },
};
