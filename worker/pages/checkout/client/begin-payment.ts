/**
 * Finds the payment the service has, or begins a new one. Answers are events.
 * @module
 */

import type { Answer, Failure } from '../../parts/answer.ts';
import { toTitle } from '../../parts/text.ts';
import { type FoundPayment, type PageFacts, type PagePayment, toPagePayment } from '../facts.ts';
import type { PageNews, ServiceEffect } from '../machine/events.ts';
import type { PaymentStatus } from '../wire.ts';
import { connect, openIdentity, readHandoff, readStatus, replacePayment, toFoundPayment } from './api.ts';
import type { StoredPayment } from './stored-payment.ts';

type Of<K extends ServiceEffect['kind']> = Extract<ServiceEffect, { kind: K }>;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const addressedPayment = (): string | null => /^#payment=([\w-]+)$/.exec(location.hash)?.[1]?.toLowerCase() ?? null;

export class BeginPayment {
  readonly #facts: PageFacts;
  readonly #stored: StoredPayment;

  constructor(facts: PageFacts, stored: StoredPayment) {
    this.#facts = facts;
    this.#stored = stored;
  }

  async readHandoff({ token }: Of<'readHandoff'>): Promise<PageNews> {
    const answer = await readHandoff(this.#facts.slug, token);
    if (answer.ok) return { kind: 'handoffRead', customer: answer.value.customer_label ?? null };
    return this.#adopt(answer, [], (failure) => ({ kind: 'handoffRefused', failure }));
  }

  async tryElsewhere({ paymentIds, declinedIds, otherwise }: Of<'tryElsewhere'>): Promise<PageNews> {
    const answer = await this.#findElsewhere(paymentIds ?? this.#namedPayments(), declinedIds);
    if (!answer.ok) return { kind: 'elsewhereUnknown', failure: answer };
    return answer.value ? { kind: 'foundElsewhere', found: answer.value } : { kind: 'nothingElsewhere', otherwise };
  }

  /** Returns the existing payment, in this browser or elsewhere, or begins a new one. Runs in one tab of a product at a time. */
  async begin({ attempt, asset, walletAddress, declinedIds }: Of<'beginPayment'>, known: PagePayment | null): Promise<PageNews> {
    const refused = (failure: Failure): PageNews => ({ kind: 'beginRefused', attempt, failure });
    if (known) return { kind: 'paymentKnown', attempt, payment: known };
    const elsewhere = await this.#findElsewhere(this.#namedPayments(), declinedIds);
    if (!elsewhere.ok) return refused(elsewhere);
    if (elsewhere.value) return { kind: 'foundElsewhere', found: elsewhere.value };
    const identity = this.#stored.readIdentity();
    const answer = await connect(this.#facts, { asset, walletAddress, identitySessionId: identity?.sessionId ?? null });
    if (!answer.ok) {
      // An identity lasts ten minutes. Then the buyer proves it again.
      if (answer.code === 'identity_expired') return this.#openIdentity(refused);
      return this.#adopt(answer, declinedIds, refused);
    }
    if ('identity' in answer.value) return identity ? { kind: 'identityWanted', identity, isNew: false } : this.#openIdentity(refused);
    const { status, transaction = null } = answer.value;
    const isOnItsWay = status === 'PENDING_CONFIRMATION';
    const payment = { ...toPagePayment(answer.value), ...(identity ? { identitySessionId: identity.sessionId } : {}) };
    return { kind: 'paymentBegun', attempt, payment, transaction, isOnItsWay };
  }

  async replace({ attempt, asset }: Of<'beginPayment'>, replaced: PagePayment): Promise<PageNews> {
    const answer = await replacePayment(this.#facts, replaced.paymentId, asset);
    if (!answer.ok) return { kind: 'beginRefused', attempt, failure: answer };
    const { identitySessionId } = replaced;
    const payment = { ...toPagePayment(answer.value), ...(identitySessionId ? { identitySessionId } : {}) };
    return { kind: 'paymentBegun', attempt, payment, transaction: null, isOnItsWay: false };
  }

  #namedPayments(): string[] {
    return [addressedPayment(), this.#stored.readRunning()].filter((id) => id !== null);
  }

  /** Continues with the existing payment that a refusal names. */
  async #adopt(failure: Failure, declinedIds: string[], refused: (failure: Failure) => PageNews): Promise<PageNews> {
    const answer = await this.#find(failure.meta.payment_id ?? null, declinedIds);
    if (!answer.ok) return refused(answer);
    if (!answer.value) return refused(failure);
    return { kind: 'paymentAdopted', payment: toFoundPayment(answer.value), status: answer.value };
  }

  /**
   * Finds an unfinished payment that another window, browser or link began. Everything shown comes from the service, not from the address.
   */
  async #findElsewhere(paymentIds: string[], declinedIds: string[]): Promise<Answer<FoundPayment | null>> {
    for (const paymentId of new Set(paymentIds)) {
      const answer = await this.#find(paymentId, declinedIds);
      if (!answer.ok) return answer;
      const found = answer.value;
      // A payment session or hand-off is a purchase of its own, so only a payment with money on its way is offered.
      const isOwnPurchase = (this.#facts.paymentSessionId ?? this.#facts.handoffToken) !== null;
      const isMinor = isOwnPurchase && found?.status === 'PENDING_SIGNATURE';
      if (!found || found.status === 'CONFIRMED' || found.status === 'FAILED' || isMinor) continue;
      return { ok: true, value: { payment: toFoundPayment(found), isOurs: paymentId === this.#stored.readRunning() } };
    }
    return { ok: true, value: null };
  }

  /** Returns null if this product has no such payment or the buyer declined it, and a failure if the service did not answer. */
  async #find(paymentId: string | null, declinedIds: string[]): Promise<Answer<PaymentStatus | null>> {
    const none = { ok: true, value: null } as const;
    if (paymentId === null || !UUID.test(paymentId) || declinedIds.includes(paymentId)) return none;
    const answer = await readStatus(paymentId);
    if (!answer.ok) return answer.status === 404 ? none : answer;
    return answer.value.slug === this.#facts.slug ? answer : none;
  }

  async #openIdentity(refused: (failure: Failure) => PageNews): Promise<PageNews> {
    const answer = await openIdentity(this.#facts.slug);
    if (!answer.ok) return refused(answer);
    const { identity_session_id: sessionId, provider, deep_link: deepLink, expires_at: expiresAt } = answer.value;
    return { kind: 'identityWanted', identity: { sessionId, provider: toTitle(provider), deepLink, expiresAt }, isNew: true };
  }
}
