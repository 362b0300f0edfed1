/**
 * Variables by which an operator says who runs a deployment, and how they are reached.
 * @module
 */

import { z } from 'zod';
import { type Variable, variableOf } from '../variable.ts';

const page = z.url({ protocol: /^https?$/ });

export const OPERATOR_VARIABLES = {
  OPERATOR_NAME: variableOf(
    z.string().min(1).max(120).optional(),
    'text',
    'who runs this deployment, on receipts, under e-mails and at the foot of every page',
    { needed: { with: 'OPERATOR_URL' } },
  ),
  OPERATOR_URL: variableOf(page.optional(), 'URL', 'where that operator is found', { needed: { with: 'OPERATOR_NAME' } }),
  OPERATOR_CONTACT: variableOf(
    z
      .string()
      .regex(/^(?:mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/)
      .optional(),
    '`mailto:` or https URL',
    'where a fault or a seller is reported: linked from every page, and `Contact` of `/.well-known/security.txt`, which is 404 without it',
  ),
  TERMS_URL: variableOf(page.optional(), 'URL', 'the terms of this deployment, linked from every page'),
  PRIVACY_URL: variableOf(page.optional(), 'URL', 'what this deployment does with data of persons, linked from every page'),
  DEMO_SLUG: variableOf(
    z
      .string()
      .regex(/^[a-z0-9-]{1,80}$/)
      .optional(),
    'slug of a product',
    'the product whose checkout page the front page shows as an example: one of your own, because buyers pay it',
  ),
  ONRAMP_URL: variableOf(
    z
      .string()
      .regex(/^https:\/\/[^\s{}]+\/?(?:[^\s{}]|\{(?:wallet|asset|amount)\})*$/)
      .optional(),
    'https URL with `{wallet}`, `{asset}` and `{amount}`',
    'where a buyer who has no USDC or SOL buys some with a card: linked from checkout pages where no wallet is found, each placeholder filled in, `{wallet}` empty while none is known',
  ),
  ALARM_URL: variableOf(
    z
      .url()
      .regex(/^(?:https:\/\/|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$))/)
      .optional(),
    'https URL, or http on this machine',
    'where trouble is posted as JSON with a `text`, as chat tools take it: fee payer low, a key of subscriptions missing, nodes away or behind, dead letters, stuck sweeps, a full database',
    { isSecret: true },
  ),
  ALARM_EMAIL: variableOf(z.email().max(254).optional(), 'address', 'who is written to of the same, where e-mails are sent'),
} satisfies Record<string, Variable>;
