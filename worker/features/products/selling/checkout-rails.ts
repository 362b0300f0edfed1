import type { Config } from '#platform/context.ts';
import { checkoutRailsOf } from '#rules/product-rails.ts';
import type { RailId } from '#rules/rails.ts';
import { type Listing, saleOn } from '../store.ts';
import { isAllowed, obstaclesOf, prospectOf } from './obstacles.ts';

/** Returns the rails of the hosted checkout that a buyer can use, without a call to another service. The default comes first. */
export const openRails = (config: Config, listing: Listing): RailId[] =>
  checkoutRailsOf(listing.product).filter((railId) => obstaclesOf(config, prospectOf(saleOn(listing, railId)), railId).length === 0);

/** Returns the rail a checkout begins with if the buyer names none. If none is open, returns the rail with the most relevant obstacles. */
export function firstCheckoutRail(config: Config, listing: Listing): RailId {
  const rails = checkoutRailsOf(listing.product);
  return openRails(config, listing)[0] ?? rails.find((railId) => isAllowed(listing, railId)) ?? rails[0]!;
}
