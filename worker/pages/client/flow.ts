import type { Actions, PageFacts, Problem, Session } from '../view/model.ts';
import { firstState } from '../view/model.ts';
import { sayIn } from '../view/text.ts';
import { type Answer, confirm, connect, type Failure, openIdentity, prepare, readHandoff, send, toSession } from './api.ts';
import { fromBase58 } from './bytes.ts';
import type { Memory } from './memory.ts';
import { problemOf, walletProblem } from './problems.ts';
import { qrOf } from './qr.ts';
import type { Store } from './store.ts';
import { listWallets, openWallet, type Signed, signWith, WalletError } from './wallets.ts';
import type { Watch } from './watch.ts';

const SEND_TRIES = 4;
const COPIED_MS = 2000;
const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a person does on the page, and what the page does about it. */
export class Flow implements Actions {
  readonly #facts: PageFacts;
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #watch: Watch;
  /** Rises with every choice, so that what belongs to an older one is not shown any more. */
  #attempt = 0;
  #isDelivering = false;

  constructor(facts: PageFacts, store: Store, memory: Memory, watch: Watch) {
    this.#facts = facts;
    this.#store = store;
    this.#memory = memory;
    this.#watch = watch;
  }

  /** What this browser remembers comes first; a payment already begun is never begun twice. */
  start(): void {
    const { begun } = this.#facts;
    const session = this.#memory.read() ?? (begun && toSession(begun, begun.tx_signature));
    const identity = this.#memory.readIdentity();
    if (session) this.#watch.follow(session);
    else if (identity) this.#store.set({ step: 'identity', identity });
    else if (this.#facts.handoffToken) void this.#recognise(this.#facts.handoffToken);
    this.#memory.onChange(() => this.#adopt());
  }

  payWith = (walletName: string): void => void this.#pay(walletName);
  openPhone = (): void => void this.#open(true);
  finishIdentity = (): void => void this.#open(false);

  cancel = (): void => {
    this.#attempt++;
    this.#store.set({ step: 'choosing', isBusy: false, walletName: null });
  };

  stay = (): void => this.#watch.stay();
  chooseAsset = (asset: string): void => this.#store.set({ asset });

  startAgain = (): void => {
    const status = this.#store.state.payment?.status;
    // Only what has ended may be followed by another.
    if (status !== 'FAILED' && status !== 'CONFIRMED') return;
    this.#attempt++;
    this.#watch.stop();
    this.#memory.forget();
    this.#memory.forgetIdentity();
    this.#store.set({ ...firstState(this.#facts), wallets: listWallets(this.#facts) });
  };

  copy = (what: string, text: string): void => {
    void navigator.clipboard?.writeText(text).then(async () => {
      this.#store.set({ copied: what });
      await wait(COPIED_MS);
      if (this.#store.state.copied === what) this.#store.set({ copied: null });
    });
  };

  submitSignature = (event: Event): void => {
    event.preventDefault();
    const signature = new FormData(event.target as HTMLFormElement).get('signature');
    void this.#check(String(signature).trim());
  };

  #adopt(): void {
    const session = this.#memory.read();
    if (session && session.paymentId !== this.#store.state.session?.paymentId) this.#watch.follow(session);
    else if (session) this.#watch.now();
  }

  async #recognise(token: string): Promise<void> {
    const answer = await readHandoff(this.#facts.slug, token);
    if (answer.ok) this.#store.set({ customer: answer.value.customer_label ?? null });
    else this.#store.set({ problem: this.#problem(answer) });
  }

  async #pay(walletName: string): Promise<void> {
    const attempt = ++this.#attempt;
    const isCurrent = () => attempt === this.#attempt;
    this.#store.set({ step: 'connecting', walletName, problem: null });
    try {
      const open = await openWallet(this.#facts, walletName);
      if (!isCurrent()) return;
      const begun = await this.#begin(open.account.address);
      if (!begun || !isCurrent()) return;
      this.#store.set({ step: 'waiting' });
      await this.#deliver(begun.session, await signWith(open, this.#facts, begun.transaction));
    } catch (error) {
      if (!(error instanceof WalletError)) throw error;
      if (isCurrent()) this.#store.set({ step: 'choosing', problem: walletProblem(error, this.#around()) });
    }
  }

  /** The page's payment and a transaction for this account: the payment under way, or a new one where there is none. */
  async #begin(account: string): Promise<{ session: Session; transaction: string } | null> {
    return this.#memory.alone(async () => {
      const known = this.#store.state.session ?? this.#memory.read();
      if (!known) {
        const begun = await this.#connect(account);
        if (!begun) return null;
        if (begun.transaction) return { session: begun.session, transaction: begun.transaction };
        return this.#prepare(begun.session, account);
      }
      if (!this.#store.state.session) this.#watch.follow(known);
      return this.#prepare(known, account);
    });
  }

