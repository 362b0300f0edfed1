import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import type { BuyerSession } from '#features/buyer-sign-in/token.ts';
import {
  AccessBody,
  BuyerSubscriptionBody,
  listSubscribed,
  readHeld,
  toAccessResource,
  toSubscriptionResource,
} from '#features/buyers/access.ts';
import { listPurchases, PurchaseBody, toPurchaseResource } from '#features/buyers/purchases.ts';
import { listSellers, SellerBody } from '#features/buyers/sellers.ts';
import { STATE_PRODUCTS_MAX } from '#features/customers/state.ts';
import type { Ctx } from '#platform/context.ts';
import { Timestamp } from '#platform/http/openapi.ts';
import { SELLERS_MAX } from '#rules/access/buyers.ts';
import { cutLists, readAll, readInTurn } from './read-all.ts';

export const BuyerExportBody = z
  .object({
    exported_at: Timestamp,
    sellers: z.array(SellerBody),
    purchases: z.array(PurchaseBody),
    access: z.array(AccessBody),
    subscriptions: z.array(BuyerSubscriptionBody),
    truncated: z.array(z.string()).describe('Lists that are cut.'),
  })
  .openapi('BuyerExport');

/** Exports what the lists of purchases, access and subscriptions show to the session. */
export async function exportBuyer(ctx: Ctx, session: BuyerSession): Promise<z.infer<typeof BuyerExportBody>> {
  const sellers = await listSellers(ctx, session.subject);
  const purchases = await readInTurn(sellers, (seller, max) =>
    readAll(
      (page) => listPurchases(session, [seller], page),
      ({ payment }) => payment.id,
      max,
    ),
  );
  const access = await readInTurn(sellers, async (seller, max) => {
    const held = (await readHeld(seller.scope, session)).map((one) => ({ seller, held: one }));
    return { rows: held.slice(0, max), isCut: held.length > max || held.length >= STATE_PRODUCTS_MAX };
  });
  const subscriptions = await readInTurn(sellers, (seller, max) =>
    readAll(
      (page) => listSubscribed(session, [seller], page),
      ({ row }) => row.id,
      max,
    ),
  );
  return {
    exported_at: iso(ctx.wallNow),
    sellers: sellers.map(({ shown }) => shown),
    purchases: purchases.rows.map((purchase) => toPurchaseResource(ctx, purchase)),
    access: access.rows.map((held) => toAccessResource(ctx, held)),
    subscriptions: subscriptions.rows.map((subscribed) => toSubscriptionResource(ctx, subscribed)),
    truncated: cutLists({ sellers: { isCut: sellers.length >= SELLERS_MAX }, purchases, access, subscriptions }),
  };
}
