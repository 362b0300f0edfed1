// What other features may use of products goes through here.
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
