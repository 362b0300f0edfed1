/**
 * Variables of the parties outside that a deployment may work with: those who send e-mails, those who sign people in, and the payment
 * processor.
 * @module
 */

import { z } from 'zod';
import { MAIL_PROVIDERS } from '#rules/letters.ts';
import { type Variable, variableOf } from './variable.ts';

/** Of a party outside: a small world of this machine may stand in for it. */
const outside = (usual: string) =>
  z
    .url()
    .regex(/^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$))/)
    .default(usual);
const OUTSIDE = 'https URL, or http on this machine';
const processorSecrets = z.string().regex(/^[\x21-\x2b\x2d-\x7e]{16,256}(,[\x21-\x2b\x2d-\x7e]{16,256})*$/);
const priceOf = (plan: string) =>
  variableOf(
    z
      .string()
      .regex(/^[^,\s]+(,[^,\s]+)*$/)
      .optional(),
    'one or more ids, comma-separated',
    `prices of ${plan} there: the first is sold, and subscriptions of all have the plan. \`npm run admin -- billing:setup\` makes the first`,
    { needed: { with: 'PROCESSOR_API_KEY' } },
  );

export const OUTSIDE_VARIABLES = {
  GOOGLE_CLIENT_ID: variableOf(z.string().min(1).optional(), 'text', 'of an OAuth client for the web at Google: sign-in with Google', {
    needed: { with: 'GOOGLE_CLIENT_SECRET' },
  }),
  GOOGLE_CLIENT_SECRET: variableOf(z.string().min(1).optional(), 'text', 'its secret', {
    needed: { with: 'GOOGLE_CLIENT_ID' },
    isSecret: true,
  }),
  GOOGLE_ISSUER: variableOf(
    outside('https://accounts.google.com'),
    OUTSIDE,
    'who its id tokens say made them, and where its endpoints are found',
    {
      fallback: 'https://accounts.google.com',
    },
  ),
  GITHUB_CLIENT_ID: variableOf(z.string().min(1).optional(), 'text', 'of an OAuth app at GitHub: sign-in with GitHub', {
    needed: { with: 'GITHUB_CLIENT_SECRET' },
  }),
  GITHUB_CLIENT_SECRET: variableOf(z.string().min(1).optional(), 'text', 'its secret', {
    needed: { with: 'GITHUB_CLIENT_ID' },
    isSecret: true,
  }),
  GITHUB_URL: variableOf(outside('https://github.com'), OUTSIDE, 'where people sign in there', { fallback: 'https://github.com' }),
  GITHUB_API_URL: variableOf(outside('https://api.github.com'), OUTSIDE, 'where it says who they are', {
    fallback: 'https://api.github.com',
  }),
  PROCESSOR_API_KEY: variableOf(z.string().min(1).optional(), 'text', 'secret key at Stripe, by which plans are paid by card', {
    needed: { with: 'PROCESSOR_WEBHOOK_SECRETS' },
    isSecret: true,
  }),
  PROCESSOR_API_URL: variableOf(outside('https://api.stripe.com'), OUTSIDE, 'where its API is', { fallback: 'https://api.stripe.com' }),
  PROCESSOR_WEBHOOK_SECRETS: variableOf(
    processorSecrets.optional(),
    'one or more of 16+ characters, comma-separated',
    'signing secrets of its webhook endpoint; a signature may be made with any',
    { needed: { with: 'PROCESSOR_API_KEY' }, isSecret: true },
  ),
  PROCESSOR_PRICE_STARTER: priceOf('starter'),
  PROCESSOR_PRICE_GROWTH: priceOf('growth'),
  PROCESSOR_PRICE_SCALE: priceOf('scale'),
  PROCESSOR_PORTAL_CONFIGURATION: variableOf(
    z.string().min(1).optional(),
    'text',
    'id of the portal configuration there, in which a plan is changed and cancelled; `npm run admin -- billing:setup` makes it. Without it the default one of the dashboard',
  ),
  TELEGRAM_BOT_TOKEN: variableOf(
    z
      .string()
      .regex(/^\d{3,20}:[\w-]{10,80}$/)
      .optional(),
    'token of a bot',
    'of the bot at Telegram that invites members and takes their place away; without it nothing is delivered there',
    { isSecret: true },
  ),
  TELEGRAM_API_URL: variableOf(outside('https://api.telegram.org'), OUTSIDE, 'where its Bot API is', {
    fallback: 'https://api.telegram.org',
  }),
  DISCORD_BOT_TOKEN: variableOf(
    z
      .string()
      .regex(/^[\w.-]{10,200}$/)
      .optional(),
    'token of a bot',
    'of the bot at Discord that gives roles and takes them away; without it nothing is delivered there',
    { isSecret: true },
  ),
  DISCORD_API_URL: variableOf(outside('https://discord.com/api/v10'), OUTSIDE, 'where its API is, with the version', {
    fallback: 'https://discord.com/api/v10',
  }),
  DELIVERY_RETRY_SECONDS: variableOf(
    z
      .string()
      .regex(/^\d{1,6}(,\d{1,6})*$/)
      .default('60,300,1800,7200,43200'),
    'seconds, comma-separated',
    'how long after a failed attempt a member’s delivery is tried again; after the last it waits for its merchant',
    { fallback: '60,300,1800,7200,43200' },
  ),
} satisfies Record<string, Variable>;

