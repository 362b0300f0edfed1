import { z } from '@hono/zod-openapi';
import { routes } from '#platform/http/route.ts';
import { disownWallet } from './disown.ts';

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

export const payoutRoutes = routes('Account', 'payouts').person({
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
