// Public interface of products for other features.
export {
  abortIfOverProductQuota,
  findActiveListing,
  findApp,
  findByExternalId,
  findListing,
  findOrphan,
  getActiveListing,
  getActiveProductCount,
  getListing,
  getProduct,
  getSale,
  isPayable,
  type Listing,
  productExists,
  type Sale,
  saleOn,
} from './store.ts';