  async #prepare(session: Session, account: string): Promise<{ session: Session; transaction: string } | null> {
    const answer = await prepare(session.paymentId, account);
    if (answer.ok) return { session, transaction: answer.value.transaction };
    this.#refuse(answer);
    return null;
  }

  async #connect(walletAddress?: string): Promise<{ session: Session; transaction: string | undefined } | null> {
    const wishes = { asset: this.#store.state.asset, walletAddress, identitySessionId: this.#memory.readIdentity()?.sessionId };
    const answer = await connect(this.#facts, wishes);
    if (!answer.ok) {
      // Ten minutes are over: the step is taken once more, from its beginning.
      if (answer.code === 'identity_expired') this.#memory.forgetIdentity();
      if (answer.code === 'identity_expired') await this.#identify();
      else this.#refuse(answer);
      return null;
    }
    if ('identity' in answer.value) {
      await this.#identify();
      return null;
    }
    this.#memory.forgetIdentity();
    const session = toSession(answer.value);
    this.#memory.write(session);
    this.#watch.follow(session);
    return { session, transaction: answer.value.transaction };
  }

  /** Who the buyer is, shown elsewhere: one link, remembered while they are away. */
  async #identify(): Promise<void> {
    const known = this.#memory.readIdentity();
    if (known) {
      const problem = { key: 'identityNotYet', values: { provider: known.provider } } as const;
      return this.#store.set({ step: 'identity', identity: known, problem });
    }
    const answer = await openIdentity(this.#facts.slug);
    if (!answer.ok) return this.#refuse(answer);
    const { identity_session_id: sessionId, provider, deep_link: deepLink } = answer.value;
    const name = provider.slice(0, 1).toUpperCase() + provider.slice(1);
    const identity = { sessionId, provider: name, deepLink, expiresAt: answer.value.expires_at };
    this.#memory.writeIdentity(identity);
    this.#store.set({ step: 'identity', problem: null, identity });
  }

  /** Begins the payment without knowing the wallet: for one elsewhere, or once the buyer has shown who they are. */
  async #open(isForPhone: boolean): Promise<void> {
    this.#store.set({ isBusy: true, problem: null });
    const session = await this.#memory.alone(async () => {
      const known = this.#store.state.session ?? this.#memory.read();
      if (known && !this.#store.state.session) this.#watch.follow(known);
      return known ?? (await this.#connect())?.session ?? null;
    });
    this.#store.set({ isBusy: false });
    if (session === null) return;
    const step = this.#store.state.step === 'identity' ? 'choosing' : this.#store.state.step;
    const qr = this.#facts.isPhone ? null : qrOf(session.solanaPayUrl);
    this.#store.set({ step, ...(isForPhone ? { isPhoneOpen: true, qr } : {}) });
  }

  /** Signed is paid for: from here the page only looks on. Sending the same bytes twice is sending them once. */
  async #deliver(session: Session, signed: Signed): Promise<void> {
    // Two wallets may have been asked, one after the other: the first answer pays, the second is not sent.
    if (this.#isDelivering || this.#store.state.session?.txSignature) return;
    this.#isDelivering = true;
    try {
      await this.#send(session, signed);
    } finally {
      this.#isDelivering = false;
    }
  }

  async #send(session: Session, signed: Signed): Promise<void> {
    if ('txSignature' in signed) {
      this.#watch.remember(session, signed.txSignature);
      this.#store.set({ step: 'seen', problem: null });
      this.#watch.now();
      return;
    }
    this.#store.set({ step: 'sending', problem: null });
    let answer = await send(session.paymentId, signed.signedTransaction);
    for (let tries = 1; !answer.ok && isPassing(answer) && tries < SEND_TRIES; tries++) {
      await wait(answer.retryAfterMs ?? 800 * 2 ** tries);
      answer = await send(session.paymentId, signed.signedTransaction);
    }
    if (!answer.ok) return this.#refuse(answer);
    this.#watch.remember(session, answer.value.tx_signature);
    await this.#watch.apply({ ...session, txSignature: answer.value.tx_signature }, answer.value.payment);
    this.#watch.now();
  }

  async #check(signature: string): Promise<void> {
    const { session } = this.#store.state;
    if (!session) return;
    if (fromBase58(signature)?.length !== 64) return this.#store.set({ problem: { key: 'pMismatch' } });
    this.#store.set({ isBusy: true, problem: null });
    const answer = await confirm(session.paymentId, signature);
    this.#store.set({ isBusy: false });
    if (!answer.ok) return this.#refuse(answer);
    this.#watch.remember(session, signature);
    await this.#watch.apply({ ...session, txSignature: signature }, answer.value.payment, answer.value.redirect_url);
    this.#watch.now();
  }

  /** The service said no: why, in one sentence, and back to the choice. Where it is over, the payment itself says so. */
  #refuse(failure: Failure): void {
    const isOver = ['session_expired', 'payment_failed', 'state_conflict', 'payment_transaction_conflict'].includes(failure.code);
    const { session } = this.#store.state;
    this.#store.set({ step: 'choosing', isBusy: false, problem: isOver && session ? null : this.#problem(failure) });
    if (session) this.#watch.now();
  }

  #problem = (failure: Failure): Problem => problemOf(failure, this.#around());

  #around() {
    const say = sayIn(this.#facts.text);
    const { walletName, asset } = this.#store.state;
    return { wallet: walletName ?? '', asset, network: say(this.#facts.network) };
  }
}

const isPassing = (answer: Answer<unknown> & { ok: false }): boolean =>
  answer.status === 0 || answer.status === 429 || answer.status >= 500;
