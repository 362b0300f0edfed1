import { type Asset, type MoneyResource, toMoneyResource } from '#core/money.ts';
import { iso, SECOND } from '#core/time.ts';
import { findVerifiedDomain } from '#features/accounts/domain/store.ts';
import { solanaPayUrl } from '#features/checkout/prepare-transaction.ts';
import { toConnectResource } from '#features/checkout/resource.ts';
import type { SessionListing } from '#features/checkout/sessions/session.ts';
import { listUnmatchedOf } from '#features/payments/store.ts';
import { certainAt } from '#features/payments/watch/expire.ts';
import { saleOn } from '#features/products/product.ts';
import { firstCheckoutRail, openRails } from '#features/products/selling/checkout-rails.ts';
import { payoutOf, prospectOf } from '#features/products/selling/obstacles.ts';
import { dueIn } from '#features/rails/quote.ts';
import { hasPublishedPlan } from '#features/rails/subscription-plan/plan.ts';
import type { Ctx, Scope, Shard } from '#platform/context.ts';
import type { Product } from '#platform/db/tables/products.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import { PAGE_ASSETS } from '../assets.ts';
import { demoWalletOf, isPhone, type PageContext } from '../document.tsx';
import type { TextKey } from '../locales/dictionaries.ts';
import { formatMoney, plain, plainName } from '../parts/text.ts';
import type { PageFacts } from './facts.ts';
import { accessGain, httpsUrl, listGains, type ShownListing } from './listing.tsx';
import { Panel } from './panel.tsx';
import { firstState } from './state.ts';
import { sendListing, sendSubscribe } from './subscribe.tsx';

/** Accepts only the form of tokens that the service issues. The API judges them. */
const tokenOf = (text: string | undefined, lengthMax: number): string | null =>
  text !== undefined && text.length <= lengthMax && /^[\w.:~-]+$/.test(text) ? text : null;

/** `/p/{slug}`: product and seller, complete without a script, and the payment panel. */
export async function sendCheckout(
  page: PageContext,
  ctx: Scope,
  sold: Pick<SessionListing, 'listing'> & Partial<SessionListing>,
): Promise<Response> {
  const shown = await openListing(page, ctx, sold);
  const { facts, sale } = shown;
  if (sale.product.renewalMode === 'AUTOMATIC') return sendSubscribe(shown, { now: ctx.now, begunId: sold.payment?.id ?? null });
  return sendListing(
    shown,
    {
      facts,
      // An existing payment is shown to its end even if the product is no longer for sale, but not with an invalid hand-off.
      scripts: facts.obstacle === 'pHandoffBad' ? [] : [PAGE_ASSETS.checkout],
      priceText: formatMoney(page.locale, facts.price),
    },
    <>
      <p class="hidden" role="status" aria-live="polite" id="announcement" />
      <Payable {...shown} />
    </>,
  );
}

type Sold = Parameters<typeof sendCheckout>[2];

/** Paid wallet by asset. Each rail may have its own, and a payment under way retains its first one. */
function payeesOf({ listing, payment }: Sold, rails: RailId[]): Record<string, string> {
  if (payment) return { [payment.asset]: payment.recipientWallet };
  const wallets = rails.map((railId) => [RAILS[railId].asset, payoutOf(prospectOf(saleOn(listing, railId)))] as const);
  return Object.fromEntries(wallets.filter((one): one is [Asset, string] => one[1] !== null));
}

/** Longest wait for a rate. Without one the page says that the amount follows. */
const RATE_MS = 800;

/** Price in the other accepted assets. An asset without a rate is left out. */
async function readEstimates(ctx: Ctx, { asset, priceAmount: units }: Product, rails: RailId[]): Promise<Record<string, MoneyResource>> {
  const others = rails.map((railId) => RAILS[railId].asset).filter((other) => other !== asset);
  const hurried = { ...ctx, leftMs: () => Math.min(RATE_MS, ctx.leftMs()) };
  const dues = await Promise.all(others.map(async (other) => [other, await dueIn(hurried, { asset, units }, other, ctx.now)] as const));
  return Object.fromEntries(dues.flatMap(([other, due]) => (due.kind === 'due' ? [[other, toMoneyResource(due.price)]] : [])));
}

async function openListing(page: PageContext, ctx: Shard, sold: Sold): Promise<ShownListing> {
  const { listing, payment, isOver } = sold;
  const sale = saleOn(listing, firstCheckoutRail(ctx.config, listing));
  const { product, merchant } = sale;
  const rails = openRails(ctx.config, listing);
  const renews = product.renewalMode === 'AUTOMATIC';
  const handoff = page.c.req.query('handoff');
  const handoffToken = tokenOf(handoff, 2048);
  const obstacle = obstacleOf({
    pGone: product.status !== 'active' && !payment,
    // Without its hand-off the payment would have no buyer.
    pHandoffBad: handoff !== undefined && handoffToken === null,
    sessionOver: isOver === true,
    notReady: !payment && (rails.length === 0 || (renews && !(await hasPublishedPlan(ctx, prospectOf(sale))))),
  });
  const facts: PageFacts = {
    now: iso(ctx.now),
    slug: product.slug,
    pageUrl: `${ctx.baseUrl}/p/${product.slug}${new URL(page.c.req.url).search}`,
    locale: page.locale,
    text: page.text,
    isPayable: obstacle === null,
    obstacle,
    productName: plainName(product.name),
    sellerName: plainName(merchant.displayName),
    sellerDomain: await findVerifiedDomain(ctx.db, product.merchantId),
    price: toMoneyResource({ asset: product.asset, units: product.priceAmount }),
    gains: listGains(page, sale),
    accessGain: accessGain(page, sale),
    assets: rails.map((railId) => RAILS[railId].asset),
    estimates: await readEstimates(ctx, product, rails),
    sessionSeconds: payment
      ? Math.ceil((payment.expiresAt - payment.createdAt) / SECOND)
      : (product.sessionSeconds ?? ctx.config.SESSION_SECONDS),
    onrampUrl: ctx.config.ONRAMP_URL ?? null,
    supportUrl: httpsUrl(merchant.merchantSettings.default_support_url),
    payees: payeesOf(sold, rails),
    uncertainMs: certainAt({ expiresAt: 0, lateGraceSeconds: ctx.config.LATE_GRACE_SECONDS }),
    network: ctx.config.NETWORK,
    buttonLabel: plain(merchant.merchantSettings.checkout_success_button_label ?? '') || null,
    cancelUrl: httpsUrl(product.cancelUrl ?? undefined),
    isPhone: isPhone(page.c),
    paymentSessionId: page.c.req.query('ps') ?? null,
    begun: payment
      ? {
          ...toConnectResource(
            ctx,
            { payment, now: ctx.now, prepared: null, subscribing: null },
            await listUnmatchedOf(ctx.db, [payment.id]),
          ),
          solana_pay_url: solanaPayUrl(ctx, payment),
          tx_signature: payment.txSignature,
        }
      : null,
    handoffToken,
    ownWallet: product.livemode ? demoWalletOf(ctx.config) : { kind: 'test' },
  };
  return { page, sale, facts };
}

const obstacleOf = (holds: Partial<Record<TextKey, boolean>>): TextKey | null =>
  (Object.keys(holds) as TextKey[]).find((key) => holds[key]) ?? null;

function Payable({ facts, page }: ShownListing) {
  const { say } = page;
  return (
    <>
      <div id="panel">
        <Panel facts={facts} state={firstState(facts)} say={say} />
      </div>
      {facts.isPayable && (
        <noscript>
          <p class="notice">{say('needsScript')}</p>
        </noscript>
      )}
    </>
  );
}
