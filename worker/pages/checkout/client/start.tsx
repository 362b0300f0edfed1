import { createRoot } from 'hono/jsx/dom/client';
import { formatPeriod, type Say, sayIn } from '../../parts/text.ts';
import { Panel } from '../panel.tsx';
import { firstState, type PageFacts, type State } from '../state.ts';
import { Flow } from './actions.ts';
import { Store } from './page-state.ts';
import { Memory } from './stored-payment.ts';
import { listWallets, onWalletsChange } from './wallets.ts';
import { Watch } from './watch-payment.ts';

/** Takes the page over from the server: draws every change, moves the focus with it, and says it aloud. */
const ANNOUNCED_AT_SECONDS = [300, 60];

function titleOf(state: State, facts: PageFacts, say: Say): string {
  const titles = {
    choosing: 'choose',
    connecting: 'connecting',
    waiting: 'waiting',
    sending: 'sending',
    seen: 'seen',
    confirmed: 'confirmed',
    failed: 'failed',
    expired: 'expired',
    closing: 'closing',
    late: 'late',
    identity: 'identity',
    underway: 'underway',
  } as const;
  return say(titles[state.step], { wallet: state.walletName ?? '', name: facts.sellerName });
}

/** What a screen reader is told of a change; null where it need not be told. */
function announcementOf(before: State, after: State, facts: PageFacts, say: Say): string | null {
  if (after.problem && after.problem !== before.problem) return `${say('problem')}. ${say(after.problem.key, after.problem.values)}`;
  if (after.isTwice && !before.isTwice) return say('pTwice');
  if (after.step !== before.step) return titleOf(after, facts, say);
  if (after.copied && (after.copied !== before.copied || after.isSelected !== before.isSelected))
    return after.isSelected ? say('copyByHand') : `${say('copied')}: ${after.copied}`;
  if (after.isPhoneOpen && !before.isPhoneOpen) return say(facts.isPhone ? 'openWallet' : 'scanHelp');
  const left = after.secondsLeft;
  const mark = ANNOUNCED_AT_SECONDS.find((seconds) => left !== null && left <= seconds && (before.secondsLeft ?? 0) > seconds);
  return mark === undefined ? null : say('timeLeftSaid', { minutes: formatPeriod(facts.locale, mark / 60, 'minute') });
}

function start(facts: PageFacts, panel: HTMLElement): void {
  const say = sayIn(facts.text);
  const store = new Store({ ...firstState(facts), wallets: listWallets(facts) });
  const memory = new Memory(facts);
  const flow = new Flow(facts, store, memory, new Watch(store, memory));
  const root = createRoot(panel);
  const pageTitle = document.title;
  let drawn: State | null = null;
  const draw = () => {
    const before = drawn;
    const after = store.state;
    drawn = after;
    root.render(<Panel facts={facts} state={after} say={say} actions={flow} />);
    if (before === null) return;
    const spoken = announcementOf(before, after, facts, say);
    if (spoken !== null) document.getElementById('announcement')!.textContent = spoken;
    if (after.step === before.step) return;
    document.title = after.step === 'choosing' ? pageTitle : `${titleOf(after, facts, say)} · ${pageTitle}`;
    // After the drawing; the focus goes where the news is, unless the page only remembers old ones.
    setTimeout(() => document.getElementById('panel-title')?.focus({ preventScroll: false }));
  };
  store.subscribe(draw);
  draw();
  onWalletsChange(() => store.set({ wallets: listWallets(facts) }));
  flow.start();
}

/** A merchant's image that does not load leaves no broken frame. */
for (const image of document.querySelectorAll<HTMLImageElement>('.logo, .hero')) {
  const hide = () => {
    image.hidden = true;
  };
  if (image.complete && image.naturalWidth === 0) hide();
  image.addEventListener('error', hide);
}

/** The payment that the address names stays named in every language. */
for (const link of document.querySelectorAll<HTMLAnchorElement>('a[hreflang]')) link.hash = location.hash;

const facts = document.getElementById('facts');
const panel = document.getElementById('panel');
if (facts?.textContent && panel) start(JSON.parse(facts.textContent) as PageFacts, panel);
