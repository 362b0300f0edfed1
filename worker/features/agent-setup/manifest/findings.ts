import { X402_RAIL } from '#rules/rails.ts';
import type { Severity } from './schema.ts';

/** Everything an evaluation can say: how grave, why, and what to do. Codes are durable; words may become clearer. */
const entry = (severity: Severity, message: string, suggestion: string) => ({ severity, message, suggestion });

export const FINDINGS = {
  homepage_url_refused: entry(
    'error',
    'The homepage is no public https URL.',
    'Give an https URL under a public name, on port 443 or 8443, or leave it out.',
  ),
  contact_email_invalid: entry('error', 'The contact is no e-mail address.', 'Give an address such as ops@your-domain.com.'),
  resource_url_refused: entry(
    'error',
    'The resource is no public https URL.',
    'Serve it by https under a public name, on port 443 or 8443.',
  ),
  resource_method_unknown: entry('error', 'This is no HTTP method.', 'Use GET, POST, PUT, PATCH, DELETE or HEAD.'),
  resource_product_unknown: entry(
    'error',
    'No product of this manifest has this external_product_id or name.',
    'Add the product to `products`, or name one that is there.',
  ),
  resource_product_ambiguous: entry(
    'error',
    'Several products of this manifest go by this name.',
    'Refer to the product by an external_product_id of its own.',
  ),
  resource_units_invalid: entry('error', 'Units are a whole number of 1 or more.', 'Say how many units one call uses, usually 1.'),
  product_duplicate: entry(
    'error',
    'Another product has the same external_product_id.',
    'Give every product an external_product_id of its own.',
  ),
  product_price_invalid: entry(
    'error',
    'The price is no positive amount of an asset.',
    'Write a decimal string above zero, with at most 6 decimals, in USDC: {"asset":"USDC","amount":"0.01"}.',
  ),
  product_asset_unavailable: entry(
    'error',
    'This service has no rail that takes this asset for what is sold so: a resource is paid for by x402, anything else at the checkout.',
    'Price the product of a resource in USDC; one for another asset is named by no resource. GET /v1/access/rails says what is available.',
  ),
  payout_rail_unknown: entry(
    'error',
    'There is no such rail.',
    `GET /v1/access/rails lists them; ${X402_RAIL} is the one for payments by request.`,
  ),
  payout_rail_unavailable: entry(
    'error',
    'This rail cannot be used on this service now.',
    'GET /v1/access/rails says which rails are available, and why not.',
  ),
  payout_wallet_invalid: entry(
    'error',
    'The payout wallet is no Solana address.',
    'Give the address of your wallet: 32 to 44 base58 characters. Never send its private key.',
  ),
  payout_wallet_off_curve: entry(
    'error',
    'Nobody can sign for this address: it belongs to a program.',
    'Give the address of the wallet itself, not of a token account or program account.',
  ),
  payout_wallet_token_account: entry(
    'error',
    'This is a token account, not a wallet.',
    'Give the wallet that owns it; its USDC account is found from there.',
  ),
  payout_wallet_reserved: entry(
    'error',
    'This address is a program, a mint or a wallet of this service.',
    'Give the address of a wallet of your own.',
  ),
  payout_wallet_of_program: entry(
    'error',
    'This account belongs to a program, so nobody can spend from it as from a wallet.',
    'Give the address of a wallet of your own.',
  ),
  payout_needs_sign_in: entry(
    'error',
    'This account is paid already, and never on this wallet.',
    'Name the wallet that is paid. A new one is set by a person who has just signed in: PUT /v1/access/rail-settings/{rail_id}.',
  ),
  webhook_url_refused: entry(
    'error',
    'Webhooks are not sent to this URL.',
    'Use a public https URL: no credentials, no IP address, port 443 or 8443, not this service.',
  ),
  webhook_event_type_unknown: entry(
    'error',
    'There is no such event type.',
    'GET /v1/webhooks/event-types lists them; `payment.*` and `*` are allowed.',
  ),
  permission_unavailable: entry('error', 'A key of an agent cannot have this permission.', 'Ask for read, execute, or both.'),
  permissions_missing: entry(
    'error',
    'A key without a permission can do nothing.',
    'Ask for read, execute, or both; leave the field out for both.',
  ),
  spend_limit_invalid: entry(
    'error',
    'The limit is no amount of USDC.',
    'Write a decimal string with at most 6 decimals: {"asset":"USDC","amount":"50"}. Until then the limit before it stays.',
  ),
  spend_limit_asset: entry(
    'error',
    'Spend limits are in USDC.',
    'Plans are paid in USDC: say the limit in USDC. Until then the limit before it stays.',
  ),
  live_needs_payout: entry(
    'error',
    'Live mode is asked for, and nobody says where the money goes.',
    'Add `payout` with a rail and a wallet.',
  ),
  live_needs_products: entry('error', 'Live mode is asked for, and there is nothing to sell.', 'Add at least one product.'),
  live_needs_contact: entry('error', 'Live mode is asked for, and there is nobody to write to.', 'Add `contact_email`.'),
  spend_limit_contradiction: entry(
    'warning',
    'One payment may be more than all of a day.',
    'Lower per_payment or raise per_day: the lower one wins.',
  ),
  spend_limit_below_plan: entry(
    'warning',
    'The plan that was asked for costs more than this limit allows.',
    'Raise the limit to the price of the plan, or buy a cheaper one; its activation would be refused with spend_limit_exceeded.',
  ),
  too_many_products: entry('warning', 'The plan allows fewer active products.', 'Ask for a higher plan, or list fewer products.'),
  too_many_webhooks: entry('warning', 'The plan allows fewer webhook endpoints.', 'Ask for a higher plan, or list fewer webhooks.'),
  resource_duplicate: entry('warning', 'The same method and URL stand here before.', 'List every resource once.'),
  resource_units_exceed_product: entry(
    'warning',
    'One call uses more units than one purchase gives.',
    'Raise usage_units of the product, or lower the units of the resource.',
  ),
  webhook_duplicate: entry('warning', 'The same webhook URL stands here before.', 'Join their event types in one entry.'),
  permission_too_narrow: entry(
    'warning',
    'Selling needs the execute permission: consume and settle are writes.',
    'Ask for read and execute.',
  ),
  resources_missing: entry('warning', 'No resource says what is sold.', 'List the endpoints you charge for.'),
  contact_missing: entry('warning', 'There is nobody to write to.', 'Add `contact_email`; live mode needs it.'),
  contact_domain_differs: entry(
    'info',
    'The contact is at another domain than the homepage.',
    'Use an address of your own domain, so that people can tell that it is you.',
  ),
  description_missing: entry('info', 'Nothing says what this is.', 'Add a sentence in `description`.'),
  product_unused: entry('info', 'No resource refers to this product.', 'Name it in product_ref of a resource, or leave it out.'),
  spend_limits_missing: entry(
    'info',
    'Nothing limits what is paid with the setup secret.',
    'Set spend_limits.per_payment and spend_limits.per_day.',
  ),
  webhooks_missing: entry('info', 'Nobody is told of payments as they happen.', 'Add a webhook for payment.confirmed.'),
} as const;
export type FindingCode = keyof typeof FINDINGS;
