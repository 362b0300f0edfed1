/**
 * Structure of a manifest. Content errors are left to the evaluation, which suggests fixes. Unknown fields are refused, so that a misspelt
 * limit is never taken for no limit.
 * @module
 */

import { z } from '@hono/zod-openapi';
import { OWN_NAME_MAX } from '#core/limits.ts';
import { DiscoveryInput } from '#platform/http/bodies/discovery.ts';
import { DecimalAmount, OwnName, ShownName } from '#platform/http/bodies/own-fields.ts';
import { X402_RAIL } from '#rules/rails.ts';

const Amount = z
  .object({
    asset: z.string().max(16).describe('Asset: `USDC` or `SOL`.'),
    amount: DecimalAmount,
  })
  .openapi('ManifestAmount');
const Url = z.string().min(1).max(2048).describe('Public https URL. The service never fetches it.');

const ManifestProduct = z.object({
  external_product_id: OwnName.optional().describe('Your own name for the product, up to 180 characters. Send this or `product_id`.'),
  name: ShownName(160).describe('Name of the product, as buyers see it.'),
  description: z.string().max(2000).optional().describe('Description of the product, as buyers see it.'),
  price: Amount,
  max_per_payer_per_day: Amount.optional().describe('Most USDC that one payer may pay for this product by x402 in one day (UTC).'),
  usage_units: z
    .number()
    .int()
    .min(1)
    .max(1_000_000_000)
    .optional()
    .describe(
      'Units per purchase; null: no limit. Defaults to 1 for `api` products and null for all others. Send null to sell an API by time.',
    ),
  access_period_days: z
    .number()
    .int()
    .min(1)
    .max(3660)
    .optional()
    .describe('Days of access per purchase; null: no time limit. Defaults to 30, or to null for `api` products without automatic renewal.'),
  discovery: z.union([DiscoveryInput, z.null()]).optional().describe('Routes that the product sells, shown to agents and catalogues.'),
});

const ManifestResource = z.object({
  method: z.string().min(1).max(16),
  url: Url,
  product_ref: z.string().normalize('NFC').min(1).max(OWN_NAME_MAX).describe('`external_product_id` or name of one of `products`.'),
  units: z.number().default(1),
});

export const manifestFields = {
  manifest_version: z.literal('1').describe('Version of the manifest format: `1`.'),
  name: ShownName(120),
  description: z.string().max(2000).optional(),
  homepage_url: Url.optional().describe('https URL of the agent’s home page. Never fetched.'),
  contact_email: z.string().max(254).optional().describe('Contact email of the agent’s operator.'),
  resources: z.array(ManifestResource).max(100).default([]).describe('Resources for sale, by URL. The service never fetches them.'),
  products: z.array(ManifestProduct).max(50).default([]),
  payout: z
    .object({
      rail_id: z.string().max(64).describe('Payment rail. GET /v1/access/rails lists them.'),
      wallet_address: z.string().max(64),
    })
    .optional(),
  webhooks: z
    .array(
      z.object({
        url: Url.describe('URL that receives the events.'),
        event_types: z
          .array(z.string().max(80))
          .min(1)
          .max(60)
          .describe(
            'Event types to send: `payment.confirmed`, a group such as `payment.*`, or `*`. GET /v1/webhooks/event-types lists them.',
          ),
      }),
    )
    .max(20)
    .default([])
    .describe('Webhook endpoints.'),
  requested_permissions: z
    .array(z.string().max(40))
    .max(10)
    .default(['read', 'execute'])
    .describe('Requested permissions of the live key: `read`, `execute`.'),
  spend_limits: z
    .object({
      per_payment: Amount.optional(),
      per_day: Amount.optional().describe('Maximum per day (UTC).'),
    })
    .default({})
    .describe('Spending limits in USDC for payments with the setup secret. Days are UTC.'),
  live_requested: z.boolean().default(false),
};

export const ManifestBody = z.object(manifestFields).openapi('SetupManifest');
export type Manifest = z.infer<typeof ManifestBody>;

const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const EvaluationBody = z
  .object({
    score: z.int(),
    findings: z
      .array(
        z.object({
          severity: z.enum(SEVERITIES).describe('Severity of the finding. A manifest with an error is returned for changes.'),
          code: z.string(),
          path: z.string().openapi({ example: 'resources[0].product_ref' }),
          message: z.string(),
          suggestion: z.string(),
        }),
      )
      .describe('Findings. Correct those of severity `error`.'),
  })
  .openapi('SetupEvaluation');
export type Evaluation = z.infer<typeof EvaluationBody>;

export const MANIFEST_EXAMPLE = {
  manifest_version: '1' as const,
  name: 'Weather for agents',
  description: 'Forecasts by the request.',
  homepage_url: 'https://weather.example.com',
  contact_email: 'ops@weather.example.com',
  resources: [{ method: 'GET', url: 'https://api.weather.example.com/forecast', product_ref: 'forecast', units: 1 }],
  products: [{ external_product_id: 'forecast', name: 'Forecast', price: { asset: 'USDC', amount: '0.01' }, usage_units: 1 }],
  payout: { rail_id: X402_RAIL, wallet_address: 'Av7QWv6RRdrFxbb9GXWM1g8Gut59feSWcr9tRBia7xZa' },
  webhooks: [{ url: 'https://hooks.weather.example.com/svc', event_types: ['payment.confirmed'] }],
  requested_permissions: ['read', 'execute'],
  spend_limits: { per_payment: { asset: 'USDC', amount: '50' }, per_day: { asset: 'USDC', amount: '50' } },
  live_requested: true,
};
