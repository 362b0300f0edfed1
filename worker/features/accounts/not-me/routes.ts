import { z } from '@hono/zod-openapi';
import { iso } from '#core/time.ts';
import { globalOf } from '#platform/db/directory.ts';
import { Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { LinkBody } from '../auth/emailed-links.ts';
import { ownNameOf } from '../auth/owner-emails.ts';
import { findNotMeHome } from './link.ts';
import { disputeChange, previewDispute, UNDONE } from './undo.ts';

const Parts = z.array(z.enum(UNDONE).openapi('DisputedPart'));

export const notMeRoutes = routes('Account')
  .public({
    path: 'POST /account/not-me/preview',
    id: 'previewNotMe',
    sdk: 'account.previewNotMe',
    idempotency: 'natural',
    summary: 'Preview taking back a change',
    description: 'Returns the change that a security email reported, and what taking it back would end. Does not consume the token.',
    bucket: 'email-proof',
    body: LinkBody,
    returns: z
      .object({
        change: z.string(),
        at: Timestamp,
        account: z.string().describe('Name of the account, as buyers see it.'),
        will: Parts.describe('Parts of the account that would be taken back or end.'),
      })
      .openapi('NotMePreview'),
    codes: ['invalid_credentials', 'link_expired'],
    answer: async ({ ctx, body: { token } }) => {
      const { disputed, will } = await previewDispute(ctx, token);
      return { change: disputed.change, at: iso(disputed.at), account: ownNameOf(disputed.account), will };
    },
  })
  .public({
    path: 'POST /account/not-me',
    id: 'notMe',
    sdk: 'account.notMe',
    agent: { confirm: true },
    summary: 'Take back a change',
    description:
      'Takes back a change that a security email reported: restores the former email address, ends the access added since, all sessions and the password, and emails a link to set one. Works once, for 7 days.',
    bucket: 'email-proof',
    body: LinkBody,
    returns: z
      .object({
        undone: Parts.describe('Parts of the account that were taken back or ended.'),
        ended: z.object({
          sessions: z.int(),
          keys: z.int(),
          endpoints: z.int(),
          providers: z.int(),
          passkeys: z.int(),
          wallets: z.int(),
        }),
        next: z.literal('/reset-password').describe('Page on which the emailed link sets a new password.'),
      })
      .openapi('NotMeResult'),
    codes: ['invalid_credentials', 'link_expired', 'state_conflict'],
    audit: ['person.change_disputed'],
    shard: ({ ctx, body: { token } }) => findNotMeHome(ctx, token) ?? globalOf(ctx),
    once: ({ ctx, body: { token } }, storeAnswer) => disputeChange(ctx, token, storeAnswer),
    present: (undone) => ({ ...undone, next: '/reset-password' as const }),
    isSecret: true,
  });
