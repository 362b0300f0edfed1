import { z } from '@hono/zod-openapi';
import { isoOrNull } from '#core/time.ts';
import { pageRequest, toPage } from '#platform/db/page.ts';
import { given, ModeQuery, PageQuery, pageOf, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { disownWallet } from './disown.ts';
import { listUsedWallets, PRODUCTS_LISTED_MAX, type UsedWallet } from './uses.store.ts';

const PayoutWalletBody = z
  .object({
    wallet_address: z.string(),
    known_since: Timestamp.optional().describe('Live mode only.'),
    used_by: z.array(
      z.object({
        type: z.enum(['account', 'rail', 'product']),
        id: z.string().optional(),
      }),
    ),
  })
  .openapi('PayoutWallet');

const toPayoutWalletResource = ({ wallet, knownSince, usedBy }: UsedWallet): z.infer<typeof PayoutWalletBody> => ({
  wallet_address: wallet,
  ...given('known_since', isoOrNull(knownSince)),
  used_by: usedBy.map(({ type, id }) => ({ type, ...given('id', id) })),
});

const DisownedBody = z
  .object({
    cleared: z.object({
      account: z.boolean(),
      rails: z.int(),
      products: z.int(),
    }),
    stopped_authorizations: z.int(),
    ended_sessions: z.int(),
  })
  .openapi('DisownedPayout');

export const payoutRoutes = routes('Account', 'payouts')
  .read({
    path: 'GET /account/payouts',
    id: 'listPayoutWallets',
    sdk: 'account.listPayoutWallets',
    summary: 'List payout wallets',
    description: `Lists payout wallets by address, each with up to ${PRODUCTS_LISTED_MAX} products.`,
    query: { ...PageQuery, ...ModeQuery },
    returns: pageOf(PayoutWalletBody, 'PayoutWalletPage'),
    answer: async ({ scope, query }) => {
      const page = pageRequest(query);
      return toPage(page, await listUsedWallets(scope, page), toPayoutWalletResource);
    },
  })
  .person({
    path: 'POST /account/payouts/disown',
    id: 'disownPayout',
    mode: 'live',
    sdk: 'account.disownPayout',
    agent: { confirm: true },
    summary: 'Disown a payout wallet',
    description:
      'Declares a live payout wallet not yours. It is removed from every setting, open sales to it end, and subscriptions that pay it are stopped. Requires a recent sign-in.',
    body: z
      .object({ wallet_address: z.string().max(64) })
      .openapi('DisownPayoutRequest', { example: { wallet_address: 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa' } }),
    returns: DisownedBody,
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, body: { wallet_address: wallet } }, storeAnswer) => disownWallet(scope, actor, wallet, storeAnswer),
    audit: ['payout.disowned'],
    present: (disowned) => disowned,
  });
