import type { AccountId } from '#core/ids.ts';
import { notMeToken } from '#features/accounts/not-me/link.ts';
import { getAccount } from '#features/accounts/store.ts';
import { newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { Tenant } from '../people/tenant.ts';
import { verifyAddress } from '../servers/mail.ts';
import type { World } from '../world.ts';
import type { Made } from './made.ts';

/** Makers for calls about emailed links of persons. */
export const PEOPLE_MAKERS: [RegExp, (w: World, tenant: Tenant, name: string) => Promise<Made>][] = [[/account\/not-me/, makeDispute]];

async function makeDispute(w: World): Promise<Made> {
  const merchant = await w.merchant();
  await verifyAddress(w, merchant);
  const ctx = newCtx(w.env, { requestId: 'req_made', defer: () => {} });
  const account = await getAccount(homeOf(ctx, merchant.userId).db, merchant.userId as AccountId);
  const emailed = { change: 'password', at: ctx.wallNow } as const;
  return { handoff_token: [notMeToken(ctx, account, emailed, account.email!)] };
}
