import type { AppId } from '#core/ids.ts';
import type { Listing } from '#features/products/product.ts';
import { type Fix, fixOf } from '#features/products/selling/fixes.ts';
import { type Obstacle, obstaclesOf, type Prospect, payoutOf } from '#features/products/selling/obstacles.ts';
import { type LiveView, OUTAGE_FIXES } from '#features/rails/rail.ts';
import { getRail } from '#features/rails/registry.ts';
import { ataTransaction } from '#features/rails/settings.ts';
import { readPayee } from '#platform/chain/payees.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { given } from '#platform/http/openapi.ts';
import { SELLING_RAILS } from '#rules/product-rails.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import { isNative } from '#solana/assets.ts';
import type { CheckCode } from './check-codes.ts';
import { type Check, fail, pass, skip, warn } from './checks.ts';

interface RailView extends LiveView {
  railId: RailId;
  prospect: Prospect;
}

export const SANDBOX = 'Skipped: always fulfilled on the sandbox’s simulated chain.';
export const SANDBOX_SKIPS = [
  'rail_enabled',
  'payout_wallet_set',
  'payout_ata_exists',
  'fee_wallet_configured',
  'live_mode_confirmed',
] satisfies CheckCode[];

export async function viewRail(ctx: Shard, { railId, prospect }: Pick<RailView, 'railId' | 'prospect'>): Promise<RailView> {
  const obstacles = obstaclesOf(ctx.config, prospect, railId);
  if (!prospect.livemode) return { railId, prospect, obstacles, hasAccount: null, unavailableDependency: null };
  const payTo = payoutOf(prospect);
  const [seen, found] = await Promise.all([getRail(railId).probe(ctx, prospect), payTo === null ? null : readPayee(ctx, payTo)]);
  const unspendable: Obstacle[] = found ? ['payout_wallet_unspendable'] : [];
  return { railId, prospect, ...seen, obstacles: [...obstacles, ...unspendable, ...seen.obstacles] };
}

export function appFoundCheck(isFound: boolean, appId: AppId | null): Check {
  if (appId === null) return skip('app_found', 'No app is named.');
  if (isFound) return pass('app_found', 'The app is yours.');
  const detail = 'The app does not exist in this mode. Create one, and name it.';
  return fail('app_found', detail, { detail, method: 'POST', path: '/v1/access/apps', body: { name: '<name>' } });
}

export function productFoundCheck(product: Product | null, asked: { productIsNamed: boolean; appId: AppId | null }): Check {
  const { productIsNamed, appId } = asked;
  if (!productIsNamed) return skip('product_found', 'Skipped: name a product to check the whole sale.');
  if (!product) {
    const body = { name: '<name>', price: { asset: 'USDC', amount: '5' }, live_mode_confirmed: true, ...given('access_app_id', appId) };
    const detail = 'The product does not exist in this mode. Create one.';
    return fail('product_found', detail, { detail, method: 'POST', path: '/v1/access/products', body });
  }
  if (appId !== null && product.accessAppId !== appId) {
    const detail = 'The product is not in this app. Move it, or name its own app.';
    return fail('product_found', detail, { detail, method: 'PATCH', path: `/v1/products/${product.id}`, body: { access_app_id: appId } });
  }
  return pass('product_found', `The product is “${product.name}”.`);
}

const CHECK_OF: Partial<Record<Obstacle, CheckCode>> = {
  rail_unavailable: 'rail_enabled',
  paused: 'rail_enabled',
  payout_wallet_unspendable: 'payout_wallet_set',
  payout_wallet_empty: 'payout_ata_exists',
  fee_wallet_empty: 'fee_wallet_configured',
};

/** Returns the checks that stop a sale over this rail. Null: the product is not offered on the rail. */
export function stoppedChecks(way: RailView | null): Set<string> {
  const obstacles = way?.obstacles.map((obstacle) => CHECK_OF[obstacle] ?? obstacle) ?? ['rail_enabled'];
  return new Set(['app_found', 'product_found', 'product_active', ...obstacles, ...(way?.unavailableDependency ? ['rail_enabled'] : [])]);
}

/** Builds one check over all rails: it fails if a rail has the obstacle, names each such rail, and gives the fix of the first. */
function checkAcross(code: CheckCode, ways: RailView[], obstacle: Obstacle, fine: Check | string): Check {
  const blocked = ways.filter(({ obstacles }) => obstacles.includes(obstacle));
  const [first] = blocked;
  if (!first) return typeof fine === 'string' ? pass(code, fine) : fine;
  const fix = fixOf(obstacle, first.railId, first.prospect);
  return fail(code, `${blocked.map(({ railId }) => railId).join(', ')}: ${fix.detail}`, fix);
}

export function productChecks(ways: RailView[], { product, merchant, switchedOff }: Listing): Check[] {
  const isOff = switchedOff.includes('product');
  const isPaused = merchant.salesPausedAt !== null;
  const fix = fixOf(isPaused ? 'paused' : 'product_active', SELLING_RAILS[0], {
    product,
    setting: null,
    accountWallet: null,
    switchedOff: isOff ? 'product' : null,
  });
  const isOnSale = product.status === 'active' && !isOff && !isPaused;
  return [
    isOnSale ? pass('product_active', 'The product is on sale.') : fail('product_active', fix.detail, fix),
    priceCheck(ways, product),
  ];
}

