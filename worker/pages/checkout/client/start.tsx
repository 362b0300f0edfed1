import { createRoot } from 'hono/jsx/dom/client';
import { startServiceTime } from '../../browser/call-api.ts';
import { carryFragment } from '../../browser/draw-page.ts';
import { hideBrokenPictures } from '../../browser/hide-broken-pictures.ts';
import { TO_PAY } from '../../browser/wallets/sign-with-wallet.ts';
import { listWallets, onWalletsChange } from '../../browser/wallets/wallets.ts';
import { drawQrCode } from '../../parts/qr.ts';
import { formatPeriod, type Say, sayIn } from '../../parts/text.ts';
import type { PageFacts } from '../facts.ts';
import { isStoreEffect, isWalletEffect, type PageEffect } from '../machine/events.ts';
import { problemTitle } from '../notes.tsx';
import { Panel } from '../panel.tsx';
import type { PageState } from '../state.ts';
import { stepTextsOf } from '../words.ts';
import { newActions } from './actions.ts';
import { addressedPayment } from './begin-payment.ts';
import { type CheckoutHolder, holdCheckout, type Report } from './page-state.ts';
import { WalletEffects } from './pay-with-wallet.ts';
import { ServiceEffects } from './service.ts';
import { StoredPayment } from './stored-payment.ts';

const ANNOUNCED_AT_SECONDS = [300, 60];
const LEAVE_AFTER_MS = 5000;

function titleOf(state: PageState, facts: PageFacts, say: Say): string {
  const { title, values } = stepTextsOf(state, facts);
  return say(title, values);
}

const secondsLeftOf = (state: PageState): number | null => ('secondsLeft' in state ? state.secondsLeft : null);
const copiedOf = (state: PageState) => ('copied' in state ? state.copied : null);
const problemOf = (state: PageState) => ('problem' in state ? state.problem : null);

function announcementOf(before: PageState, after: PageState, facts: PageFacts, say: Say): string | null {
  const problem = problemOf(after);
  if (problem && problem !== problemOf(before)) return `${say(problemTitle(problem))}. ${say(problem.key, problem.values)}`;
  if (after.isTwice && !before.isTwice) return say('pTwice');
  if (after.step === 'unavailable' && before.step !== 'unavailable') return `${say('problem')}. ${say(after.reason)}`;
  if (after.step !== before.step) return titleOf(after, facts, say);
  const copied = copiedOf(after);
  const copiedBefore = copiedOf(before);
  if (copied && (copied.what !== copiedBefore?.what || copied.isSelected !== copiedBefore.isSelected))
    return copied.isSelected ? say('copyByHand') : `${say('copied')}: ${copied.what}`;
  if (after.isPhoneOpen && !before.isPhoneOpen) return say(facts.isPhone ? 'openWallet' : 'scanHelp');
  const left = secondsLeftOf(after);
  const mark = ANNOUNCED_AT_SECONDS.find((seconds) => left !== null && left <= seconds && (secondsLeftOf(before) ?? 0) > seconds);
  return mark === undefined ? null : say('timeLeftSaid', { minutes: formatPeriod(facts.locale, mark / 60, 'minute') });
}

function drawOnChange(page: CheckoutHolder, facts: PageFacts, panel: HTMLElement): void {
  const say = sayIn(facts.text);
  const root = createRoot(panel);
  const pageTitle = document.title;
  const actions = newActions(page.report);
  let drawn: PageState | null = null;
  const draw = () => {
    const before = drawn;
    const after = page.state;
    drawn = after;
    root.render(<Panel facts={facts} state={after} say={say} actions={actions} drawCode={drawQrCode} />);
    if (before === null) return;
    const spoken = announcementOf(before, after, facts, say);
    if (spoken !== null) document.getElementById('announcement')!.textContent = spoken;
    if (after.step === before.step) return;
    const isOwnTitle = after.step === 'choosing' || after.step === 'unavailable';
    document.title = isOwnTitle ? pageTitle : `${titleOf(after, facts, say)} · ${pageTitle}`;
    // After the drawing. The focus moves to the new step, unless the page only restores an old one.
    setTimeout(() => document.getElementById('panel-title')?.focus({ preventScroll: false }));
  };
  page.onChange(draw);
  draw();
}

function listenToBrowser(report: Report, facts: PageFacts, stored: StoredPayment): void {
  onWalletsChange(() => report({ kind: 'walletsChanged', wallets: listWallets(facts, TO_PAY) }));
  stored.onChange((payment) => report({ kind: 'storedChanged', stored: payment }));
  setInterval(() => report({ kind: 'secondPassed' }), 1000);
  // Restored from the back-forward cache after leaving for the shop: the redirect is cancelled.
  addEventListener('pageshow', ({ persisted }) => persisted && report({ kind: 'pageRestored' }));
  document.addEventListener('visibilitychange', () => document.hidden || report({ kind: 'buyerReturned' }));
}

function start(facts: PageFacts, panel: HTMLElement): void {
  startServiceTime(facts.now);
  const page = holdCheckout(facts);
  const stored = new StoredPayment(facts);
  const wallet = new WalletEffects(facts, page, stored);
  const service = new ServiceEffects(facts, page, stored);
  const run = (effect: PageEffect): void => {
    if (isWalletEffect(effect)) void wallet.run(effect);
    else if (isStoreEffect(effect)) stored.apply(effect);
    else if (effect.kind === 'leave') location.assign(effect.url);
    else if (effect.kind === 'leaveSoon') setTimeout(() => page.report({ kind: 'leaveDue' }), LEAVE_AFTER_MS);
    else void service.run(effect);
  };
  page.connect(run, () => {
    wallet.settle();
    service.watch();
  });
  page.report({ kind: 'walletsChanged', wallets: listWallets(facts, TO_PAY) });
  drawOnChange(page, facts, panel);
  listenToBrowser(page.report, facts, stored);
  const [known, isOver, identity] = [stored.read(), stored.isOver(), stored.readIdentity()];
  page.report({ kind: 'pageOpened', stored: known, isOver, identity, addressedId: addressedPayment() });
}

hideBrokenPictures();

carryFragment();

const facts = document.getElementById('facts');
const panel = document.getElementById('panel');
if (facts?.textContent && panel) start(JSON.parse(facts.textContent) as PageFacts, panel);
