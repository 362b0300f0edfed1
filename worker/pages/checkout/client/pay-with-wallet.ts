import type { PageFacts, Session } from '../state.ts';
import { type Answer, confirm, prepare, send } from './api.ts';
import type { Beginning, Begun } from './begin-payment.ts';
import type { Store } from './page-state.ts';
import type { Problems } from './problems.ts';
import type { Memory } from './stored-payment.ts';
import { isSender, type OpenWallet, openWallet, type Signed, signWith, WalletError } from './wallets.ts';
import { isEnding, type Watch } from './watch-payment.ts';

const SEND_TRIES = 6;
export const wait = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** One wallet is asked for one payment at a time, and only its answer to the present question is sent. */
export class Paying {
  readonly #facts: PageFacts;
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #watch: Watch;
  readonly #problems: Problems;
  readonly #beginning: Beginning;
  /** Rises with every choice, so that what belongs to an older one is neither shown nor sent any more. */
  #attempt = 0;
  /** A wallet that sends by itself and has not answered: whatever is chosen meanwhile, it may still pay. */
  #asked: string | null = null;
  /** Ends the wait for a wallet that only signs: what it answers afterwards is not sent. */
  #giveUp = (): void => {};
  #turn: Promise<unknown> = Promise.resolve();

  constructor(facts: PageFacts, store: Store, memory: Memory, watch: Watch, problems: Problems, beginning: Beginning) {
    this.#facts = facts;
    this.#store = store;
    this.#memory = memory;
    this.#watch = watch;
    this.#problems = problems;
    this.#beginning = beginning;
  }

