import { z } from '@hono/zod-openapi';
import type { ProductId } from '#core/ids.ts';
import { OWN_NAME_MAX } from '#core/limits.ts';
import { ASSETS, parseAmount } from '#core/money.ts';
import { SEARCHED_MAX } from '#platform/db/search/named.ts';
import { OwnName } from '#platform/http/bodies/own-fields.ts';
import { CreatedRange, epochOf, idOf, OfCustomer, refuseReversed } from '#platform/http/openapi.ts';
import type { Customer } from '#rules/balance.ts';
import { originOf, RAIL_IDS } from '#rules/product-rails.ts';
import { RAILS } from '#rules/rails.ts';
import { PAYMENT } from '#rules/states.ts';
import type { PaymentFilter } from './store.ts';

const Amount = z
  .string()
  .refine((text) => parseAmount('SOL', text).ok, 'Expected a decimal with at most nine places')
  .optional();

export const FilterQuery = {
  status: z.enum(PAYMENT.states).optional().describe('Return only objects with this status.'),
  product_id: idOf<ProductId>().optional().describe('Return only objects of this product.'),
  customer_id: OfCustomer,
  customer_ref: OwnName.optional().describe('Return only objects of the customer with this reference.'),
  wallet: z.string().max(64).optional().describe('Return only payments from this wallet.'),
  tx_signature: z.string().max(100).optional().describe('Return only objects paid by this transaction.'),
  rail_id: z.enum(RAIL_IDS).optional().describe('Payment rail.'),
  asset: z.enum(ASSETS).optional().describe('Return only payments in this asset.'),
  ...CreatedRange,
  min_amount: Amount.describe('Minimum price, in whole units of its asset.'),
  max_amount: Amount.describe('Return only payments of at most this amount.'),
  q: z
    .string()
    .trim()
    .min(1)
    .max(OWN_NAME_MAX)
    .optional()
    .describe(
      `Search text: the beginning (4 characters or more) of an id, signature, wallet or email address, a whole payment identifier, a memo, or part of a customer reference or product name. Covers, as the filters of rail, asset and amount do, the ${SEARCHED_MAX.toLocaleString('en')} newest payments.`,
    ),
};

const billionths = (text: string | undefined): bigint | undefined => {
  const parsed = text === undefined ? null : parseAmount('SOL', text);
  return parsed?.ok ? parsed.value.units : undefined;
};

export const refuseReversedRanges = refuseReversed(['min_amount', 'max_amount', billionths]);

type Query = { [K in keyof typeof FilterQuery]?: z.infer<(typeof FilterQuery)[K]> };

/** Builds the filter of a query, and of the customers that it names by id. Contradicting fields match nothing. */
export function filterOf(query: Query, customers: Customer[] = []): PaymentFilter {
  const [customer, ...merged] = customers;
  const { rail_id: railId, asset } = query;
  const railAsset = railId && RAILS[railId].asset;
  return {
    status: query.status,
    productId: query.product_id,
    customerRef: query.customer_ref,
    wallet: query.wallet,
    ...(merged.length > 0
      ? { customerRef: undefined, customers }
      : customer && ('customerRef' in customer ? customer : { customerWallet: customer.walletAddress })),
    txSignature: query.tx_signature,
    q: query.q,
    createdFrom: epochOf(query.created_from),
    createdTo: epochOf(query.created_to),
    asset: asset ?? railAsset,
    origin: railId && originOf(railId),
    ...(asset && railAsset && asset !== railAsset ? { paymentId: '' } : {}),
    leastAmount: billionths(query.min_amount),
    mostAmount: billionths(query.max_amount),
  };
}
