import { PAGE_ASSETS } from '../assets.ts';
import { sayIn } from '../parts/text.ts';
import type { SubscribeFacts } from '../subscribing/facts.ts';
import { Panel, wordsOf } from '../subscribing/page.tsx';
import { termsOf } from '../subscribing/view.tsx';
import { type ShownListing, sendOffer } from './listing.tsx';

/** `/p/{slug}` of what renews itself: who sells what for how much, whole before any script has run; then the panel that subscribes. */
export async function sendSubscribe(shown: ShownListing, begunId: string | null): Promise<Response> {
  const { page, sale } = shown;
  const { slug, price, productName, obstacle, paymentSessionId, handoffToken, network, ownWallet, pageUrl, isPhone } = shown.facts;
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
  const costs = sayIn(facts.text)('mEvery', termsOf(facts));
  return sendOffer(shown, { facts, script: PAGE_ASSETS.subscribing, costs }, <Panel facts={facts} page={page} />);
}
