import { ApiError } from '#core/errors.ts';
import type { Actor, Scope } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { abortUnlessChanged } from '#platform/db/commit.ts';
import type { StoreAnswer } from '#platform/db/once.ts';
import { requireFreshSignIn } from '#platform/http/callers.ts';
import { planPayoutEmail } from '../auth/owner-emails.ts';
import { changeAccount } from '../change-account.ts';
import { payoutChanged } from '../payout.ts';
import { disownWallets, findWalletUse } from './store.ts';

export interface Disowned {
  cleared: { account: boolean; rails: number; products: number };
  stopped_authorizations: number;
  ended_sessions: number;
}

/**
 * Declares a live payout wallet not the merchant's: it is unknown from now on, in no setting, and paid by nothing new. A transaction that a
 * buyer has signed still confirms. Repeated, it ends what was planned before and stored since. Throws 404 for a wallet that was never
 * named, 403 invalid_authorization without a recent sign-in. Source: contract 9.4, "Payout not mine".
 */
export async function disownWallet(ctx: Scope, actor: Actor, wallet: string, storeAnswer: StoreAnswer<Disowned>): Promise<Disowned> {
  let disowned: Disowned | null = null;
  await changeAccount(ctx, ctx.merchantId, async (account) => {
    const use = await findWalletUse(ctx, account.id, wallet);
    if (use.wallet === null) throw new ApiError('not_found');
    requireFreshSignIn(ctx, actor);
    const isSet = account.payoutWallet === wallet;
    disowned = {
      cleared: { account: isSet, rails: use.rails, products: use.products },
      stopped_authorizations: use.authorizations,
      ended_sessions: use.sessions,
    };
    const isRepeated = use.wallet.disownedAt !== null;
    // A checkout that was planned before the first call may have been stored after it.
    if (isRepeated) return { writes: [...disownWallets(ctx, account.id, [wallet]), ...(await storeAnswer(disowned))] };
    const tenant = { merchantId: account.id, livemode: true };
    const payout = { wallet: null, previous: wallet };
    const subject = { type: 'account', id: account.id } as const;
    return {
      values: { payoutWallet: isSet ? null : account.payoutWallet },
      events: [payoutChanged(tenant, 'person', { ...payout, subject: { ...subject, version: account.version + 1 } })],
      writes: [
        ...disownWallets(ctx, account.id, [wallet]),
        abortUnlessChanged(ctx),
        ...(await planPayoutEmail(ctx, account.id, { ...payout, paid_for: account.displayName })),
        recordAction(ctx, tenant, {
          action: 'payout.disowned',
          subject,
          before: { payout_wallet: wallet },
          after: { payout_wallet: null },
        }),
        ...(await storeAnswer(disowned)),
      ],
    };
  });
  return disowned!;
}
