import { X402_RAIL } from '#rules/rails.ts';
import type { Severity } from './schema.ts';

/** Every finding with severity, message and suggestion. Codes are stable, texts may change. */
const entry = (severity: Severity, message: string, suggestion: string) => ({ severity, message, suggestion });

export const FINDINGS = {
  homepage_url_refused: entry(
    'error',
    'The homepage is not a public https URL.',
    'Send an https URL with a public host name, on port 443 or 8443, or omit it.',
  ),
  contact_email_invalid: entry('error', 'The contact is not an email address.', 'Send an address such as ops@your-domain.com.'),
  resource_url_refused: entry(
    'error',
    'The resource is not a public https URL.',
    'Serve it by https with a public host name, on port 443 or 8443.',
  ),
  resource_method_unknown: entry('error', 'The method is not supported.', 'Use GET, POST, PUT, PATCH, DELETE or HEAD.'),
  resource_product_unknown: entry(
    'error',
    'No product of this manifest has this external_product_id or name.',
    'Add the product to `products`, or name a listed one.',
  ),
  resource_product_ambiguous: entry(
    'error',
    'Several products of this manifest have this name.',
    'Refer to the product by an external_product_id of its own.',
  ),
  resource_units_invalid: entry(
    'error',
    'The units are not a whole number of 1 or more.',
    'Send the units that one call consumes, usually 1.',
  ),
  product_duplicate: entry(
    'error',
    'Another product has the same external_product_id.',
    'Send a unique external_product_id for every product.',
  ),
  product_price_invalid: entry(
    'error',
    'The price is not a positive amount of an asset.',
    'Send a decimal string above zero, with at most 6 decimals, in USDC: {"asset":"USDC","amount":"0.01"}.',
  ),
  product_payer_limit_invalid: entry(
    'error',
    'The limit per payer and day is not an amount of USDC that allows a purchase.',
    'Send at least the price, in USDC: {"asset":"USDC","amount":"5"}, for a product priced in USDC, or omit it.',
  ),
  product_asset_unavailable: entry(
    'error',
    'No rail of this service accepts this asset for the product. Resources are paid by x402, other products at the checkout.',
    'Price the product of a resource in USDC, or remove it from the resources. GET /v1/access/rails lists the available rails.',
  ),
  payout_rail_unknown: entry(
    'error',
    'The rail does not exist.',
    `GET /v1/access/rails lists the rails; ${X402_RAIL} is the rail for payments by request.`,
  ),
  payout_rail_unavailable: entry(
    'error',
    'The rail is currently unavailable.',
    'GET /v1/access/rails lists the available rails and the reasons.',
  ),
  payout_wallet_invalid: entry(
    'error',
    'The payout wallet is not a Solana address.',
    'Send the address of your wallet: 32 to 44 base58 characters. Never send its private key.',
  ),
  payout_wallet_off_curve: entry(
    'error',
    'The address belongs to a program, so no key can sign for it.',
    'Send the address of the wallet itself, not of a token account or program account.',
  ),
  payout_wallet_token_account: entry(
    'error',
    'The address is a token account, not a wallet.',
    'Send the wallet that owns it; the service derives the USDC account.',
  ),
  payout_wallet_reserved: entry(
    'error',
    'The address is a program, a mint or a wallet of this service.',
    'Send the address of a wallet of your own.',
  ),
  payout_wallet_of_program: entry(
    'error',
    'The account belongs to a program, so a wallet cannot spend from it.',
    'Send the address of a wallet of your own.',
  ),
  payout_needs_sign_in: entry(
    'error',
    'The account already receives payments, and never to this wallet.',
    'Send the current payout wallet. A person with a recent sign-in can set a new one: PUT /v1/access/rail-settings/{rail_id}.',
  ),
  webhook_url_refused: entry(
    'error',
    'Webhooks cannot be sent to this URL.',
    'Use a public https URL: no credentials, no IP address, port 443 or 8443, not this service.',
  ),
  webhook_event_type_unknown: entry(
    'error',
    'The event type does not exist.',
    'GET /v1/webhooks/event-types lists the event types; `payment.*` and `*` are allowed.',
  ),
  permission_unavailable: entry('error', 'Keys of agents cannot have this permission.', 'Request read, execute, or both.'),
  permissions_missing: entry(
    'error',
    'A key requires at least one permission.',
    'Request read, execute, or both; omit the field for both.',
  ),
  spend_limit_invalid: entry(
    'error',
    'The limit is not an amount of USDC.',
    'Send a decimal string with at most 6 decimals: {"asset":"USDC","amount":"50"}. The previous limit applies until then.',
  ),
  spend_limit_asset: entry(
    'error',
    'The spend limit is not in USDC.',
    'Plans are paid in USDC: send the limit in USDC. The previous limit applies until then.',
  ),
  live_needs_payout: entry('error', 'Live mode is requested without a payout wallet.', 'Add `payout` with a rail and a wallet.'),
  live_needs_products: entry('error', 'Live mode is requested without a product.', 'Add at least one product.'),
  live_needs_contact: entry('error', 'Live mode is requested without a contact.', 'Add `contact_email`.'),
  spend_limit_contradiction: entry(
    'warning',
    'The limit of one payment is higher than the limit per day.',
    'Lower per_payment or raise per_day: the lower limit applies.',
  ),
  spend_limit_below_plan: entry(
    'warning',
    'The requested plan costs more than this limit.',
    'Raise the limit to the price of the plan, or buy a cheaper one; otherwise its activation fails with spend_limit_exceeded.',
  ),
  too_many_products: entry(
    'warning',
    'The manifest has more products than the plan allows.',
    'Request a higher plan, or list fewer products.',
  ),
  too_many_webhooks: entry(
    'warning',
    'The manifest has more webhook endpoints than the plan allows.',
    'Request a higher plan, or list fewer webhooks.',
  ),
  resource_duplicate: entry('warning', 'The same method and URL are listed twice.', 'List every resource once.'),
  resource_units_exceed_product: entry(
    'warning',
    'One call consumes more units than one purchase includes.',
    'Raise usage_units of the product, or lower the units of the resource.',
  ),
  webhook_duplicate: entry('warning', 'The same webhook URL is listed twice.', 'Combine the event types in one entry.'),
  permission_too_narrow: entry(
    'warning',
    'Selling requires the execute permission: consume and settle are writes.',
    'Request read and execute.',
  ),
  resources_missing: entry('warning', 'The manifest lists no resource.', 'List the endpoints you charge for.'),
  contact_missing: entry('warning', 'The manifest has no contact.', 'Add `contact_email`; live mode requires it.'),
  contact_domain_differs: entry(
    'info',
    'The contact has another domain than the homepage.',
    'Use an address of your own domain, so that people can recognize you.',
  ),
  description_missing: entry('info', 'The manifest has no description.', 'Add a sentence in `description`.'),
  product_unused: entry('info', 'No resource names this product.', 'Name it in product_ref of a resource, or remove it.'),
  spend_limits_missing: entry(
    'info',
    'Payments with the setup secret have no limit.',
    'Set spend_limits.per_payment and spend_limits.per_day.',
  ),
  webhooks_missing: entry('info', 'No webhook receives payment events.', 'Add a webhook for payment.confirmed.'),
} as const;
export type FindingCode = keyof typeof FINDINGS;
