// Public interface of products for other features.
export {
  abortIfOverProductQuota,
  findActiveListing,
  findApp,
  findByExternalId,
  findListing,
  findOrphan,
  findProductOwner,
  getActiveListing,
  getActiveProductCount,
  getListing,
  getProduct,
  getSale,
  isPayable,
  type Listing,
  type Sale,
  saleOn,
} from './store.ts';