/** What sends e-mails. */
export const MAIL_VARIABLES = {
  MAIL_PROVIDER: variableOf(
    z.enum(MAIL_PROVIDERS).optional(),
    MAIL_PROVIDERS.map((name) => `\`${name}\``).join(', '),
    'who sends e-mails: the platform’s Email Service (bind `EMAIL`), Resend, or nobody on a local machine, where they are read at `/dev/mail`. Without it what needs mail answers 503',
    { needed: { with: 'MAIL_FROM' } },
  ),
  MAIL_FROM: variableOf(
    z
      .string()
      .max(254)
      .regex(/^(?:[^\p{Cc}<>"]{1,100} <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u)
      .optional(),
    'address, or `Name <address>`',
    'who e-mails are from: an address that the provider lets you send from',
    { needed: { with: 'MAIL_PROVIDER' } },
  ),
  RESEND_API_KEY: variableOf(z.string().min(8).optional(), 'key', 'of Resend', { isSecret: true }),
  RESEND_API_URL: variableOf(outside('https://api.resend.com'), 'URL', 'where Resend answers', {
    fallback: 'https://api.resend.com',
  }),
  RESEND_WEBHOOK_SECRET: variableOf(
    z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/=]{20,}$/)
      .optional(),
    '`whsec_…`',
    'of Resend’s webhook to `/v1/integrations/mail/webhooks/resend`, which tells of addresses that bounce; without it they are not remembered',
    { isSecret: true },
  ),
  MAIL_PER_SECOND: variableOf(
    z.coerce.number().int().min(1).max(1000).optional(),
    '1–1000',
    'e-mails a second at which those leave that had to wait; by default what Resend allows without an agreement (5), and 10 by the Email Service',
  ),
  MERCHANT_EMAILS_PER_DAY: variableOf(
    z.coerce.number().int().min(0).max(10_000_000).default(10_000),
    'whole number from 0',
    'emails to buyers that all merchants together cause in a day; what is beyond is not sent. Emails about an account, and those with a link that proves an address, are not counted',
    { fallback: '10000' },
  ),
  MAIL_RETRY_SECONDS: variableOf(
    z
      .string()
      .regex(/^\d{1,6}(,\d{1,6})*$/)
      .default('60,300,1800,7200,43200'),
    'seconds, comma-separated',
    'how long after a failed attempt an e-mail is tried again; after the last it is given up',
    { fallback: '60,300,1800,7200,43200' },
  ),
} satisfies Record<string, Variable>;
