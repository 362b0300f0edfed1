/**
 * Evaluates a manifest: findings, their paths and fixes. Deterministic for the same manifest and facts. Fetches nothing. Pure.
 * @module
 */

import { formatAmount, isAsset, parseAmount } from '#core/money.ts';
import { checkTarget, type TargetRules } from '#platform/providers/target-url.ts';
import { isTypePattern } from '#rules/events.ts';
import { PLANS, type PlanName, planPrice } from '#rules/plans.ts';
import { isPayableIn, isRailId } from '#rules/product-rails.ts';
import type { RailId } from '#rules/rails.ts';
import { parseWallet } from '#solana/assets.ts';
import { type AccountFacts, type UnspendableReason, unspendable } from '#solana/payee.ts';
import { FINDINGS, type FindingCode } from './findings.ts';
import type { Evaluation, Manifest, Severity } from './schema.ts';
import { spendLimitsOf } from './spend-limits.ts';

export interface ManifestFacts {
  target: TargetRules;
  availableRails: readonly RailId[];
  ownWallets: readonly string[];
  /** Account at the payout address. Null if there is none, or if the chain was not asked or does not answer. */
  payoutAccount: AccountFacts | null;
  payoutNeedsSignIn: boolean;
  plan: PlanName;
}

type Finding = Evaluation['findings'][number];
type Rule = (manifest: Manifest, facts: ManifestFacts) => Finding[];

const newFinding = (code: FindingCode, path: string, detail?: string): Finding => {
  const { message, ...rest } = FINDINGS[code];
  return { code, path, message: detail ? `${message} (${detail})` : message, ...rest };
};
const when = (condition: boolean, code: FindingCode, path: string, detail?: string): Finding[] =>
  condition ? [newFinding(code, path, detail)] : [];

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'];
const PERMISSIONS = ['read', 'execute'];
const WEIGHTS: Record<Severity, number> = { error: 15, warning: 5, info: 1 };

