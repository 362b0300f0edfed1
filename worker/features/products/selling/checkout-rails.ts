import type { Config } from '#platform/context.ts';
import { checkoutRailsOf } from '#rules/product-rails.ts';
import type { RailId } from '#rules/rails.ts';
import { type Listing, saleOn } from '../store.ts';
import { isAllowed, obstaclesOf, prospectOf } from './obstacles.ts';

/**
 * The rails of the hosted checkout that a buyer can pay over, as far as can be told without a call to another service, and the one to
 * begin with first.
 */
export const openRails = (config: Config, listing: Listing): RailId[] =>
  checkoutRailsOf(listing.product).filter((railId) => obstaclesOf(config, prospectOf(saleOn(listing, railId)), railId).length === 0);

/** The rail a checkout begins with where the buyer names none. Where none is open: the one whose obstacles are worth saying. */
export function firstCheckoutRail(config: Config, listing: Listing): RailId {
  const rails = checkoutRailsOf(listing.product);
  return openRails(config, listing)[0] ?? rails.find((railId) => isAllowed(listing, railId)) ?? rails[0]!;
}