  async payWith(walletName: string): Promise<void> {
    if (this.#asked !== null) return this.#store.set({ problem: { key: 'pStillAsked', values: { wallet: this.#asked } } });
    if (this.#store.state.isUnclear) return;
    const attempt = ++this.#attempt;
    const isCurrent = () => attempt === this.#attempt;
    this.#store.set({ step: 'connecting', walletName, problem: null });
    try {
      const open = await openWallet(this.#facts, walletName);
      if (!isCurrent()) return;
      const begun = await this.#beginning.payment(open.account.address);
      await this.#turn;
      if (!begun || !isCurrent()) return;
      const asking = this.#memory.asking(begun.session.paymentId, () => this.#ask(begun, open, isCurrent));
      this.#turn = asking.catch(() => {});
      if (!(await asking) && isCurrent()) this.#store.set({ step: 'choosing', problem: { key: 'pElsewhere' } });
    } catch (error) {
      const refusal = error instanceof WalletError ? error : new WalletError('failed', String(error));
      if (isCurrent()) this.#fail(refusal, walletName);
      // A request that the buyer closed stands in nobody's way any more.
      else if (this.#store.state.problem?.values?.wallet === walletName) this.#store.set({ problem: null });
    }
  }

  /** Back to the choice. The wallet cannot be told: its request stays open until the person closes it. */
  cancel(): void {
    this.#attempt++;
    this.#giveUp();
    const { step, walletName } = this.#store.state;
    const problem = step === 'waiting' ? ({ key: 'pCloseFirst', values: { wallet: walletName ?? '' } } as const) : null;
    this.#store.set({ step: 'choosing', isBusy: false, walletName: null, problem });
  }

  async #ask({ session, transaction }: Begun, open: OpenWallet, isCurrent: () => boolean): Promise<void> {
    // Another tab may have paid while this one opened its wallet.
    const kept = this.#memory.read();
    if (kept?.paymentId === session.paymentId && (kept.txSignature || this.#store.state.isUnclear)) return this.#watch.follow(kept);
    const prepared = transaction ?? (await this.#prepare(session, open));
    // Nobody approves in the last moments: what is asked for then would come too late.
    if (prepared === null || !isCurrent() || isEnding(session.expiresAt)) return isCurrent() ? this.#watch.now() : undefined;
    this.#store.set({ step: 'waiting' });
    const signed = await this.#sign(session, open, prepared);
    if (signed === null) return;
    // What another way has paid meanwhile is not paid once more; what this one has sent already is told.
    if (this.#isTaken(session)) return signed.signedTransaction === null ? this.#tellTwice(session, signed.txSignature) : undefined;
    if (signed.signedTransaction === null) this.#see(session, signed.txSignature);
    else if (isCurrent()) await this.#send(session, signed.signedTransaction, signed.txSignature);
  }

  async #prepare(session: Session, { account }: OpenWallet): Promise<string | null> {
    const answer = await prepare(session.paymentId, account.address);
    if (answer.ok) return answer.value.transaction;
    this.#problems.refuse(answer);
    return null;
  }

  /** Null where the wallet was given up, or is not to be trusted about what it did. */
  async #sign(session: Session, open: OpenWallet, transaction: string): Promise<Signed | null> {
    const walletName = this.#store.state.walletName ?? '';
    const isLasting = isSender(open);
    const givenUp = new Promise<null>((resolve) => {
      this.#giveUp = () => resolve(null);
    });
    if (isLasting) this.#asked = walletName;
    try {
      const answer = signWith(open, this.#facts, transaction);
      return await (isLasting ? answer : Promise.race([answer, givenUp]));
    } catch (error) {
      if (!(error instanceof WalletError) || error.refusal !== 'unclear') throw error;
      this.#fail(error, walletName);
      if (!this.#isTaken(session)) this.#watch.doubt(session);
      return null;
    } finally {
      this.#asked = null;
    }
  }

  #isTaken({ paymentId }: Session): boolean {
    const { session, payment } = this.#store.state;
    if (session?.paymentId !== paymentId) return false;
    return session.txSignature !== null || payment?.status === 'PENDING_CONFIRMATION' || payment?.status === 'CONFIRMED';
  }

  /** Two wallets have paid: the service is told of the second too, unless it is the one that it has seen. */
  async #tellTwice({ paymentId }: Session, txSignature: string): Promise<void> {
    const { session, payment } = this.#store.state;
    if ((session?.txSignature ?? payment?.tx_signature ?? txSignature) === txSignature) return;
    this.#store.set({ isTwice: true });
    let answer = await confirm(paymentId, txSignature);
    for (let tries = 1; !answer.ok && isPassing(answer) && tries < SEND_TRIES; tries++) {
      await wait(answer.retryAfterMs ?? 800 * 2 ** tries);
      answer = await confirm(paymentId, txSignature);
    }
  }

  #fail(error: WalletError, walletName: string): void {
    // Paid another way while the wallet was asked: that is the news.
    if (!['choosing', 'connecting', 'waiting'].includes(this.#store.state.step)) return;
    this.#store.set({ step: 'choosing', problem: this.#problems.ofWallet(error, walletName) });
  }

  /** Signed is paid for: from here the page only looks on. */
  #see(session: Session, txSignature: string): void {
    this.#watch.remember(session, txSignature);
    this.#store.set({ problem: null });
    this.#watch.follow({ ...session, txSignature });
  }

  /** Sending the same bytes twice is sending them once. */
  async #send(session: Session, transaction: string, txSignature: string): Promise<void> {
    // Before it goes out: a page that ends here still knows what to look for.
    this.#memory.write({ ...session, txSignature });
    this.#store.set({ step: 'sending', problem: null });
    let answer = await send(session.paymentId, transaction);
    let isClear = true;
    for (let tries = 1; !answer.ok && isPassing(answer) && tries < SEND_TRIES; tries++) {
      isClear &&= answer.status === 429;
      await wait(answer.retryAfterMs ?? 800 * 2 ** tries);
      answer = await send(session.paymentId, transaction);
    }
    if (answer.ok) {
      this.#watch.remember(session, answer.value.tx_signature);
      await this.#watch.apply({ ...session, txSignature: answer.value.tx_signature }, answer.value.payment);
      this.#watch.now();
    } else if (answer.code === 'payment_mismatch' || (isClear && !isPassing(answer))) {
      this.#memory.write(session);
      this.#problems.refuse(answer);
    } else {
      this.#see(session, txSignature);
      this.#store.set({ isSlow: true });
    }
  }
}

const isPassing = (answer: Answer<unknown> & { ok: false }): boolean =>
  answer.status === 0 || answer.status === 429 || answer.status >= 500;
