import { toMoneyResource } from '#core/money.ts';
import { isoOrNull } from '#core/time.ts';
import { nextChargeOf } from '#features/authorizations/resource.ts';
import type { AuthorizationRow } from '#platform/db/tables/subscriptions/authorizations.ts';
import type { AuthorizationStatus } from '#rules/subscriptions/authorization.ts';
import { PAGE_ASSETS } from '../assets.ts';
import { demoWalletOf, isPhone, ownWalletParts, type PageContext, sendPage } from '../document.tsx';
import { loadSubscribingTexts } from '../locales/dictionaries.ts';
import { plainName, sayIn } from '../parts/text.ts';
import { isTest } from '../parts/wallet-choice.ts';
import type { ManageFacts, SubscribingFacts } from './facts.ts';
import { FIRST_SUBSCRIBING } from './state.ts';
import { SubscribingPanel, SubscriptionView } from './view.tsx';

export const loadTexts = async ({ locale, text }: PageContext): Promise<SubscribingFacts['text']> => ({
  ...text,
  ...(await loadSubscribingTexts(locale)),
});

export function Panel({ facts, page }: { facts: SubscribingFacts; page: PageContext }) {
  return (
    <>
      <p class="hidden" role="status" aria-live="polite" id="announcement" />
      <div id="panel">
        <SubscribingPanel facts={facts} state={FIRST_SUBSCRIBING} say={sayIn(facts.text)} />
      </div>
      <noscript>
        <p class="notice">{page.say('needsScript')}</p>
      </noscript>
    </>
  );
}

/** Statuses in which the subscriber's wallet can still end something on the chain. */
const CANCELLABLE: AuthorizationStatus[] = ['pending', 'active', 'past_due', 'requires_reapproval', 'expired'];

const HOURS_A_DAY = 24;

/** `/s/{authorization_id}`: terms of a subscription, its next charge, and how to cancel. */
export async function sendSubscription(page: PageContext, row: AuthorizationRow): Promise<Response> {
  const { config } = page.c.var.ctx;
  const facts: ManageFacts = {
    page: 'manage',
    slug: row.slug,
    authorizationId: row.id,
    wallet: row.subscriberWallet,
    recipient: row.recipientWallet,
    isCancellable: CANCELLABLE.includes(row.status),
    subscription: { status: row.status, nextChargeAt: isoOrNull(nextChargeOf(row)), paidThrough: isoOrNull(row.paidThrough) },
    price: toMoneyResource({ asset: 'USDC', units: row.amount }),
    periodDays: row.periodHours / HOURS_A_DAY,
    productName: plainName(row.terms.productName),
    pageUrl: `${page.c.var.ctx.baseUrl}/s/${row.id}?locale=${page.locale}`,
    isPhone: isPhone(page.c),
    network: config.NETWORK,
    ownWallet: row.livemode ? demoWalletOf(config) : { kind: 'test' },
    locale: page.locale,
    text: await loadTexts(page),
  };
  const say = sayIn(facts.text);
  const { scripts, alsoConnectTo } = ownWalletParts(facts.ownWallet);
  return sendPage(
    page,
    {
      title: `${say('mTitle')} · ${facts.productName}`,
      layout: 'narrow',
      scripts: [...scripts, PAGE_ASSETS.subscribing],
      facts,
      alsoConnectTo,
      isUnframed: true,
    },
    <main class={`pay subscription${isTest(facts) ? ' test-frame' : ''}`}>
      {isTest(facts) && <p class="test-mark">{say('testPage')}</p>}
      <section class="about" aria-labelledby="subscription">
        <h1 id="subscription">{say('mTitle')}</h1>
        <div id="standing" class="standing">
          <SubscriptionView facts={facts} subscription={facts.subscription} say={say} zone="UTC" />
        </div>
        <p>
          <a href={`/me?locale=${page.locale}`}>{say('purchases')}</a>
        </p>
      </section>
      {facts.isCancellable && <Panel facts={facts} page={page} />}
    </main>,
  );
}
