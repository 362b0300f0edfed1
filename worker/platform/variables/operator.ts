import { z } from 'zod';
import { type Variable, variableOf } from '../variable.ts';

const page = z.url({ protocol: /^https?$/ });

export const OPERATOR_VARIABLES = {
  OPERATOR_NAME: variableOf(
    z.string().min(1).max(120).optional(),
    'text',
    'operator of this deployment, shown on receipts, in emails and at the foot of every page',
    { needed: { with: 'OPERATOR_URL' } },
  ),
  OPERATOR_URL: variableOf(page.optional(), 'URL', 'URL of the operator', { needed: { with: 'OPERATOR_NAME' } }),
  OPERATOR_CONTACT: variableOf(
    z
      .string()
      .regex(/^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/)
      .optional(),
    '`mailto:` or https URL',
    'contact for reports of faults and sellers: linked from every page, and `Contact` of `/.well-known/security.txt`, which is 404 without it',
  ),
  TERMS_URL: variableOf(page.optional(), 'URL', 'terms of this deployment, linked from every page'),
  PRIVACY_URL: variableOf(page.optional(), 'URL', 'privacy policy of this deployment, linked from every page'),
  DEMO_SLUG: variableOf(
    z
      .string()
      .regex(/^[a-z0-9-]{1,80}$/)
      .optional(),
    'slug of a product',
    'product of the example checkout on the front page. Use a product of your own, because buyers can pay it',
  ),
  ONRAMP_URL: variableOf(
    z
      .string()
      .regex(/^https:\/\/[^\s{}]+\/?(?:[^\s{}]|\{(?:wallet|asset|amount)\})*$/)
      .optional(),
    'https URL with `{wallet}`, `{asset}` and `{amount}`',
    'card purchase of USDC or SOL for buyers: linked from checkout pages that find no wallet, with each placeholder filled in and `{wallet}` empty while unknown',
  ),
  ALARM_URL: variableOf(
    z
      .url()
      .regex(/^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$))/)
      .optional(),
    'https URL, or http on this machine',
    'URL for alerts, posted as JSON with a `text` as chat tools expect: low fee payer, missing subscription key, unavailable or lagging nodes, dead letters, stuck sweeps, sweeps that are behind, full database',
    { isSecret: true },
  ),
  ALARM_EMAIL: variableOf(z.email().max(254).optional(), 'address', 'recipient of the same alerts by email, if email is configured'),
} satisfies Record<string, Variable>;
