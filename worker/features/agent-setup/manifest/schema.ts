/**
 * What a manifest looks like. Only its structure is judged here: what an agent got wrong in it is for the evaluation to say,
 * with a way to mend it. An unknown field is refused, so that a misspelt limit is never taken for none.
 * @module
 */

import { z } from '@hono/zod-openapi';
import { OWN_NAME_MAX } from '#core/limits.ts';
import { OwnName, ShownName } from '#platform/http/bodies/own-fields.ts';
import { X402_RAIL } from '#rules/rails.ts';

const Amount = z.object({ asset: z.string().max(16), amount: z.string().max(64) });
const Url = z.string().min(1).max(2048).openapi({ description: 'A public https URL. It is never fetched.' });

const ManifestProduct = z.object({
  external_product_id: OwnName.optional(),
  name: ShownName(160),
  description: z.string().max(2000).optional(),
  price: Amount,
  usage_units: z.number().int().min(1).max(1_000_000_000).optional(),
  access_period_days: z.number().int().min(1).max(3660).optional(),
});

const ManifestResource = z.object({
  method: z.string().min(1).max(16),
  url: Url,
  product_ref: z
    .string()
    .normalize('NFC')
    .min(1)
    .max(OWN_NAME_MAX)
    .openapi({ description: 'external_product_id or name of one of `products`.' }),
  units: z.number().default(1).openapi({ description: 'Units one call uses.' }),
});

export const manifestFields = {
  manifest_version: z.literal('1'),
  name: ShownName(120),
  description: z.string().max(2000).optional(),
  homepage_url: Url.optional(),
  contact_email: z.string().max(254).optional(),
  resources: z.array(ManifestResource).max(100).default([]),
  products: z.array(ManifestProduct).max(50).default([]),
  payout: z.object({ rail_id: z.string().max(64), wallet_address: z.string().max(64) }).optional(),
  webhooks: z
    .array(z.object({ url: Url, event_types: z.array(z.string().max(80)).min(1).max(60) }))
    .max(20)
    .default([]),
  requested_permissions: z
    .array(z.string().max(40))
    .max(10)
    .default(['read', 'execute'])
    .openapi({ description: 'What the live key may do: read, execute.' }),
  spend_limits: z
    .object({ per_payment: Amount.optional(), per_day: Amount.optional() })
    .default({})
    .openapi({ description: 'In USDC. Bind what is paid with the setup secret, by the day of UTC.' }),
  live_requested: z.boolean().default(false),
};

export const ManifestBody = z.object(manifestFields).openapi('SetupManifest');
export type Manifest = z.infer<typeof ManifestBody>;

const SEVERITIES = ['error', 'warning', 'info'] as const;
export type Severity = (typeof SEVERITIES)[number];

export const EvaluationBody = z
  .object({
    score: z.int().openapi({ description: '0 to 100.' }),
    findings: z.array(
      z.object({
        severity: z.enum(SEVERITIES).openapi({ description: 'A manifest with an error is sent back for changes.' }),
        code: z.string(),
        path: z.string().openapi({ description: 'Where it stands in the manifest.', example: 'resources[0].product_ref' }),
        message: z.string(),
        suggestion: z.string(),
      }),
    ),
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
