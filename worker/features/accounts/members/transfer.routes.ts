import { z } from '@hono/zod-openapi';
import type { AccountId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import { Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { acceptTransfer, startTransfer, withdrawTransfer } from './transfer.ts';

export const TransferBody = z
  .object({ to: z.uuid(), expires_at: Timestamp })
  .openapi('AccountTransfer', { description: 'Offer of the account to a member.' });

const TransferRequest = z
  .object({
    user_id: z
      .uuid()
      .transform((id) => id as AccountId)
      .openapi({ type: 'string' }),
  })
  .openapi('TransferRequest');

export const transferRoutes = routes('Account', 'account')
  .person({
    path: 'POST /account/transfer',
    id: 'startTransfer',
    sdk: 'members.startTransfer',
    agent: { confirm: true },
    summary: 'Offer the account to a member',
    description:
      'Offers the ownership to a member for 7 days, and replaces an earlier offer. The member needs a verified email address, and a second factor if you have one. Requires a recent sign-in.',
    body: TransferRequest,
    returns: { 202: { description: 'Offered', content: { 'application/json': { schema: TransferBody } } } },
    codes: ['not_found', 'state_conflict'],
    once: ({ scope, actor, body }, storeAnswer) => startTransfer(scope, actor, body.user_id, storeAnswer),
    audit: ['account.transfer_started'],
    present: ({ to, expiresAt }) => ({ to, expires_at: iso(expiresAt) }),
  })
  .person({
    path: 'DELETE /account/transfer',
    id: 'withdrawTransfer',
    sdk: 'members.withdrawTransfer',
    summary: 'Withdraw the offer',
    description: 'Ends the offer. Requires a recent sign-in.',
    returns: { 204: { description: 'Withdrawn' } },
    codes: ['state_conflict'],
    once: ({ scope, actor }, storeAnswer) => withdrawTransfer(scope, actor, storeAnswer),
    audit: ['account.transfer_withdrawn'],
    present: () => undefined,
  });

export const acceptTransferRoutes = routes('Account').self({
  path: 'POST /account/transfer/accept',
  id: 'acceptTransfer',
  sdk: 'members.acceptTransfer',
  agent: { confirm: true },
  idempotency: 'natural',
  summary: 'Accept the ownership',
  description:
    'Makes you the owner of the account that your token acts on. The owner of before becomes an admin. Requires a recent sign-in.',
  key: 'none',
  returns: z.object({ account_id: z.uuid(), role: z.literal('owner') }).openapi('AcceptedTransfer'),
  codes: ['not_found', 'state_conflict'],
  audit: ['account.transferred'],
  answer: async ({ ctx, actor }) => ({ account_id: await acceptTransfer(ctx, actor), role: 'owner' as const }),
});
