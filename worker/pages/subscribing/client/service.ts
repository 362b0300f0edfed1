import { callApi } from '../../browser/call-api.ts';
import { newIdempotencyKey } from '../../browser/idempotency-key.ts';
import { receiptEmail } from '../../browser/receipt-email.ts';
import type { Answer, Failure } from '../../parts/answer.ts';
import { toTitle } from '../../parts/text.ts';
import type { AuthorizationStatus, ConsentKind, ManageFacts, SubscribeFacts } from '../facts.ts';
import { isOver } from '../machine.ts';
import type { Progress, SubscribingEffect, SubscribingNews } from '../state.ts';

interface Subscribing {
  authorization_id: string;
  steps: { kind: ConsentKind; transaction?: string }[];
  problem?: string;
  manage_url?: string;
}
interface Payment {
  payment_id: string;
  status: Progress['status'];
  failure_code?: string;
  receipt_id?: string;
  authorization_id?: string;
  subscription?: Subscribing;
  renewal?: { status: AuthorizationStatus; next_charge_at?: string };
  access_until?: string;
  expires_at: string;
}
interface Cancelled {
  status: AuthorizationStatus;
  paid_through: string | null;
  cancel?: { effective_at: string };
}
interface Confirmation {
  payment: Payment;
  redirect_url?: string;
}
interface IdentityWanted {
  identity: { required: true; provider: string };
}

type Of<K extends SubscribingEffect['kind']> = Extract<SubscribingEffect, { kind: K }>;

const progressOf = (payment: Payment, redirectUrl: string | null = null): Progress => ({
  paymentId: payment.payment_id,
  status: payment.status,
  failureCode: payment.failure_code ?? null,
  receiptId: payment.receipt_id ?? null,
  redirectUrl,
  authorizationId: payment.subscription?.authorization_id ?? payment.authorization_id ?? null,
  steps: (payment.subscription?.steps ?? []).map(({ kind, transaction = null }) => ({ kind, transaction })),
  problem: payment.subscription?.problem ?? null,
  manageUrl: payment.subscription?.manage_url ?? null,
  renewal: payment.renewal ? { status: payment.renewal.status, nextChargeAt: payment.renewal.next_charge_at ?? null } : null,
  accessUntil: payment.access_until ?? null,
  expiresAt: payment.expires_at,
});

const refused = (failure: Failure): SubscribingNews => ({ kind: 'refused', failure });
const wait = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const readPayment = (paymentId: string): Promise<Answer<Payment>> => callApi<Payment>('GET', `/v1/payments/${paymentId}`);
const confirm = (paymentId: string, txSignature: string): Promise<Answer<Confirmation>> =>
  callApi<Confirmation>('POST', '/v1/pay/confirm', { body: { payment_id: paymentId, tx_signature: txSignature } });

export class SubscribeService {
  readonly #facts: SubscribeFacts;
  #identity: { sessionId: string; provider: string; deepLink: string } | null = null;

  constructor(facts: SubscribeFacts) {
    this.#facts = facts;
  }

  async prepare({ account, paymentId }: Of<'prepare'>): Promise<SubscribingNews> {
    if (paymentId !== null) {
      const known = await readPayment(paymentId);
      const progress = known.ok ? progressOf(known.value) : null;
      // A payment that is over is replaced. One of another wallet is refused in its own steps.
      if (progress && !isOver(progress)) return { kind: 'prepared', progress };
    }
    const { slug, locale, paymentSessionId, handoffToken } = this.#facts;
    const answer = await callApi<Payment | IdentityWanted>('POST', `/v1/products/p/${encodeURIComponent(slug)}/connect`, {
      body: {
        locale,
        wallet_address: account,
        ...(paymentSessionId ? { payment_session_id: paymentSessionId } : {}),
        ...(handoffToken ? { handoff_token: handoffToken } : receiptEmail()),
        ...(this.#identity ? { identity_session_id: this.#identity.sessionId } : {}),
      },
    });
    if (!answer.ok) return refused(answer);
    return 'identity' in answer.value ? this.#askIdentity() : { kind: 'prepared', progress: progressOf(answer.value) };
  }

  async #askIdentity(): Promise<SubscribingNews> {
    const isNew = this.#identity === null;
    if (this.#identity === null) {
      const opened = await callApi<{ identity_session_id: string; provider: string; deep_link: string }>(
        'POST',
        `/v1/products/p/${encodeURIComponent(this.#facts.slug)}/identity`,
        { body: {} },
      );
      if (!opened.ok) return refused(opened);
      const { identity_session_id: sessionId, provider: name, deep_link: deepLink } = opened.value;
      this.#identity = { sessionId, provider: toTitle(name), deepLink };
    }
    const { provider, deepLink } = this.#identity;
    return { kind: 'identityWanted', provider, deepLink, isNew };
  }

  async send({ paymentId, transaction }: Of<'send'>): Promise<SubscribingNews> {
    if (transaction === null) return { kind: 'sent' };
    const answer = await callApi('POST', `/v1/payments/${paymentId}/transaction`, { body: { transaction } });
    return answer.ok ? { kind: 'sent' } : refused(answer);
  }

  async poll({ paymentId, txSignature, asksChain, afterMs }: Of<'look'>): Promise<SubscribingNews> {
    await wait(afterMs);
    const confirmation = asksChain && txSignature !== null ? await confirm(paymentId, txSignature) : null;
    const redirectUrl = confirmation?.ok ? confirmation.value.redirect_url : undefined;
    const answer = await readPayment(paymentId);
    return answer.ok ? { kind: 'progressed', progress: progressOf(answer.value, redirectUrl) } : { kind: 'unanswered' };
  }
}

const CONFIRMS_MAX = 8;
const CONFIRM_AFTER_MS = 2000;

export class ManageService {
  readonly #facts: ManageFacts;

  constructor(facts: ManageFacts) {
    this.#facts = facts;
  }

  async prepare({ account }: Of<'prepare'>): Promise<SubscribingNews> {
    const answer = await callApi<{ transaction: string; effective_at: string }>('POST', this.#path('cancel-intent'), {
      body: { wallet_address: account },
    });
    return answer.ok
      ? { kind: 'cancelPrepared', transaction: answer.value.transaction, effectiveAt: answer.value.effective_at }
      : refused(answer);
  }

  /**
   * Confirms the cancellation on chain. Retries with the signature up to 8 times, because the account shows the change some seconds after
   * the transaction was sent.
   */
  async send({ transaction, txSignature }: Of<'send'>): Promise<SubscribingNews> {
    let body: object = transaction === null ? { tx_signature: txSignature } : { transaction };
    for (let tries = 1; ; tries++) {
      const answer = await callApi<Cancelled>('POST', this.#path('cancel-confirm'), {
        body,
        idempotencyKey: newIdempotencyKey(),
      });
      if (answer.ok) {
        const { status, paid_through: paidThrough, cancel } = answer.value;
        return { kind: 'cancelled', subscription: { status, paidThrough, nextChargeAt: null }, effectiveAt: cancel?.effective_at ?? null };
      }
      if (answer.code !== 'payment_mismatch' || tries === CONFIRMS_MAX) return refused(answer);
      await wait(CONFIRM_AFTER_MS);
      body = { tx_signature: txSignature };
    }
  }

  poll(): Promise<SubscribingNews> {
    return Promise.resolve({ kind: 'unanswered' });
  }

  #path(verb: string): string {
    return `/v1/access/native-subscriptions/${this.#facts.authorizationId}/${verb}`;
  }
}