function priceCheck(ways: RailView[], product: Product): Check {
  const check = checkAcross('price_set', ways, 'price_set', 'The price suits the rails of the product.');
  const cautions = ways.flatMap(({ railId }) => getRail(railId).priceWarning(product) ?? []);
  return check.status === 'fail' || cautions.length === 0 ? check : warn('price_set', cautions.join(' '), null);
}

export async function railChecks(ctx: Ctx, ways: RailView[], usual: Pick<RailView, 'railId' | 'prospect'>): Promise<Check[]> {
  if (ways.length === 0) {
    const fix = fixOf('rail_enabled', usual.railId, usual.prospect);
    const rest = SANDBOX_SKIPS.filter((code) => code !== 'rail_enabled');
    return [fail('rail_enabled', `No rail can sell the product. ${fix.detail}`, fix), ...rest.map((code) => skip(code, 'No rail is on.'))];
  }
  const { product } = usual.prospect;
  const hasFee = ways.some(({ railId }) => RAILS[railId].takesFee);
  const names = ways.map(({ railId }) => railId).join(', ');
  return [
    servingCheck(ways, usual, `Offered over ${names}.`),
    checkAcross(
      'payout_wallet_set',
      ways,
      'payout_wallet_set',
      checkAcross('payout_wallet_set', ways, 'payout_wallet_unspendable', 'Every rail has a payout wallet.'),
    ),
    checkAcross('payout_ata_exists', ways, 'payout_wallet_empty', await payoutAccountsCheck(ctx, ways)),
    hasFee
      ? checkAcross(
          'fee_wallet_configured',
          ways,
          'fee_wallet_configured',
          checkAcross('fee_wallet_configured', ways, 'fee_wallet_empty', FEE_FINE),
        )
      : skip('fee_wallet_configured', 'Skipped: the fee applies to checkout only.'),
    liveModeCheck(ways, product),
  ];
}

export function planCheck(ways: RailView[], product: Product | null): Check {
  const code = 'subscription_plan_published';
  if (product === null) return skip(code, 'No product is named.');
  if (product.renewalMode !== 'AUTOMATIC') return skip(code, 'Skipped: the product does not renew automatically.');
  return checkAcross(code, ways, code, 'The plan of the current price, period and payout wallet is published.');
}

/** Skipped if only plain checkout sells, which does not need the merchant's confirmation. */
function liveModeCheck(ways: RailView[], product: Prospect['product']): Check {
  const code = 'live_mode_confirmed';
  if (!product) return skip(code, 'No product is named.');
  const fine = product.liveModeConfirmed
    ? pass(code, 'Live mode is confirmed.')
    : skip(code, 'Skipped: plain checkout does not require it.');
  return checkAcross(code, ways, code, fine);
}

const FEE_FINE = 'The service fee, if any, can be paid.';

/** Fails if no rail can sell: not served, node silent, or no price for another asset. The usual rail must be among those offered. */
function servingCheck(ways: RailView[], usual: Pick<RailView, 'railId' | 'prospect'>, fine: string): Check {
  if (ways.every(({ railId }) => railId !== usual.railId)) {
    const fix = fixOf('rail_enabled', usual.railId, usual.prospect);
    return fail('rail_enabled', `${usual.railId}: ${fix.detail}`, fix);
  }
  const check = checkAcross('rail_enabled', ways, 'paused', checkAcross('rail_enabled', ways, 'rail_unavailable', fine));
  const outage = ways.find(({ unavailableDependency: silent }) => silent)?.unavailableDependency;
  if (check.status === 'fail' || !outage) return check;
  const fix = OUTAGE_FIXES[outage];
  const names = ways.filter(({ unavailableDependency: silent }) => silent === outage).map(({ railId }) => railId);
  return fail('rail_enabled', `${names.join(', ')}: ${fix.detail}`, fix);
}

/**
 * Fails for agents if the payout account does not exist. A checkout buyer creates the account in the same transaction, at the buyer's
 * expense.
 */
async function payoutAccountsCheck(ctx: Ctx, everyWay: RailView[]): Promise<Check> {
  const code = 'payout_ata_exists';
  const ways = everyWay.filter(({ railId }) => !isNative(RAILS[railId].asset));
  if (ways.length === 0) return skip(code, 'Skipped: SOL is paid to the wallet itself.');
  const missing = ways.find(({ obstacles }) => obstacles.includes(code)) ?? ways.find(({ hasAccount }) => hasAccount === false);
  if (!missing) {
    if (ways.every(({ prospect }) => payoutOf(prospect) === null)) return skip(code, 'Skipped: no payout wallet is set.');
    const isUnknown = ways.some(({ hasAccount, prospect }) => hasAccount === null && payoutOf(prospect) !== null);
    return isUnknown ? warn(code, 'The Solana node does not respond. Retry.', null) : pass(code, 'Payout accounts exist.');
  }
  const payTo = payoutOf(missing.prospect)!;
  const detail = `The payout wallet ${payTo} has no USDC account.`;
  const transaction = await ataTransaction(ctx, payTo);
  const fix: Fix = transaction
    ? {
        detail: `${detail} Sign the transaction with it and send it to create the account.`,
        transaction,
        sign_url: `${ctx.baseUrl}/sign#${transaction}`,
      }
    : fixOf(code, missing.railId, missing.prospect);
  if (missing.obstacles.includes(code)) return fail(code, `${missing.railId}: ${detail}`, fix);
  return warn(code, 'The payout wallet has no USDC account. The first buyer pays to create it.', fix);
}
