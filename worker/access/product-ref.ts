import { z } from '@hono/zod-openapi';
import type { Actor, Ctx } from '../context.ts';
import { ApiError, raise } from '../core/errors.ts';
import type { AccountId, ProductId } from '../core/ids.ts';
import { findByExternalId } from '../products/product.ts';

/** How a body names a product: by our id, or by the merchant's. */
export const productRef = { product_id: z.uuid().optional(), external_product_id: z.string().min(1).max(180).optional() };
interface ProductRef {
  product_id?: string;
  external_product_id?: string;
}

/** The product's id. Ours is taken at its word, because every object and query carries the merchant: a foreign one finds nothing. */
export async function productIdOf(ctx: Ctx, actor: Actor, ref: ProductRef, where: 'body' | 'query' = 'body'): Promise<ProductId> {
  const { product_id: productId, external_product_id: externalId } = ref;
  if ((productId === undefined) === (externalId === undefined)) {
    const problem = { loc: [where], msg: 'Name exactly one of product_id and external_product_id', type: 'invalid_reference' };
    throw new ApiError('validation_error', { problems: [problem] });
  }
  if (externalId === undefined) return productId as ProductId;
  const product = await findByExternalId(ctx.db, actor.accountId as AccountId, actor.livemode, externalId);
  return product?.id ?? raise('not_found');
}
