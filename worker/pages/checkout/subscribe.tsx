import { PAGE_ASSETS } from '../assets.ts';
import { ownWalletParts, sendPage } from '../document.tsx';
import { sayIn } from '../parts/text.ts';
import { isTest } from '../parts/wallet-choice.ts';
import type { SubscribeFacts } from '../subscribing/facts.ts';
import { Panel, wordsOf } from '../subscribing/page.tsx';
import { termsOf } from '../subscribing/view.tsx';
import { About, Brand, Price, type ShownListing } from './listing.tsx';

/** `/p/{slug}` of what renews itself: who sells what for how much, whole before any script has run; then the panel that subscribes. */
export async function sendSubscribe(shown: ShownListing, begunId: string | null): Promise<Response> {
  const { page, sale } = shown;
  const { slug, price, productName, sellerName, obstacle, paymentSessionId, handoffToken, network, ownWallet, pageUrl, isPhone } =
    shown.facts;
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
    locale: page.locale,
    text: await wordsOf(page),
    periodDays: sale.product.accessPeriodDays ?? 0,
  };
  const { scripts, alsoConnectTo } = ownWalletParts(ownWallet);
  return sendPage(
    page,
    {
      title: `${productName} · ${page.say('quoted', { name: sellerName })}`,
      layout: 'two',
      accentHex: sale.merchant.merchantSettings.checkout_accent_hex,
      scripts: [...scripts, PAGE_ASSETS.subscribing],
      status: obstacle === 'pGone' ? 404 : 200,
      facts,
      alsoConnectTo,
      card: {
        title: productName,
        description: `${sayIn(facts.text)('mEvery', termsOf(facts))} · ${page.say('soldBy', { name: sellerName })}`,
      },
    },
    <>
      <a class="skip" href="#pay">
        {page.say('choose')}
      </a>
      <header class="offer">
        <Brand {...shown} />
        <Price {...shown} />
      </header>
      <main class={`pay${isTest(facts) ? ' test-frame' : ''}`} id="pay">
        {isTest(facts) && <p class="test-mark">{page.say('testPage')}</p>}
        <Panel facts={facts} page={page} />
      </main>
      <About {...shown} />
    </>,
  );
}
