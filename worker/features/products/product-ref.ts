import { ApiError, raise } from '#core/errors.ts';
import type { ProductId } from '#core/ids.ts';
import type { Scope } from '#platform/context.ts';
import { OwnName } from '#platform/http/bodies/own-fields.ts';
import { idOf } from '#platform/http/openapi.ts';
import { findByExternalId } from './product.ts';

export const productRef = {
  product_id: idOf<ProductId>().optional(),
  external_product_id: OwnName.optional().describe('Your own name for the product, up to 180 characters. Send this or `product_id`.'),
};
interface ProductRef {
  product_id?: ProductId;
  external_product_id?: string;
}

export type NamedProduct = { productId: ProductId } | { externalProductId: string };

/** Returns the single reference in a request. Throws 422 for both or none. */
export function namedProduct(
  { product_id: productId, external_product_id: externalProductId }: ProductRef,
  where: 'body' | 'query',
): NamedProduct {
  if (productId !== undefined && externalProductId === undefined) return { productId };
  if (externalProductId !== undefined && productId === undefined) return { externalProductId };
  const problem = { loc: [where], msg: 'Expected exactly one of product_id and external_product_id', type: 'invalid_reference' };
  throw new ApiError('validation_error', { problems: [problem] });
}

/**
 * Returns the product's id. The service's id is not checked, because every object and query carries the merchant: a foreign id finds
 * nothing.
 */
export async function resolveProductId(ctx: Scope, ref: ProductRef, where: 'body' | 'query' = 'body'): Promise<ProductId> {
  const named = namedProduct(ref, where);
  if ('productId' in named) return named.productId;
  const product = await findByExternalId(ctx, named.externalProductId);
  return product?.id ?? raise('not_found');
}
