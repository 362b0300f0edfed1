/**
 * The payout rule: in live mode a wallet that the merchant was never set to be paid on needs a person who just signed in, as soon as
 * there is any other. A stolen key must not be able to send the next sale elsewhere, whichever product, rail or name it goes through.
 * The very first wallet is free, and so is one that is known.
 * @module
 */

import { z } from '@hono/zod-openapi';
import type { AccountId } from '#core/ids.ts';
import type { Actor, Scope, Shard, Tenant } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import { isFreshSignIn, requireFreshSignIn } from '#platform/http/callers.ts';
import { given, orNull, ProductUuid } from '#platform/http/openapi.ts';
import type { NewEvent } from '#rules/events.ts';
import { planPayoutEmail } from './auth/owner-emails.ts';
import { abortUnlessFirst, findKnownWallets, rememberWallet } from './store.ts';

export const PayoutBody = z
  .object({
    payout_wallet: orNull(z.string()).describe('New payout wallet; null: the default applies.'),
    previous: orNull(z.string()).optional().describe('Previous values of the changed fields, if known.'),
    product_id: ProductUuid.optional(),
    rail_id: z.string().optional().describe('Payment rail. GET /v1/access/rails lists them.'),
    by: z.enum(['key', 'person']).describe('Author of the change.'),
  })
  .openapi('PayoutChange');

interface PayoutChange {
  /** What pays out there: a product, a rail, or the account itself. */
  subject: NewEvent['subject'];
  wallet: string | null;
  previous: string | null;
  /** Name of the product or rail, for the owner's email. */
  paidFor: string;
  productId?: string;
  railId?: string;
}

/** True where naming this wallet for live payments would need a person who just signed in. Refuses nothing. */
export const wouldNeedSignIn = async (ctx: Shard, merchantId: AccountId, wallet: string): Promise<boolean> =>
  (await findKnownWallets(ctx.db, merchantId, wallet)) === 'others';

/**
 * What belongs into the batch of every change of what is paid: the wallet becomes known, and the owner gets an email where it was not
 * before, or where it is a default. Of several first wallets named at once by keys one is stored; the batches of the others fail, and
 * planned again they are refused. 403 sign_in_required by the payout rule.
 */
export async function planPayout(ctx: Scope, actor: Actor, change: PayoutChange): Promise<Pick<Change<null>, 'events' | 'writes'>> {
  const { merchantId, livemode } = ctx;
  const { wallet, previous, paidFor } = change;
  const events = [payoutChanged(ctx, actor.via === 'key' ? 'key' : 'person', change)];
  if (!livemode) return { events, writes: [] };
  const known = wallet === null ? 'this_one' : await findKnownWallets(ctx.db, merchantId, wallet);
  if (known === 'others') requireFreshSignIn(ctx, actor);
  // A product that is paid to a wallet in use changes nothing an owner must hear of: an email for each would teach them to ignore all.
  const isEmailed = known !== 'this_one' || change.railId !== undefined;
  const emails = isEmailed ? await planPayoutEmail(ctx, merchantId, { wallet, previous, paid_for: paidFor }) : [];
  if (wallet === null || known === 'this_one') return { events, writes: emails };
  const guards = isFreshSignIn(ctx, actor) ? [] : [abortUnlessFirst(ctx, merchantId, wallet)];
  return { events, writes: [...guards, rememberWallet(ctx, merchantId, wallet), ...emails] };
}

/** The wallet of a new account, which its person has just signed in with. */
export const planAccountPayout = (ctx: Shard, merchantId: AccountId, wallet: string): Pick<Change<null>, 'events' | 'writes'> => ({
  events: [
    payoutChanged({ merchantId, livemode: true }, 'person', {
      subject: { type: 'account', id: merchantId, version: 1 },
      wallet,
      previous: null,
    }),
  ],
  writes: [rememberWallet(ctx, merchantId, wallet)],
});

const payoutChanged = (
  { merchantId, livemode }: Tenant,
  by: 'key' | 'person',
  { subject, wallet, previous, productId, railId }: Omit<PayoutChange, 'paidFor'>,
): NewEvent => ({
  merchantId,
  livemode,
  type: 'payout.changed',
  subject,
  object: {
    payout_wallet: wallet,
    ...given('previous', previous),
    ...given('product_id', productId ?? null),
    ...given('rail_id', railId ?? null),
    by,
  } satisfies z.infer<typeof PayoutBody>,
  previous: { payout_wallet: previous },
  ...given('productId', productId ?? null),
});
