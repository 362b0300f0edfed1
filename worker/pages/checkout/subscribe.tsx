import type { Child } from 'hono/jsx';
import { DAY, iso } from '#core/time.ts';
import { PAGE_ASSETS } from '../assets.ts';
import { ownWalletParts, sendPage } from '../document.tsx';
import { sayIn } from '../parts/text.ts';
import { isTest } from '../parts/wallet-choice.ts';
import type { SubscribeFacts } from '../subscribing/facts.ts';
import { loadTexts, Panel } from '../subscribing/page.tsx';
import { termsOf } from '../subscribing/view.tsx';
import { About, Brand, Price, type ShownListing } from './listing.tsx';

/** `/p/{slug}` of a product with automatic renewal: product and seller, complete without a script, and the subscription panel. */
export async function sendSubscribe(shown: ShownListing, { now, begunId }: { now: number; begunId: string | null }): Promise<Response> {
  const { page, sale } = shown;
  const {
    slug,
    price,
    productName,
    obstacle,
    paymentSessionId,
    handoffToken,
    network,
    ownWallet,
    pageUrl,
    isPhone,
    onrampUrl,
    supportUrl,
  } = shown.facts;
  const periodDays = sale.product.accessPeriodDays ?? 0;
  const facts: SubscribeFacts = {
    page: 'subscribe',
    slug,
    price,
    productName,
    obstacle,
    paymentSessionId,
    handoffToken,
    network,
    ownWallet,
    begunId,
    pageUrl,
    isPhone,
    onrampUrl,
    supportUrl,
    locale: page.locale,
    text: await loadTexts(page),
    periodDays,
    nextChargeAt: iso(now + periodDays * DAY),
  };
  const priceText = sayIn(facts.text)('mEvery', termsOf(facts));
  return sendListing(shown, { facts, scripts: [PAGE_ASSETS.subscribing], priceText }, <Panel facts={facts} page={page} />);
}

interface ListingSheet {
  facts: object;
  scripts: string[];
  priceText: string;
}

export function sendListing(shown: ShownListing, { facts, scripts, priceText }: ListingSheet, panel: Child): Response {
  const { page, sale } = shown;
  const { productName, sellerName, ownWallet, obstacle } = shown.facts;
  const own = ownWalletParts(ownWallet);
  return sendPage(
    page,
    {
      title: `${productName} · ${page.say('quoted', { name: sellerName })}`,
      layout: 'two',
      accentHex: sale.merchant.merchantSettings.checkout_accent_hex,
      scripts: scripts.length > 0 ? [...own.scripts, ...scripts] : [],
      // A product that is gone answers 404, but its page still shows the payment of a buyer who has paid.
      status: obstacle === 'pGone' ? 404 : 200,
      facts,
      alsoConnectTo: own.alsoConnectTo,
      card: { title: productName, description: `${priceText} · ${page.say('soldBy', { name: sellerName })}` },
    },
    <>
      <a class="skip" href="#pay">
        {page.say('skip')}
      </a>
      <header class="offer">
        <Brand {...shown} />
        <Price {...shown} />
      </header>
      <main class={`pay${isTest(shown.facts) ? ' test-frame' : ''}`} id="pay">
        {isTest(shown.facts) && <p class="test-mark">{page.say('testPage')}</p>}
        {panel}
      </main>
      <About {...shown} />
    </>,
  );
}
