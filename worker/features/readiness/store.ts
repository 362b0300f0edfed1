import { and, eq, gt, isNull, or } from 'drizzle-orm';
import type { Scope } from '#platform/context.ts';
import { rowsOf } from '#platform/db/page.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { webhookEndpoints } from '#platform/db/tables/webhooks.ts';

/** Loads a merchant's setup except products in one round trip. Plans limit the number of rows. */
export async function loadSetup(scope: Scope) {
  const { db, merchantId } = scope;
  const [[account], settings, endpoints, keys] = await db.batch([
    db
      .select({
        plan: accounts.plan,
        planThrough: accounts.planThrough,
        processorPlans: accounts.processorPlans,
        wallet: accounts.payoutWallet,
      })
      .from(accounts)
      .where(eq(accounts.id, merchantId)),
    db.select().from(railSettings).where(rowsOf(railSettings, scope)),
    db
      .select({ productIds: webhookEndpoints.productIds })
      .from(webhookEndpoints)
      .where(rowsOf(webhookEndpoints, scope, [[webhookEndpoints.status, 'enabled']])),
    db
      .select({ permissions: apiKeys.permissions })
      .from(apiKeys)
      .where(
        and(
          rowsOf(apiKeys, { merchantId, livemode: true }),
          isNull(apiKeys.revokedAt),
          or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, scope.now)),
        ),
      ),
  ]);
  return { account: account ?? null, settings, endpoints, keys };
}

export type Setup = Awaited<ReturnType<typeof loadSetup>>;
