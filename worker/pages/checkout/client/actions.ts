import type { Actions, PageFacts } from '../state.ts';
import { firstState } from '../state.ts';
import { confirm } from './api.ts';
import { Beginning } from './begin-payment.ts';
import { fromBase58 } from './bytes.ts';
import type { Store } from './page-state.ts';
import { Paying, wait } from './pay-with-wallet.ts';
import { Problems } from './problems.ts';
import { qrOf } from './qr.ts';
import type { Memory } from './stored-payment.ts';
import { listWallets } from './wallets.ts';
import type { Watch } from './watch-payment.ts';

const COPIED_MS = 2000;

/** What a person does on the page, and what the page does about it. */
export class Flow implements Actions {
  readonly #facts: PageFacts;
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #watch: Watch;
  readonly #problems: Problems;
  readonly #beginning: Beginning;
  readonly #paying: Paying;
  /** The identity session that was asked about by itself. */
  #askedFor: string | null = null;

  constructor(facts: PageFacts, store: Store, memory: Memory, watch: Watch) {
    this.#facts = facts;
    this.#store = store;
    this.#memory = memory;
    this.#watch = watch;
    this.#problems = new Problems(facts, store, watch);
    this.#beginning = new Beginning(facts, store, memory, watch, this.#problems);
    this.#paying = new Paying(facts, store, memory, watch, this.#problems, this.#beginning);
  }

  start(): void {
    void this.#beginning.resume();
    this.#memory.onChange(() => this.#followOthers());
    document.addEventListener('visibilitychange', () => this.#comeBack());
  }

  payWith = (walletName: string): void => void this.#paying.payWith(walletName);
  openPhone = (): void => void this.#open(true);
  finishIdentity = (): void => void this.#open(false);
  cancel = (): void => this.#paying.cancel();
  stay = (): void => this.#watch.stay();
  chooseAsset = (asset: string): void => this.#store.set({ asset });
  takeOffered = (): void => this.#beginning.takeOffered();
  leaveOffered = (): void => this.#beginning.leaveOffered();

  startAgain = (): void => {
    const status = this.#store.state.payment?.status;
    // Only what has ended may be followed by another.
    if (status !== 'FAILED' && status !== 'CONFIRMED') return;
    this.#paying.cancel();
    this.#beginning.startOver();
    this.#store.set({ ...firstState(this.#facts), wallets: listWallets(this.#facts) });
  };

  copy = (what: string, text: string, event: Event): void =>
    void this.#copy(what, text, (event.currentTarget as Element).previousElementSibling);

  submitSignature = (event: Event): void => {
    event.preventDefault();
    const signature = new FormData(event.target as HTMLFormElement).get('signature');
    void this.#check(String(signature).trim());
  };

  /** Where the browser does not let us copy, everything is ready for the person to do it. */
  async #copy(what: string, text: string, shown: Element | null): Promise<void> {
    // Absent where the page is not trusted with it, whatever its type says.
    const isCopied = await Promise.resolve(navigator.clipboard as Clipboard | undefined)
      .then((clipboard) => clipboard?.writeText(text).then(() => true) ?? false)
      .catch(() => false);
    if (!isCopied && shown) getSelection()?.selectAllChildren(shown);
    this.#store.set({ copied: what, isSelected: !isCopied });
    if (!isCopied) return;
    await wait(COPIED_MS);
    if (this.#store.state.copied === what) this.#store.set({ copied: null });
  }

  /** Another tab has begun, paid or forgotten the payment of this page. */
  #followOthers(): void {
    const session = this.#memory.read();
    if (!session) return;
    const isSame = session.paymentId === this.#store.state.session?.paymentId;
    if (!isSame) this.#paying.cancel();
    if (isSame) this.#watch.shareDoubt(session);
    else this.#watch.follow(session);
  }

  /** Back from where they showed who they are: asked about once without a press. */
  #comeBack(): void {
    const { step, identity, isBusy } = this.#store.state;
    if (document.hidden || step !== 'identity' || isBusy || !identity || identity.sessionId === this.#askedFor) return;
    this.#askedFor = identity.sessionId;
    void this.#open(false);
  }

  /** Begins the payment without knowing the wallet: for one elsewhere, or once the buyer has shown who they are. */
  async #open(isForPhone: boolean): Promise<void> {
    this.#store.set({ isBusy: true, problem: null });
    const begun = await this.#beginning.payment();
    this.#store.set({ isBusy: false });
    if (begun === null) return;
    const step = this.#store.state.step === 'identity' ? 'choosing' : this.#store.state.step;
    const qr = this.#facts.isPhone ? null : qrOf(begun.session.solanaPayUrl);
    this.#store.set({ step, ...(isForPhone ? { isPhoneOpen: true, qr } : {}) });
  }

  async #check(signature: string): Promise<void> {
    const { session } = this.#store.state;
    if (!session) return;
    if (fromBase58(signature)?.length !== 64) return this.#store.set({ problem: { key: 'pMismatch' } });
    this.#store.set({ isBusy: true, problem: null });
    const answer = await confirm(session.paymentId, signature);
    this.#store.set({ isBusy: false });
    if (!answer.ok) return this.#problems.refuse(answer);
    this.#watch.remember(session, signature);
    await this.#watch.apply({ ...session, txSignature: signature }, answer.value.payment, answer.value.redirect_url);
    this.#watch.now();
  }
}
