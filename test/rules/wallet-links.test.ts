import { describe, expect, it } from 'vitest';
import type { PageFacts, PagePayment } from '../../worker/pages/checkout/facts.ts';
import { CHOOSING, firstCarried } from '../../worker/pages/checkout/state.ts';
import { Wallets } from '../../worker/pages/checkout/ways.tsx';
import { sayIn } from '../../worker/pages/parts/text.ts';
import { newPayment, pageFacts, START } from '../support/fixtures/page-values.ts';

const TOKEN = 'svc_handoff_of_one_buyer';
const PAYMENT = '01900000-0000-7000-8000-000000000001';

function shown(changed: Partial<PageFacts>, payment: PagePayment | null): string {
  const facts = pageFacts({ isPhone: true, ...changed });
  const state = { ...firstCarried(facts), ...CHOOSING, wallets: [], payment, status: null, openRequest: null };
  return String(Wallets({ facts, state, say: sayIn(facts.text) }));
}
const linksOf = (html: string): URL[] =>
  [...html.matchAll(/href="[^"]+browse\/([^?"]+)/g)].map(([, page]) => new URL(decodeURIComponent(page!)));

describe('links that open the page in a wallet', () => {
  const handedOff = { pageUrl: `https://svc.test/p/weather?handoff=${TOKEN}&lang=en`, handoffToken: TOKEN };

  it('a hand-off page has no links before the payment begins, and then links with the payment and without the token', () => {
    expect(linksOf(shown(handedOff, null))).toEqual([]);
    const html = shown(handedOff, newPayment(PAYMENT, START));
    expect(html).not.toContain(TOKEN);
    expect(linksOf(html).map(String)).toEqual(Array(2).fill(`https://svc.test/p/weather?lang=en#payment=${PAYMENT}`));
  });

  it('a page without a hand-off has the links from the start', () => {
    const plain = { pageUrl: 'https://svc.test/p/weather?lang=en', handoffToken: null };
    expect(linksOf(shown(plain, null)).map(String)).toEqual(Array(2).fill('https://svc.test/p/weather?lang=en'));
  });
});
