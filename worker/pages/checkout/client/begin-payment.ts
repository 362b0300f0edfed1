import type { PageFacts, PaymentStatus, Session } from '../state.ts';
import { type Answer, connect, type Failure, fromStatus, openIdentity, readHandoff, readPayment, toSession } from './api.ts';
import type { Store } from './page-state.ts';
import type { Problems } from './problems.ts';
import type { Memory } from './stored-payment.ts';
import type { Watch } from './watch-payment.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A payment to be signed; its transaction where connect has already made it. */
export interface Begun {
  session: Session;
  transaction?: string | undefined;
}

/** The payment that the address of the page names, unless it is the known one. */
function addressed(knownId?: string): string | null {
  const paymentId = /^#payment=([\w-]+)$/.exec(location.hash)?.[1]?.toLowerCase() ?? null;
  return paymentId === knownId ? null : paymentId;
}

/** Which payment this page is about: one that is known, one that was begun elsewhere, or a new one. */
export class Beginning {
  readonly #facts: PageFacts;
  readonly #store: Store;
  readonly #memory: Memory;
  readonly #watch: Watch;
  readonly #problems: Problems;
  /** The payments begun elsewhere that the buyer does not go on with. */
  readonly #left = new Set<string>();

  constructor(facts: PageFacts, store: Store, memory: Memory, watch: Watch, problems: Problems) {
    this.#facts = facts;
    this.#store = store;
    this.#memory = memory;
    this.#watch = watch;
    this.#problems = problems;
  }

