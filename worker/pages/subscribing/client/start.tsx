import { createRoot } from 'hono/jsx/dom/client';
import { PageHolder } from '../../browser/page-holder.ts';
import { signWith, TO_PAY } from '../../browser/sign-with-wallet.ts';
import { listWallets, type OpenWallet, onWalletsChange, openWallet, WalletError } from '../../browser/wallets.ts';
import { sayIn } from '../../parts/text.ts';
import type { SubscribingFacts } from '../facts.ts';
import { nextSubscribing } from '../machine.ts';
import { FIRST_SUBSCRIBING, type Stored, type SubscribingEffect, type SubscribingNews, type SubscribingState } from '../state.ts';
import { type SubscribingActions, SubscribingPanel } from '../view.tsx';
import { ManageService, SubscribeService } from './service.ts';

/** Takes the page over from the server: draws every change, moves the focus with it, and has wallet and service do what is to be done. */
type Holder = PageHolder<SubscribingState, SubscribingNews, SubscribingEffect>;

/** The payment that was begun here, over a refresh and a closed laptop. */
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
    // A browser that keeps nothing still subscribes; it only forgets.
  }
}

class Wallets {
  #open: OpenWallet | null = null;
  readonly #facts: SubscribingFacts;

  constructor(facts: SubscribingFacts) {
    this.#facts = facts;
  }

  async open(attempt: number, walletName: string): Promise<SubscribingNews> {
    return this.#refusable(attempt, async () => {
      this.#open = await openWallet(this.#facts, TO_PAY, walletName);
      return { kind: 'walletOpened', attempt, account: this.#open.account.address };
    });
  }

  async ask(attempt: number, transaction: string): Promise<SubscribingNews> {
    return this.#refusable(attempt, async () => {
      const { signedTransaction, txSignature } = await signWith(this.#open!, this.#facts, transaction);
      return { kind: 'signed', attempt, transaction: signedTransaction, txSignature };
    });
  }

  async #refusable(attempt: number, work: () => Promise<SubscribingNews>): Promise<SubscribingNews> {
    try {
      return await work();
    } catch (error) {
      return { kind: 'walletRefused', attempt, refusal: error instanceof WalletError ? error.refusal : 'failed' };
    }
  }
}

async function run(
  facts: SubscribingFacts,
  wallets: Wallets,
  service: SubscribeService | ManageService,
  effect: SubscribingEffect,
): Promise<SubscribingNews | null> {
  switch (effect.kind) {
    case 'openWallet':
      return wallets.open(effect.attempt, effect.walletName);
    case 'ask':
      return wallets.ask(effect.attempt, effect.transaction);
    case 'prepare':
      return service.prepare(effect);
    case 'send':
      return service.send(effect);
    case 'look':
      return service.look(effect);
    case 'store':
      store(facts, effect.stored);
      return null;
  }
}

function drawOnChange(page: Holder, facts: SubscribingFacts, panel: HTMLElement): void {
  const say = sayIn(facts.text);
  const root = createRoot(panel);
  const { report } = page;
  const actions: SubscribingActions = {
    choose: (walletName) => report({ kind: 'walletPressed', walletName }),
    goOn: () => report({ kind: 'continuePressed' }),
    startAgain: () => report({ kind: 'startAgainPressed' }),
    back: () => report({ kind: 'backPressed' }),
    finishIdentity: () => report({ kind: 'identityFinished' }),
  };
  let drawn: SubscribingState | null = null;
  const draw = () => {
    const before = drawn;
    const after = page.state;
    drawn = after;
    root.render(<SubscribingPanel facts={facts} state={after} say={say} actions={actions} />);
    if (before === null) return;
    const problem = 'problem' in after ? after.problem : null;
    const isNew = problem !== null && problem !== ('problem' in before ? before.problem : null);
    const announcement = document.getElementById('announcement');
    if (announcement && isNew) announcement.textContent = `${say('problem')}. ${say(problem.key, problem.values)}`;
    // After the drawing; the focus goes where the news is.
    if (after.step !== before.step) setTimeout(() => document.getElementById('panel-title')?.focus());
  };
  page.onChange(draw);
  draw();
}

function start(facts: SubscribingFacts, panel: HTMLElement): void {
  const page: Holder = new PageHolder(FIRST_SUBSCRIBING, (state, news) => nextSubscribing(facts, state, news));
  const service = facts.page === 'subscribe' ? new SubscribeService(facts) : new ManageService(facts);
  const wallets = new Wallets(facts);
  page.connect((effect) => {
    void run(facts, wallets, service, effect).then((news) => news && page.report(news));
  });
  const list = () => page.report({ kind: 'walletsChanged', wallets: listWallets(facts, TO_PAY) });
  list();
  drawOnChange(page, facts, panel);
  onWalletsChange(list);
  page.report({ kind: 'pageOpened', stored: readStored(facts) });
}

const facts = document.getElementById('facts');
const panel = document.getElementById('panel');
if (facts?.textContent && panel) start(JSON.parse(facts.textContent) as SubscribingFacts, panel);
