import { and, desc, eq, sql } from 'drizzle-orm';
import type { Ctx, Db } from '../context.ts';
import { raise } from '../core/errors.ts';
import type { AccountId, ProductId } from '../core/ids.ts';
import { products } from '../db/commerce.ts';
import { vetoIf, type Write } from '../db/commit.ts';
import { accounts } from '../db/identity.ts';
import { countTo, type PageRequest } from '../db/page.ts';

export type Product = typeof products.$inferSelect;

const ofMerchant = (merchantId: AccountId, livemode: boolean) => and(eq(products.merchantId, merchantId), eq(products.livemode, livemode));

export const findProduct = (db: Db, merchantId: AccountId, livemode: boolean, productId: ProductId) =>
  db
    .select()
    .from(products)
    .where(and(ofMerchant(merchantId, livemode), eq(products.id, productId)))
    .get();

export async function getProduct(...args: Parameters<typeof findProduct>): Promise<Product> {
  return (await findProduct(...args)) ?? raise('not_found');
}

export async function listProducts(db: Db, merchantId: AccountId, livemode: boolean, page: PageRequest) {
  const mine = ofMerchant(merchantId, livemode);
  const rows = db
    .select()
    .from(products)
    .where(mine)
    .orderBy(desc(products.createdAt), desc(products.id))
    .limit(page.perPage)
    .offset(page.offset);
  const [items, [count]] = await db.batch([rows, countTo(db, products, mine)]);
  return { items, total: count?.total ?? 0 };
}

/** An active product and its seller, by the public slug: what a checkout begins with. */
export async function getOffer(db: Db, slug: string) {
  const offer = await db
    .select({ product: products, merchant: accounts })
    .from(products)
    .innerJoin(accounts, eq(accounts.id, products.merchantId))
    .where(and(eq(products.slug, slug), eq(products.status, 'active'), eq(accounts.status, 'active')))
    .get();
  return offer ?? raise('not_found');
}

export const countActiveProducts = (db: Db, merchantId: AccountId, livemode: boolean): Promise<number> =>
  db.$count(products, and(ofMerchant(merchantId, livemode), eq(products.status, 'active')));

export const insertProduct = (ctx: Ctx, product: Product, activeMax: number): Write[] => [
  ...(Number.isFinite(activeMax)
    ? [
        vetoIf(
          ctx,
          sql`(SELECT count(*) FROM products WHERE merchant_id = ${product.merchantId} AND livemode = ${product.livemode ? 1 : 0} AND status = 'active') >= ${activeMax}`,
        ),
      ]
    : []),
  ctx.db.insert(products).values(product),
];