const descriptionRule: Rule = ({ description, homepage_url: homepage, contact_email: contact, live_requested: isLive }, { target }) => {
  const email = contact === undefined ? null : /^[^\s@<>"]{1,64}@([a-z0-9-]+(?:\.[a-z0-9-]+)+)$/i.exec(contact.trim());
  const site = homepage === undefined ? null : checkTarget(homepage, target);
  const host = site?.ok ? site.value.hostname.toLowerCase() : null;
  const domain = email?.[1]?.toLowerCase() ?? null;
  const isSame = host !== null && domain !== null && (host === domain || host.endsWith(`.${domain}`) || domain.endsWith(`.${host}`));
  return [
    ...when(description === undefined || description.trim() === '', 'description_missing', 'description'),
    ...(site && !site.ok ? [newFinding('homepage_url_refused', 'homepage_url', site.reason)] : []),
    ...when(contact !== undefined && !email, 'contact_email_invalid', 'contact_email'),
    ...when(contact === undefined, isLive ? 'live_needs_contact' : 'contact_missing', 'contact_email'),
    ...when(host !== null && domain !== null && !isSame, 'contact_domain_differs', 'contact_email', `${domain}, ${host}`),
  ];
};

const pricesRule: Rule = ({ products, resources }, { availableRails }) =>
  products.flatMap(({ external_product_id: id, name, price, max_per_payer_per_day: limit }, index) => {
    const path = `products[${index}]`;
    const asset = isAsset(price.asset) ? price.asset : null;
    const amount = asset && parseAmount(asset, price.amount);
    const isPrice = amount?.ok === true && amount.value.units > 0n;
    const isRepeated = id !== undefined && products.findIndex((other) => other.external_product_id === id) < index;
    const isUsed = resources.some(({ product_ref: ref }) => ref === id || ref === name);
    return [
      ...when(isRepeated, 'product_duplicate', `${path}.external_product_id`),
      ...when(!isPrice, 'product_price_invalid', `${path}.price`, amount && !amount.ok ? amount.reason : undefined),
      ...when(
        // A paid resource answers 402 and is paid per request.
        asset !== null && !isPayableIn(asset, availableRails, { isPerRequest: isUsed }),
        'product_asset_unavailable',
        `${path}.price.asset`,
      ),
      ...when(limit !== undefined && !allowsPurchase(limit, price), 'product_payer_limit_invalid', `${path}.max_per_payer_per_day`),
      ...when(!isUsed, 'product_unused', path),
    ];
  });

type ManifestAmount = Manifest['products'][number]['price'];

/** True unless the limit per payer and day refuses every purchase. A price that is no amount has a finding of its own. */
function allowsPurchase(limit: ManifestAmount, price: ManifestAmount): boolean {
  const most = limit.asset === 'USDC' ? parseAmount('USDC', limit.amount) : null;
  const least = parseAmount('USDC', price.amount);
  return most?.ok === true && price.asset === 'USDC' && most.value.units > 0n && (!least.ok || most.value.units >= least.value.units);
}

const salesRule: Rule = ({ resources, products }, { target }) => [
  ...when(resources.length === 0, 'resources_missing', 'resources'),
  ...resources.flatMap(({ method, url, product_ref: ref, units }, index) => {
    const path = `resources[${index}]`;
    const checked = checkTarget(url, target);
    const byId = products.filter(({ external_product_id: id }) => id === ref);
    const named = byId.length > 0 ? byId : products.filter(({ name }) => name === ref);
    const isCount = Number.isSafeInteger(units) && units >= 1;
    const given = named.length === 1 ? (named[0]!.usage_units ?? (named[0]!.access_period_days === undefined ? 1 : null)) : null;
    const isRepeated = resources.findIndex((other) => other.url === url && other.method.toUpperCase() === method.toUpperCase()) < index;
    return [
      ...when(!METHODS.includes(method.toUpperCase()), 'resource_method_unknown', `${path}.method`),
      ...(checked.ok ? [] : [newFinding('resource_url_refused', `${path}.url`, checked.reason)]),
      ...when(named.length === 0, 'resource_product_unknown', `${path}.product_ref`),
      ...when(named.length > 1, 'resource_product_ambiguous', `${path}.product_ref`),
      ...when(!isCount, 'resource_units_invalid', `${path}.units`),
      ...when(isCount && given !== null && units > given, 'resource_units_exceed_product', `${path}.units`),
      ...when(isRepeated, 'resource_duplicate', path),
    ];
  }),
];

const UNSPENDABLE: Record<UnspendableReason, FindingCode> = {
  off_curve: 'payout_wallet_off_curve',
  token_account: 'payout_wallet_token_account',
  mint: 'payout_wallet_reserved',
  program: 'payout_wallet_reserved',
  sysvar: 'payout_wallet_reserved',
  own_key: 'payout_wallet_reserved',
  not_system_account: 'payout_wallet_of_program',
};

const payoutRule: Rule = ({ payout }, { availableRails, ownWallets, payoutAccount, payoutNeedsSignIn }) => {
  if (!payout) return [];
  const { rail_id: railId, wallet_address: address } = payout;
  const wallet = parseWallet(address);
  const path = 'payout.wallet_address';
  const isAddress = wallet.ok || wallet.reason === 'off_curve';
  const found = isAddress ? unspendable(address, ownWallets, payoutAccount) : null;
  return [
    ...when(!isRailId(railId), 'payout_rail_unknown', 'payout.rail_id'),
    ...when(isRailId(railId) && !availableRails.includes(railId), 'payout_rail_unavailable', 'payout.rail_id'),
    ...when(!isAddress, 'payout_wallet_invalid', path),
    ...(found ? [newFinding(UNSPENDABLE[found.reason], path, found.owner && `owner ${found.owner}`)] : []),
    ...when(payoutNeedsSignIn, 'payout_needs_sign_in', path),
  ];
};

const webhooksRule: Rule = ({ webhooks, live_requested: isLive }, { target, plan }) => [
  ...when(isLive && webhooks.length === 0, 'webhooks_missing', 'webhooks'),
  ...when(
    webhooks.length > PLANS[plan].enabledEndpointsMax,
    'too_many_webhooks',
    'webhooks',
    `${plan}: ${PLANS[plan].enabledEndpointsMax}`,
  ),
  ...webhooks.flatMap(({ url, event_types: types }, index) => {
    const path = `webhooks[${index}]`;
    const checked = checkTarget(url, target);
    return [
      ...(checked.ok ? [] : [newFinding('webhook_url_refused', `${path}.url`, checked.reason)]),
      ...types.flatMap((type, at) => when(!isTypePattern(type), 'webhook_event_type_unknown', `${path}.event_types[${at}]`)),
      ...when(webhooks.findIndex((other) => other.url === url) < index, 'webhook_duplicate', path),
    ];
  }),
];

const permissionsRule: Rule = ({ requested_permissions: asked, resources }) => [
  ...when(asked.length === 0, 'permissions_missing', 'requested_permissions'),
  ...asked.flatMap((permission, index) =>
    when(!PERMISSIONS.includes(permission), 'permission_unavailable', `requested_permissions[${index}]`),
  ),
  ...when(resources.length > 0 && asked.length > 0 && !asked.includes('execute'), 'permission_too_narrow', 'requested_permissions'),
];

const liveModeRule: Rule = ({ live_requested: isLive, payout, products }, { plan }) => [
  ...when(isLive && payout === undefined, 'live_needs_payout', 'payout'),
  ...when(isLive && products.length === 0, 'live_needs_products', 'products'),
  ...when(products.length > PLANS[plan].activeProductsMax, 'too_many_products', 'products', `${plan}: ${PLANS[plan].activeProductsMax}`),
];

const spendLimitsRule: Rule = (manifest, { plan }) => {
  const { per_payment: perPayment, per_day: perDay } = manifest.spend_limits;
  const limits = spendLimitsOf(manifest);
  const checkLimit = (limit: typeof perPayment, units: bigint | null | undefined, path: string): Finding[] =>
    limit === undefined
      ? []
      : limit.asset !== 'USDC'
        ? [newFinding('spend_limit_asset', `${path}.asset`)]
        : typeof units !== 'bigint'
          ? [newFinding('spend_limit_invalid', `${path}.amount`)]
          : when(
              units < planPrice(plan),
              'spend_limit_below_plan',
              path,
              `${plan}: ${formatAmount({ asset: 'USDC', units: planPrice(plan) })} USDC`,
            );
  const isContrary = typeof limits.perPayment === 'bigint' && typeof limits.perDay === 'bigint' && limits.perPayment > limits.perDay;
  return [
    ...when(perPayment === undefined && perDay === undefined, 'spend_limits_missing', 'spend_limits'),
    ...checkLimit(perPayment, limits.perPayment, 'spend_limits.per_payment'),
    ...checkLimit(perDay, limits.perDay, 'spend_limits.per_day'),
    ...when(isContrary, 'spend_limit_contradiction', 'spend_limits'),
  ];
};

const RULES = [descriptionRule, pricesRule, salesRule, payoutRule, webhooksRule, permissionsRule, liveModeRule, spendLimitsRule];

export function evaluateManifest(manifest: Manifest, facts: ManifestFacts): Evaluation {
  const findings = RULES.flatMap((rule) => rule(manifest, facts));
  const score = findings.reduce((left, { severity }) => left - WEIGHTS[severity], 100);
  return { score: Math.max(0, score), findings };
}

export const isAcceptable = ({ findings }: Evaluation): boolean => findings.every(({ severity }) => severity !== 'error');