  /** What this browser remembers comes first; a payment already begun is never begun twice. */
  async resume(): Promise<void> {
    const { begun, handoffToken, isPayable } = this.#facts;
    const session = this.#memory.read() ?? (begun && toSession(begun, begun.tx_signature));
    // What is over is shown again, but not to who was sent here for another payment.
    const isOther = session && this.#memory.isOver() && (await this.#lookElsewhere([addressed(session.paymentId)]));
    if (isOther) return;
    if (session) return this.#watch.follow(session, session.txSignature !== null || begun?.status === 'PENDING_CONFIRMATION');
    const identity = this.#memory.readIdentity();
    if (identity && isPayable) return this.#store.set({ step: 'identity', identity });
    this.#store.set({ isBusy: true });
    if (handoffToken && isPayable) await this.#recognise(handoffToken);
    if (!this.#store.state.session) await this.#lookElsewhere();
    this.#store.set({ isBusy: false });
  }

  /** The page's payment: the one under way, or a new one where there is none. Null where nothing is to be signed now. */
  payment(walletAddress?: string): Promise<Begun | null> {
    return this.#memory.alone(async () => {
      const known = this.#store.state.session ?? this.#memory.read();
      if (!known) return (await this.#lookElsewhere()) ? null : this.#connect(walletAddress);
      if (!this.#store.state.session) this.#watch.follow(known);
      return known.txSignature === null ? { session: known } : null;
    });
  }

  takeOffered(): void {
    const { offered } = this.#store.state;
    if (offered === null) return;
    this.#memory.write(offered.session);
    this.#store.set({ step: 'choosing', offered: null });
    this.#watch.follow(offered.session);
  }

  leaveOffered(): void {
    const { offered } = this.#store.state;
    if (offered !== null) this.#left.add(offered.session.paymentId);
    this.#store.set({ step: 'choosing', offered: null });
  }

  startOver(): void {
    this.#watch.stop();
    this.#memory.forget();
    this.#memory.forgetIdentity();
  }

  async #recognise(token: string): Promise<void> {
    const answer = await readHandoff(this.#facts.slug, token);
    if (answer.ok) return this.#store.set({ customer: answer.value.customer_label ?? null });
    if (!(await this.#adopt(answer))) this.#store.set({ problem: this.#problems.of(answer) });
  }

  /** A refusal that names the payment there is already: that one is gone on with. */
  async #adopt({ meta }: Failure): Promise<boolean> {
    const answer = await this.#find(meta.payment_id ?? null);
    if (!answer.ok) return this.#stopAt(answer);
    const found = answer.value;
    if (!found) return false;
    const session = fromStatus(found);
    this.#memory.write(session);
    this.#store.set({ step: 'choosing', problem: null });
    this.#watch.follow(session);
    await this.#watch.apply(session, found);
    return true;
  }

  /**
   * A payment for this that another window, browser or link began and that is not over. Whose it is only the buyer knows, so
   * they are asked; all that is shown of it is the service's word, not the address's. True where nothing may be begun now,
   * which is so too while nobody can say how such a payment stands.
   */
  async #lookElsewhere(paymentIds = [addressed(), this.#memory.readRunning()]): Promise<boolean> {
    const { facts, store } = { facts: this.#facts, store: this.#store };
    for (const paymentId of new Set(paymentIds)) {
      const answer = await this.#find(paymentId);
      if (store.state.session) return false;
      if (!answer.ok) return this.#stopAt(answer);
      const found = answer.value;
      // A payment session or hand-off is a purchase of its own; only money on its way is worth a question.
      const isMinor = (facts.paymentSessionId ?? facts.handoffToken) !== null && found?.status === 'PENDING_SIGNATURE';
      if (!found || found.status === 'CONFIRMED' || found.status === 'FAILED' || isMinor) continue;
      const offered = { session: fromStatus(found), isOurs: paymentId === this.#memory.readRunning() };
      store.set({ step: 'underway', offered, problem: null });
      return true;
    }
    return false;
  }

  /** Says why nothing is known of a payment that there may be; what was said before stays said. */
  #stopAt(failure: Failure): true {
    if (this.#store.state.problem === null) this.#problems.refuse(failure);
    return true;
  }

  /** Null where there is no such payment of this product, or the buyer left it; a failure where nobody knows. */
  async #find(paymentId: string | null): Promise<Answer<PaymentStatus | null>> {
    const none = { ok: true, value: null } as const;
    if (paymentId === null || !UUID.test(paymentId) || this.#left.has(paymentId)) return none;
    const answer = await readPayment(paymentId);
    if (!answer.ok) return answer.status === 404 ? none : answer;
    return answer.value.slug === this.#facts.slug ? answer : none;
  }

  async #connect(walletAddress?: string): Promise<Begun | null> {
    const wishes = { asset: this.#store.state.asset, walletAddress, identitySessionId: this.#memory.readIdentity()?.sessionId };
    const answer = await connect(this.#facts, wishes);
    if (!answer.ok) {
      // Ten minutes are over: the step is taken once more, from its beginning.
      if (answer.code === 'identity_expired') this.#memory.forgetIdentity();
      if (answer.code === 'identity_expired') await this.#identify();
      else if (!(await this.#adopt(answer))) this.#problems.refuse(answer);
      return null;
    }
    if ('identity' in answer.value) {
      await this.#identify();
      return null;
    }
    this.#memory.forgetIdentity();
    const session = toSession(answer.value);
    const isOnItsWay = answer.value.status === 'PENDING_CONFIRMATION';
    this.#memory.write(session);
    this.#watch.follow(session, isOnItsWay);
    return isOnItsWay ? null : { session, transaction: answer.value.transaction };
  }

  /** Who the buyer is, shown elsewhere: one link, remembered while they are away. */
  async #identify(): Promise<void> {
    const known = this.#memory.readIdentity();
    if (known) {
      const problem = { key: 'identityNotYet', values: { provider: known.provider } } as const;
      return this.#store.set({ step: 'identity', identity: known, problem });
    }
    const answer = await openIdentity(this.#facts.slug);
    if (!answer.ok) return this.#problems.refuse(answer);
    const { identity_session_id: sessionId, provider, deep_link: deepLink } = answer.value;
    const name = provider.slice(0, 1).toUpperCase() + provider.slice(1);
    const identity = { sessionId, provider: name, deepLink, expiresAt: answer.value.expires_at };
    const problem = this.#store.state.identity ? ({ key: 'identityRenewed', values: { provider: name } } as const) : null;
    this.#memory.writeIdentity(identity);
    this.#store.set({ step: 'identity', problem, identity });
  }
}
