import { and, eq, isNull } from 'drizzle-orm';
import type { AccountId } from '#core/ids.ts';
import type { Shard } from '#platform/context.ts';
import { accounts } from '#platform/db/tables/accounts.ts';
import { apiKeys } from '#platform/db/tables/keys.ts';
import { railSettings } from '#platform/db/tables/rails.ts';
import { webhookEndpoints } from '#platform/db/tables/webhooks.ts';

/** What a merchant has set up beside his products, in one round trip: bounded by what plans allow of each. */
export async function loadSetup({ db }: Shard, merchantId: AccountId, livemode: boolean) {
  const [[account], settings, endpoints, keys] = await db.batch([
    db
      .select({ plan: accounts.plan, planThrough: accounts.planThrough, wallet: accounts.walletAddress })
      .from(accounts)
      .where(eq(accounts.id, merchantId)),
    db
      .select()
      .from(railSettings)
      .where(and(eq(railSettings.merchantId, merchantId), eq(railSettings.livemode, livemode))),
    db
      .select({ productIds: webhookEndpoints.productIds })
      .from(webhookEndpoints)
      .where(
        and(eq(webhookEndpoints.merchantId, merchantId), eq(webhookEndpoints.livemode, livemode), eq(webhookEndpoints.status, 'enabled')),
      ),
    db
      .select({ permissions: apiKeys.permissions })
      .from(apiKeys)
      .where(and(eq(apiKeys.merchantId, merchantId), eq(apiKeys.livemode, true), isNull(apiKeys.revokedAt))),
  ]);
  return { account: account ?? null, settings, endpoints, keys };
}

export type Setup = Awaited<ReturnType<typeof loadSetup>>;
