import { z } from 'zod';
import { MAIL_PROVIDERS } from '#rules/emails.ts';
import { type Variable, variableOf } from '../variable.ts';

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
    `prices of ${plan} at the payment processor: the first is sold, and subscriptions of all of them have the plan. \`npm run admin -- billing:setup\` creates the first`,
    { needed: { with: 'PROCESSOR_API_KEY' } },
  );

export const OUTSIDE_VARIABLES = {
  GOOGLE_CLIENT_ID: variableOf(z.string().min(1).optional(), 'text', 'client id of a Google OAuth web client, for sign-in with Google', {
    needed: { with: 'GOOGLE_CLIENT_SECRET' },
  }),
  GOOGLE_CLIENT_SECRET: variableOf(z.string().min(1).optional(), 'text', 'client secret of that client', {
    needed: { with: 'GOOGLE_CLIENT_ID' },
    isSecret: true,
  }),
  GOOGLE_ISSUER: variableOf(
    outside('https://accounts.google.com'),
    OUTSIDE,
    'issuer of its id tokens, and base URL of its discovery document',
    {
      fallback: 'https://accounts.google.com',
    },
  ),
  GITHUB_CLIENT_ID: variableOf(z.string().min(1).optional(), 'text', 'client id of a GitHub OAuth app, for sign-in with GitHub', {
    needed: { with: 'GITHUB_CLIENT_SECRET' },
  }),
  GITHUB_CLIENT_SECRET: variableOf(z.string().min(1).optional(), 'text', 'client secret of that app', {
    needed: { with: 'GITHUB_CLIENT_ID' },
    isSecret: true,
  }),
  GITHUB_URL: variableOf(outside('https://github.com'), OUTSIDE, 'base URL of GitHub’s sign-in', { fallback: 'https://github.com' }),
  GITHUB_API_URL: variableOf(outside('https://api.github.com'), OUTSIDE, 'base URL of GitHub’s API', {
    fallback: 'https://api.github.com',
  }),
  PROCESSOR_API_KEY: variableOf(z.string().min(1).optional(), 'text', 'Stripe secret key, for plans paid by card', {
    needed: { with: 'PROCESSOR_WEBHOOK_SECRETS' },
    isSecret: true,
  }),
  PROCESSOR_API_URL: variableOf(outside('https://api.stripe.com'), OUTSIDE, 'base URL of Stripe’s API', {
    fallback: 'https://api.stripe.com',
  }),
  PROCESSOR_WEBHOOK_SECRETS: variableOf(
    processorSecrets.optional(),
    'one or more of 16+ characters, comma-separated',
    'signing secrets of its webhook endpoint. Any of them is accepted',
    { needed: { with: 'PROCESSOR_API_KEY' }, isSecret: true },
  ),
  PROCESSOR_PRICE_STARTER: priceOf('starter'),
  PROCESSOR_PRICE_GROWTH: priceOf('growth'),
  PROCESSOR_PRICE_SCALE: priceOf('scale'),
  PROCESSOR_PORTAL_CONFIGURATION: variableOf(
    z.string().min(1).optional(),
    'text',
    'id of the portal configuration, in which a plan is changed and cancelled. `npm run admin -- billing:setup` creates it. Defaults to that of the processor’s dashboard',
  ),
  TELEGRAM_BOT_TOKEN: variableOf(
    z
      .string()
      .regex(/^\d{3,20}:[\w-]{10,80}$/)
      .optional(),
    'token of a bot',
    'token of the Telegram bot that invites and removes members. Without it Telegram delivery is unavailable',
    { isSecret: true },
  ),
  TELEGRAM_API_URL: variableOf(outside('https://api.telegram.org'), OUTSIDE, 'base URL of the Bot API', {
    fallback: 'https://api.telegram.org',
  }),
  DISCORD_BOT_TOKEN: variableOf(
    z
      .string()
      .regex(/^[\w.-]{10,200}$/)
      .optional(),
    'token of a bot',
    'token of the Discord bot that grants and revokes roles. Without it Discord delivery is unavailable',
    { isSecret: true },
  ),
  DISCORD_API_URL: variableOf(outside('https://discord.com/api/v10'), OUTSIDE, 'base URL of Discord’s API, with the version', {
    fallback: 'https://discord.com/api/v10',
  }),
  DELIVERY_RETRY_SECONDS: variableOf(
    z
      .string()
      .regex(/^\d{1,6}(,\d{1,6})*$/)
      .default('60,300,1800,7200,43200'),
    'seconds, comma-separated',
    'delays before retries of a failed membership delivery. After the last one it waits for the merchant',
    { fallback: '60,300,1800,7200,43200' },
  ),
} satisfies Record<string, Variable>;

export const MAIL_VARIABLES = {
  MAIL_PROVIDER: variableOf(
    z.enum(MAIL_PROVIDERS).optional(),
    MAIL_PROVIDERS.map((name) => `\`${name}\``).join(', '),
    'email provider: the platform’s Email Service (bind `EMAIL`), Resend, or none on a local machine, which shows emails at `/dev/mail`. Without it calls that send email return 503',
    { needed: { with: 'MAIL_FROM' } },
  ),
  MAIL_FROM: variableOf(
    z
      .string()
      .max(254)
      .regex(/^(?:[^\p{Cc}<>"]{1,100} <[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/u)
      .optional(),
    'address, or `Name <address>`',
    'sender of emails: an address that the provider has verified',
    { needed: { with: 'MAIL_PROVIDER' } },
  ),
  RESEND_API_KEY: variableOf(z.string().min(8).optional(), 'key', 'API key of Resend', { isSecret: true }),
  RESEND_API_URL: variableOf(outside('https://api.resend.com'), 'URL', 'base URL of Resend’s API', {
    fallback: 'https://api.resend.com',
  }),
  RESEND_WEBHOOK_SECRET: variableOf(
    z
      .string()
      .regex(/^whsec_[A-Za-z0-9+/=]{20,}$/)
      .optional(),
    '`whsec_…`',
    'secret of Resend’s webhook to `/v1/integrations/mail/webhooks/resend`, which reports bounced addresses. Without it bounces are not recorded',
    { isSecret: true },
  ),
  MAIL_PER_SECOND: variableOf(
    z.coerce.number().int().min(1).max(1000).optional(),
    '1–1000',
    'queued emails sent per second. Defaults to 5 with Resend and 10 with the Email Service',
  ),
  MERCHANT_EMAILS_PER_DAY: variableOf(
    z.coerce.number().int().min(0).max(10_000_000).default(10_000),
    'whole number from 0',
    'maximum emails to buyers per day, for all merchants together. Further ones are not sent. Emails about an account, and those with a verification link, do not count',
    { fallback: '10000' },
  ),
  MAIL_RETRY_SECONDS: variableOf(
    z
      .string()
      .regex(/^\d{1,6}(,\d{1,6})*$/)
      .default('60,300,1800,7200,43200'),
    'seconds, comma-separated',
    'delays before retries of a failed email. After the last one the email is dropped',
    { fallback: '60,300,1800,7200,43200' },
  ),
} satisfies Record<string, Variable>;
