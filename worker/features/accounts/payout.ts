/**
 * Payout rule: in live mode, a wallet that the merchant has not used before needs a recent sign-in, unless it is the merchant's first one.
 * Otherwise a stolen key could redirect sales. The rule covers every product and rail.
 * @module
 */

import { z } from '@hono/zod-openapi';
import type { AccountId } from '#core/ids.ts';
import type { Actor, Scope, Shard, Tenant } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import type { Change } from '#platform/db/commit.ts';
import { isFreshSignIn, requireFreshSignIn } from '#platform/http/callers.ts';
import { given, orNull, ProductUuid } from '#platform/http/openapi.ts';
import type { NewEvent } from '#rules/events.ts';
import { planPayoutEmail } from './auth/owner-emails.ts';
import { abortIfDisowned, abortUnlessFirst, findKnownWallets, rememberWallet } from './store.ts';

export const PayoutBody = z
  .object({
    payout_wallet: orNull(z.string()).describe('New payout wallet; null: the default applies.'),
    previous: orNull(z.string()).optional().describe('Previous values of the changed fields, if known.'),
    product_id: ProductUuid.optional(),
    rail_id: z.string().optional().describe('Payment rail. GET /v1/access/rails lists them.'),
    by: z.enum(['key', 'person']),
  })
  .openapi('PayoutChange');

interface PayoutChange {
  subject: NewEvent['subject'];
  wallet: string | null;
  previous: string | null;
  paidFor: string;
  productId?: string;
  railId?: string;
}

export const wouldNeedSignIn = async (ctx: Shard, merchantId: AccountId, wallet: string): Promise<boolean> =>
  (await findKnownWallets(ctx.db, merchantId, wallet)) === 'others';

/**
 * Plans the writes of a payout change: the wallet becomes known, and the owner gets an email if the wallet is new or set for a rail. Of
 * first wallets that keys set concurrently, one is stored, and the other batches abort. Throws 403 invalid_authorization with reason
 * sign_in_required by the payout rule.
 */
export async function planPayout(ctx: Scope, actor: Actor, change: PayoutChange): Promise<Pick<Change<null>, 'events' | 'writes'>> {
  const { merchantId, livemode } = ctx;
  const { wallet, previous, paidFor } = change;
  const events = [payoutChanged(ctx, actor.via === 'key' ? 'key' : 'person', change)];
  const entry = recordAction(ctx, ctx, {
    action: 'payout.changed',
    subject: change.railId === undefined ? { type: 'product', id: change.subject.id } : { type: 'rail', id: change.railId },
    before: { payout_wallet: previous },
    after: { payout_wallet: wallet },
  });
  // The steps of a sandbox session are no actions of the merchant.
  const entries = ctx.sandbox?.sessionId ? [] : [entry];
  if (!livemode) return { events, writes: entries };
  const known = wallet === null ? 'this_one' : await findKnownWallets(ctx.db, merchantId, wallet);
  if (known === 'others') requireFreshSignIn(ctx, actor);
  // A product paid to a wallet already in use sends no email: frequent emails would teach owners to ignore them.
  const isEmailed = known !== 'this_one' || change.railId !== undefined;
  const emails = isEmailed ? await planPayoutEmail(ctx, merchantId, { wallet, previous, paid_for: paidFor }) : [];
  if (wallet === null) return { events, writes: [...emails, ...entries] };
  if (known === 'this_one') return { events, writes: [abortIfDisowned(ctx, merchantId, wallet), ...emails, ...entries] };
  const guards = isFreshSignIn(ctx, actor) ? [] : [abortUnlessFirst(ctx, merchantId, wallet)];
  return { events, writes: [...guards, rememberWallet(ctx, merchantId, wallet), ...emails, ...entries] };
}

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

export const payoutChanged = (
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
