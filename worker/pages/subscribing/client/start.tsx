import { createRoot } from 'hono/jsx/dom/client';
import { hideBrokenPictures } from '../../browser/hide-broken-pictures.ts';
import { inOneTab, TabTurn } from '../../browser/one-tab.ts';
import { PageHolder } from '../../browser/page-holder.ts';
import { readReceiptEmail, storeReceiptEmail } from '../../browser/receipt-email.ts';
import { signWith, TO_PAY } from '../../browser/wallets/sign-with-wallet.ts';
import { listWallets, type OpenWallet, onWalletsChange, openWallet, WalletError } from '../../browser/wallets/wallets.ts';
import { drawQrCode } from '../../parts/qr.ts';
import { sayIn } from '../../parts/text.ts';
import type { SubscribingFacts } from '../facts.ts';
import { holdsTurn, nextSubscribing, problemTitle } from '../machine.ts';
import { FIRST_SUBSCRIBING, type Stored, type SubscribingEffect, type SubscribingNews, type SubscribingState } from '../state.ts';
import { type SubscribingActions, SubscribingPanel, SubscriptionView } from '../view.tsx';
import { ManageService, SubscribeService } from './service.ts';

type Holder = PageHolder<SubscribingState, SubscribingNews, SubscribingEffect>;

const IDENTITY_EVERY_MS = 10_000;

const keyOf = (facts: SubscribingFacts): string =>
  facts.page === 'subscribe' ? `svc:subscribing:${facts.slug}:${facts.paymentSessionId ?? facts.handoffToken?.slice(-24) ?? ''}` : '';

function readStored(facts: SubscribingFacts): Stored | null {
  if (facts.page !== 'subscribe') return null;
  const begun = facts.begunId === null ? null : { paymentId: facts.begunId, payer: null };
  try {
    const { paymentId, payer } = JSON.parse(localStorage.getItem(keyOf(facts)) ?? '{}') as Partial<Stored>;
    return typeof paymentId === 'string' && typeof payer === 'string' ? { paymentId, payer } : begun;
  } catch {
    return begun;
  }
}

function store(facts: SubscribingFacts, stored: Stored | null): void {
  try {
    if (stored === null) localStorage.removeItem(keyOf(facts));
    else localStorage.setItem(keyOf(facts), JSON.stringify(stored));
  } catch {
    // Without storage the buyer can still subscribe, but a reload loses the payment.
  }
}

class Wallets {
  #open: OpenWallet | null = null;
  readonly #turn = new TabTurn();
  readonly #facts: SubscribingFacts;

  constructor(facts: SubscribingFacts) {
    this.#facts = facts;
  }

  async open(attempt: number, walletName: string): Promise<SubscribingNews> {
    return this.#refusable(attempt, async () => {
      const subscriber = this.#facts.page === 'manage' ? this.#facts.wallet : undefined;
      this.#open = await openWallet(this.#facts, TO_PAY, walletName, subscriber);
      return { kind: 'walletOpened', attempt, account: this.#open.account.address };
    });
  }

  /** `name`: lock name, so that one tab at a time asks a wallet. */
  async ask(attempt: number, transaction: string, name: string): Promise<SubscribingNews> {
    if (!(await this.#turn.take(`svc:asking:${name}`))) return { kind: 'turnRefused', attempt };
    return this.#refusable(attempt, async () => {
      const { signedTransaction, txSignature } = await signWith(this.#open!, this.#facts, transaction);
      return { kind: 'signed', attempt, transaction: signedTransaction, txSignature };
    });
  }

  /** Releases the turn once the page's state no longer holds it. */
  settle(state: SubscribingState): void {
    if (!holdsTurn(state)) this.#turn.giveBack();
  }

  async #refusable(attempt: number, work: () => Promise<SubscribingNews>): Promise<SubscribingNews> {
    try {
      return await work();
    } catch (error) {
      return { kind: 'walletRefused', attempt, refusal: error instanceof WalletError ? error.refusal : 'failed' };
    }
  }
}

interface Parties {
  facts: SubscribingFacts;
  wallets: Wallets;
  service: SubscribeService | ManageService;
}

