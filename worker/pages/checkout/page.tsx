import { type Asset, toMoneyResource } from '#core/money.ts';
import { toConnectResource } from '#features/checkout/resource.ts';
import type { SessionListing } from '#features/checkout/sessions/session.ts';
import { certainAt } from '#features/payments/watch/expire.ts';
import { saleOn } from '#features/products/product.ts';
import { firstCheckoutRail, openRails } from '#features/products/selling/checkout-rails.ts';
import { payoutOf, prospectOf } from '#features/products/selling/obstacles.ts';
import type { Ctx } from '#platform/context.ts';
import { RAILS, type RailId } from '#rules/rails.ts';
import { PAGE_ASSETS } from '../assets.ts';
import { type PageContext, sendPage } from '../document.tsx';
import type { TextKey } from '../locales/en.ts';
import { plain, plainName } from '../parts/text.ts';
import type { PageFacts } from './facts.ts';
import { About, Brand, Price, type ShownListing } from './listing.tsx';
import { Panel } from './panel.tsx';
import { firstState } from './state.ts';

/** Play money is for the chain on this machine alone, whatever is set by mistake. */
const demoRpcUrlOf = ({ DEMO_WALLET, NETWORK, rpcUrls: [rpcUrl] }: Ctx['config']): string | null =>
  DEMO_WALLET === 'true' && NETWORK === 'devnet' && new URL(rpcUrl).hostname === '127.0.0.1' ? rpcUrl : null;

/** What may stand in the address for the API to judge; anything else was never made by us. */
const tokenOf = (text: string | undefined, lengthMax: number): string | null =>
  text !== undefined && text.length <= lengthMax && /^[\w.:~-]+$/.test(text) ? text : null;

/** A hint only: a wrong guess shows a link where a code would have been handier. */
const isPhone = (userAgent: string): boolean => /Android|iPhone|iPad|iPod|Mobile/i.test(userAgent);

/** `/p/{slug}`: who sells what for how much, whole before any script has run; then the panel that takes the payment. */
export function sendCheckout(page: PageContext, sold: Pick<SessionListing, 'listing'> & Partial<SessionListing>): Response {
  const { ctx } = page.c.var;
  const shown = openListing(page, ctx, sold);
  const { facts, sale } = shown;
  const isDemo = facts.demoRpcUrl !== null;
  return sendPage(
    page,
    {
      title: `${facts.productName} · ${page.say('quoted', { name: facts.sellerName })}`,
      layout: 'two',
      accentHex: sale.merchant.merchantSettings.checkout_accent_hex,
      // A payment that was begun is shown to its end, whatever is for sale by now; but not one of another link.
      scripts: facts.obstacle === 'pHandoffBad' ? [] : [...(isDemo ? [PAGE_ASSETS.demoWallet] : []), PAGE_ASSETS.checkout],
      // Not there for a buyer who comes; the page that says so still finds the payment of one who has paid.
      status: facts.obstacle === 'pGone' ? 404 : 200,
      facts,
      alsoConnectTo: isDemo ? new URL(facts.demoRpcUrl!).origin : null,
    },
    <>
      <a class="skip" href="#pay">
        {page.say('choose')}
      </a>
      <header class="offer">
        <Brand {...shown} />
        <Price {...shown} />
      </header>
      <main class="pay" id="pay">
        <p class="hidden" role="status" aria-live="polite" id="announcement" />
        <Payable {...shown} />
      </main>
      <About {...shown} />
    </>,
  );
}

type Sold = Parameters<typeof sendCheckout>[1];

/** The wallet that is paid, by asset: each rail may have its own, and a payment under way keeps the one it began with. */
function payeesOf({ listing, payment }: Sold, rails: RailId[]): Record<string, string> {
  if (payment) return { [payment.asset]: payment.recipientWallet };
  const wallets = rails.map((railId) => [RAILS[railId].asset, payoutOf(prospectOf(saleOn(listing, railId)))] as const);
  return Object.fromEntries(wallets.filter((one): one is [Asset, string] => one[1] !== null));
}

function openListing(page: PageContext, ctx: Ctx, sold: Sold): ShownListing {
  const { listing, payment, isOver } = sold;
  const sale = saleOn(listing, firstCheckoutRail(ctx.config, listing));
  const { product, merchant } = sale;
  const rails = openRails(ctx.config, listing);
  const handoff = page.c.req.query('handoff');
  const handoffToken = tokenOf(handoff, 2048);
  const obstacle = obstacleOf({
    sandbox: !product.livemode,
    pGone: product.status !== 'active' && !payment,
    // Without its hand-off this would be a purchase without a buyer.
    pHandoffBad: handoff !== undefined && handoffToken === null,
    sessionOver: isOver === true,
    notReady: rails.length === 0 && !payment,
  });
  const facts: PageFacts = {
    slug: product.slug,
    pageUrl: `${ctx.baseUrl}/p/${product.slug}${new URL(page.c.req.url).search}`,
    locale: page.locale,
    text: page.text,
    isPayable: obstacle === null,
    obstacle,
    productName: plainName(product.name),
    sellerName: plainName(merchant.displayName),
    price: toMoneyResource({ asset: product.asset, units: product.priceAmount }),
    assets: rails.map((railId) => RAILS[railId].asset),
    payees: payeesOf(sold, rails),
    uncertainMs: certainAt({ expiresAt: 0, lateGraceSeconds: ctx.config.LATE_GRACE_SECONDS }),
    network: ctx.config.NETWORK,
    buttonLabel: plain(merchant.merchantSettings.checkout_success_button_label ?? '') || null,
    isPhone: isPhone(page.c.req.header('User-Agent') ?? ''),
    paymentSessionId: page.c.req.query('ps') ?? null,
    begun: payment ? { ...toConnectResource(ctx, { payment, prepared: null }), tx_signature: payment.txSignature } : null,
    handoffToken,
    demoRpcUrl: demoRpcUrlOf(ctx.config),
  };
  return { page, sale, facts };
}

/** The first that holds is the one that is said. */
const obstacleOf = (holds: Partial<Record<TextKey, boolean>>): TextKey | null =>
  (Object.keys(holds) as TextKey[]).find((key) => holds[key]) ?? null;

/** What the browser takes over: the same component, rendered here once. */
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
