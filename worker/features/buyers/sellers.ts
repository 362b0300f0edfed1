import { z } from '@hono/zod-openapi';
import type { AccountId } from '#core/ids.ts';
import { partitionOf } from '#core/ids.ts';
import { findVerifiedDomain } from '#features/accounts/domain/store.ts';
import { findAccount } from '#features/accounts/store.ts';
import { listKnownSellers } from '#features/buyer-sign-in/store.ts';
import { inMode } from '#platform/chain/scope.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { findShardAt } from '#platform/db/directory.ts';
import { given } from '#platform/http/openapi.ts';
import type { BuyerSubject } from '#rules/access/buyers.ts';

export const SellerBody = z
  .object({
    account_id: z.uuid(),
    display_name: z.string(),
    domain: z.string().optional(),
    support_url: z.string().optional(),
  })
  .openapi('BuyerSeller');
type SellerResource = z.infer<typeof SellerBody>;

/** Seller of a buyer, in the mode that the subject opens. */
export interface Seller {
  scope: Scope;
  shown: SellerResource;
}

/** Rows that are read of each seller where several are merged. */
export const MERGED_MAX = 200;

/**
 * Lists the sellers that a subject opens. A named one is asked itself: a purchase of this minute is found there before the fold notes its
 * seller.
 */
export async function listSellers(ctx: Ctx, subject: BuyerSubject, accountId?: AccountId): Promise<Seller[]> {
  const found = await Promise.all((await listIds(ctx, subject, accountId)).map((id) => findSeller(ctx, subject, id)));
  return found.flatMap((seller) => seller ?? []);
}

async function listIds(ctx: Ctx, subject: BuyerSubject, accountId: AccountId | undefined): Promise<AccountId[]> {
  if (subject.kind !== 'customer') return accountId === undefined ? listKnownSellers(ctx, subject) : [accountId];
  return (accountId ?? subject.account_id) === subject.account_id ? [subject.account_id] : [];
}

async function findSeller(ctx: Ctx, subject: BuyerSubject, merchantId: AccountId): Promise<Seller | null> {
  const home = findShardAt(ctx, partitionOf(merchantId));
  const account = home && (await findAccount(home.db, merchantId));
  if (!account) return null;
  const scope = await inMode(home, { merchantId, livemode: subject.kind !== 'customer' || subject.livemode });
  return {
    scope,
    shown: {
      account_id: merchantId,
      display_name: account.displayName,
      ...given('domain', await findVerifiedDomain(home.db, merchantId)),
      ...given('support_url', account.merchantSettings.default_support_url ?? null),
    },
  };
}