/** Runs in one tab after the other, so that two tabs continue one payment. */
async function prepare({ facts, service }: Parties, effect: Extract<SubscribingEffect, { kind: 'prepare' }>): Promise<SubscribingNews> {
  if (facts.page === 'manage') return service.prepare(effect);
  return inOneTab(`${keyOf(facts)}:preparing`, async () => {
    const stored = readStored(facts);
    const isSame = stored?.payer === effect.account;
    const news = await service.prepare(isSame ? { ...effect, paymentId: stored.paymentId } : effect);
    // Stored inside the lock, before another tab reads.
    if (news.kind === 'prepared') store(facts, { paymentId: news.progress.paymentId, payer: effect.account });
    return news;
  });
}

async function run({ facts, wallets, service }: Parties, effect: SubscribingEffect, asked: string): Promise<SubscribingNews | null> {
  switch (effect.kind) {
    case 'openWallet':
      return wallets.open(effect.attempt, effect.walletName);
    case 'ask':
      return wallets.ask(effect.attempt, effect.transaction, asked);
    case 'prepare':
      return prepare({ facts, wallets, service }, effect);
    case 'send':
      return service.send(effect);
    case 'look':
      return service.poll(effect);
    case 'store':
      store(facts, effect.stored);
      return null;
  }
}

function drawOnChange(page: Holder, facts: SubscribingFacts, panel: HTMLElement): void {
  const say = sayIn(facts.text);
  const root = createRoot(panel);
  const shown = facts.page === 'manage' ? createRoot(document.getElementById('standing')!) : null;
  const { report } = page;
  const actions: SubscribingActions = {
    choose: (walletName) => report({ kind: 'walletPressed', walletName }),
    goOn: () => report({ kind: 'continuePressed' }),
    startAgain: () => report({ kind: 'startAgainPressed' }),
    back: () => report({ kind: 'backPressed' }),
    finishIdentity: () => report({ kind: 'identityFinished' }),
    openPhone: () => report({ kind: 'phonePressed' }),
    receiptEmail: readReceiptEmail,
    storeEmail: storeReceiptEmail,
  };
  let drawn: SubscribingState | null = null;
  const draw = () => {
    const before = drawn;
    const after = page.state;
    drawn = after;
    root.render(<SubscribingPanel facts={facts} state={after} say={say} actions={actions} drawCode={drawQrCode} />);
    if (facts.page === 'manage' && (before === null || (after.step === 'cancelled' && before.step !== 'cancelled'))) {
      const subscription = after.step === 'cancelled' ? after.subscription : facts.subscription;
      shown?.render(<SubscriptionView facts={facts} subscription={subscription} say={say} />);
    }
    if (before === null) return;
    const problem = 'problem' in after ? after.problem : null;
    const isNew = problem !== null && problem !== ('problem' in before ? before.problem : null);
    const announcement = document.getElementById('announcement');
    if (announcement && isNew) announcement.textContent = `${say(problemTitle(facts, problem))}. ${say(problem.key, problem.values)}`;
    if (after.step !== before.step) setTimeout(() => document.getElementById('panel-title')?.focus());
  };
  page.onChange(draw);
  draw();
}

function start(facts: SubscribingFacts, panel: HTMLElement): void {
  const page: Holder = new PageHolder(FIRST_SUBSCRIBING, (state, news) => nextSubscribing(facts, state, news));
  const service = facts.page === 'subscribe' ? new SubscribeService(facts) : new ManageService(facts);
  const wallets = new Wallets(facts);
  const askedFor = () => (facts.page === 'manage' ? facts.authorizationId : (page.state.paymentId ?? ''));
  page.connect(
    (effect) => {
      void run({ facts, wallets, service }, effect, askedFor()).then((news) => news && page.report(news));
    },
    () => wallets.settle(page.state),
  );
  const list = () => page.report({ kind: 'walletsChanged', wallets: listWallets(facts, TO_PAY) });
  list();
  drawOnChange(page, facts, panel);
  onWalletsChange(list);
  page.report({ kind: 'pageOpened', stored: readStored(facts) });
  const askWhoItIs = () => document.hidden || page.report({ kind: 'identityDue' });
  setInterval(askWhoItIs, IDENTITY_EVERY_MS);
  document.addEventListener('visibilitychange', askWhoItIs);
}

hideBrokenPictures();

const facts = document.getElementById('facts');
const panel = document.getElementById('panel');
if (facts?.textContent && panel) start(JSON.parse(facts.textContent) as SubscribingFacts, panel);
