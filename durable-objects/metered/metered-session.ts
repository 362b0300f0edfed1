import { DurableObject } from 'cloudflare:workers';
import type { Env } from '#platform/context.ts';
import type { Customer } from '#rules/balance.ts';
import type { Called, Projected } from '#rules/entitlement-rpc.ts';
import {
  type AcceptedVoucher,
  type ChannelTerms,
  type CommittedDelivery,
  newChannel,
  planClose,
  planEnd,
  planOpen,
  planSeen,
} from '#rules/metered/channel.ts';
import type {
  CloseAnswer,
  CommitAnswer,
  DeliveryAnswer,
  DeliveryRequest,
  MeteredSessionRpc,
  MeteredSnapshot,
  MeteredTerms,
  OpenAnswer,
  VoucherAnswer,
} from '#rules/metered/rpc.ts';
import { type PresentedVoucher, planCommit, planVoucher } from '#rules/metered/vouchers.ts';
import { Ledger } from '../ledger.ts';
import { DELIVERY_TABLES } from './deliveries.ts';
import {
  EMPTY_SESSION,
  SESSION_RETENTION_MS,
  SessionBook,
  type SessionEvent,
  type SessionState,
  type StoredDelivery,
} from './session-book.ts';

const UNKNOWN = { ok: false, reason: 'unknown' } as const;

const termsOf = ({ cap, minVoucherDelta, gracePeriodSeconds }: MeteredTerms): ChannelTerms => ({
  cap: BigInt(cap),
  minVoucherDelta: BigInt(minVoucherDelta),
  gracePeriodSeconds,
});

/**
 * Voucher accounting of one metered session. The watermark and the full voucher are durable before a caller is answered.
 * Rules are in worker/rules/metered/. The caller verifies signatures and passes the result.
 */
export class MeteredSession extends DurableObject<Env> implements MeteredSessionRpc {
  readonly #ledger: Ledger<SessionState, StoredDelivery, SessionEvent>;
  readonly #book: SessionBook;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#ledger = new Ledger(state.storage, {
      kind: 'metered_session',
      pack: (content) => JSON.stringify(content),
      unpack: (text) => JSON.parse(text),
      idOf: ({ terms, claimedBy }) => terms?.sessionId ?? claimedBy ?? 'unknown',
      empty: EMPTY_SESSION,
      tables: DELIVERY_TABLES,
      versionOf: ({ channel }) => channel.version,
      dueAt: ({ endedAt, isPurged, nextCheckAt }) => {
        const purgeAt = endedAt === null || isPurged ? null : endedAt + SESSION_RETENTION_MS;
        return nextCheckAt === null || purgeAt === null ? (nextCheckAt ?? purgeAt) : Math.min(nextCheckAt, purgeAt);
      },
      passTime: () => this.#book.passTime(),
      publish: async (_state, events, { requestId }) => {
        const { snapshot } = this.#book;
        const queue = snapshot.livemode ? this.env.JOBS : this.env.SANDBOX;
        await queue.send({ kind: 'projectMeteredSession', projection: { snapshot, events }, requestId });
      },
    });
    this.#book = new SessionBook(this.#ledger);
  }

  read(called: Called): Promise<MeteredSnapshot | typeof UNKNOWN> {
    return this.#withTerms<MeteredSnapshot>(called, () => this.#book.snapshot);
  }

  open(opening: Parameters<MeteredSessionRpc['open']>[0]): Promise<OpenAnswer> {
    const { terms, channelId, payer, authorizedSigner, deposit, settled, challengeId, ...called } = opening;
    return this.#ledger.run<OpenAnswer>(called, () => {
      const { bound } = this.#ledger.state;
      if (bound && bound.channelId !== channelId) return { ok: false, reason: 'already-open' };
      const channel = bound === null ? newChannel(terms.createdAt) : this.#book.channel;
      const planned = planOpen(channel, termsOf(terms), { deposit, settled }, this.#ledger.now);
      if (!planned.ok) return planned;
      if (!planned.value.replayed) {
        this.#book.store(planned.value.channel, { terms, bound: { channelId, payer, authorizedSigner }, openedBy: challengeId });
        this.#book.emit('metered_session.opened');
      }
      return { ok: true, replayed: planned.value.replayed, snapshot: this.#book.snapshot };
    });
  }

  mayClose({ challengeId, cumulative }: { challengeId: string | null; cumulative: bigint | null }): Promise<boolean> {
    return this.#ledger.run({ now: Date.now() }, () => {
      const { openedBy, handedOut, channel } = this.#ledger.state;
      if (challengeId !== null && openedBy === challengeId) return true;
      return cumulative !== null && cumulative > BigInt(handedOut) && cumulative > BigInt(channel.settled);
    });
  }

  reserve(request: DeliveryRequest): Promise<DeliveryAnswer> {
    return this.#withTerms<DeliveryAnswer>(request, () => this.#book.reserve(request));
  }

  commit({ deliveryId, voucher, ...called }: Called & { deliveryId: string; voucher: PresentedVoucher }): Promise<CommitAnswer> {
    return this.#withTerms<CommitAnswer>(called, (terms) => {
      const known: CommittedDelivery | null = this.#book.deliveries.find(deliveryId);
      const asked = { deliveryId, voucher, known, ousted: this.#book.findOusted(deliveryId) };
      const planned = planCommit(this.#book.channel, terms, asked, this.#ledger.now);
      if (!planned.ok) return planned;
      const { replayed, channel, committed } = planned.value;
      if (!replayed) {
        this.#book.deliveries.add(committed);
        this.#book.store(channel, { hasUnpublishedVouchers: true });
      }
      return { ok: true, replayed, committed, snapshot: this.#book.snapshot };
    });
  }

  voucher({ voucher, ...called }: Called & { voucher: PresentedVoucher }): Promise<VoucherAnswer> {
    return this.#withTerms<VoucherAnswer>(called, (terms) => this.#take(terms, voucher));
  }

  seen({ deposit, settled, ...called }: Called & { deposit: bigint; settled: bigint }): Promise<VoucherAnswer> {
    return this.#withTerms<VoucherAnswer>(called, () => {
      this.#book.noteAbsence(null);
      const { replayed, channel } = planSeen(this.#book.channel, { deposit, settled });
      if (!replayed) this.#book.store(channel);
      return { ok: true, replayed, snapshot: this.#book.snapshot };
    });
  }

  noteAbsent(called: Called): ReturnType<MeteredSessionRpc['noteAbsent']> {
    return this.#withTerms<Awaited<ReturnType<MeteredSessionRpc['noteAbsent']>>>(called, () => {
      const since = this.#ledger.state.absentSince ?? this.#ledger.now;
      this.#book.noteAbsence(since);
      return { ok: true, since };
    });
  }

  close({ voucher, ...called }: Called & { voucher: PresentedVoucher | null }): Promise<CloseAnswer> {
    return this.#withTerms<CloseAnswer>(called, (terms) => {
      const last = this.#book.channel;
      // True for a repeated close: the session is no longer open, and the voucher is not above its watermark.
      const isTaken = voucher?.isSigned && voucher.cumulative <= last.cumulative && last.stage !== 'open';
      // Closing releases all reservations, so the last voucher may spend reserved amounts too.
      const taken = voucher === null || isTaken ? null : this.#take(terms, voucher, { ...last, pending: [] });
      if (taken && !taken.ok) return taken;
      const planned = planClose(this.#book.channel);
      if (!planned.ok && planned.reason === 'not-open') return planned;
      if (planned.ok && !planned.value.replayed) this.#book.store(planned.value.channel);
      const replayed = !planned.ok || planned.value.replayed;
      return { ok: true, replayed, snapshot: this.#book.snapshot, vouchers: this.#book.handOut() };
    });
  }

  end(called: Called): Promise<VoucherAnswer> {
    return this.#withTerms<VoucherAnswer>(called, () => {
      const { replayed, channel } = planEnd(this.#book.channel);
      if (!replayed) {
        this.#book.publishVouchers();
        this.#book.store(channel, { endedAt: this.#ledger.now });
        this.#book.emit('metered_session.closed');
      }
      return { ok: true, replayed, snapshot: this.#book.snapshot };
    });
  }

  vouchers(called: Called): Promise<AcceptedVoucher[] | typeof UNKNOWN> {
    return this.#withTerms<AcceptedVoucher[]>(called, () => this.#book.handOut());
  }

  checkAgain({ afterMs }: { afterMs: number | null }): Promise<void> {
    return this.#ledger.run({ now: Date.now() }, () => this.#book.checkAgain(afterMs));
  }

  published(projected: Projected): Promise<void> {
    return this.#ledger.published(projected);
  }

  rename({ customer, ...called }: Called & { customer: Customer }): Promise<{ ok: true } | typeof UNKNOWN> {
    return this.#ledger.run(called, () => {
      const { state } = this.#ledger;
      if (state.terms === null) return UNKNOWN;
      this.#ledger.state = { ...state, terms: { ...state.terms, customer } };
      return { ok: true };
    });
  }

  claimChannel(sessionId: string): Promise<string> {
    return this.#ledger.run({ now: Date.now() }, () => {
      const { claimedBy } = this.#ledger.state;
      if (claimedBy === null) this.#ledger.state = { ...this.#ledger.state, claimedBy: sessionId };
      return claimedBy ?? sessionId;
    });
  }

  findSession(): Promise<string | null> {
    return this.#ledger.run({ now: Date.now() }, () => this.#ledger.state.claimedBy);
  }

  releaseChannel(sessionId: string): Promise<boolean> {
    return this.#erase(({ claimedBy }) => claimedBy === sessionId);
  }

  erase(): Promise<boolean> {
    return this.#erase(({ terms, endedAt }) => terms?.livemode !== true || endedAt !== null);
  }

  /** Queues a due chain check for the Worker, which has the chain connection. The job reports the result by calling this object. */
  override async alarm(call?: AlarmInvocationInfo): Promise<void> {
    const isDue = await this.#ledger.run({ now: Date.now() }, () => this.#book.claimCheck());
    const sessionId = this.#ledger.state.terms?.sessionId;
    if (isDue && sessionId) await this.env.JOBS.send({ kind: 'checkChannels', sessionIds: [sessionId] });
    await this.#ledger.wake(call?.retryCount ?? 0);
  }

  #erase(mayBe: (state: SessionState) => boolean): Promise<boolean> {
    return this.ctx.blockConcurrencyWhile(async () => {
      if (!mayBe(this.#ledger.state)) return false;
      // Deletes the alarm as well.
      await this.ctx.storage.deleteAll();
      this.#ledger.load();
      return true;
    });
  }

  #withTerms<Answer>(called: Called, judge: (terms: ChannelTerms) => Answer): Promise<Answer | typeof UNKNOWN> {
    return this.#ledger.run(called, () => {
      const { terms } = this.#ledger.state;
      return terms === null ? UNKNOWN : judge(termsOf(terms));
    });
  }

  #take(terms: ChannelTerms, voucher: PresentedVoucher, before = this.#book.channel): Exclude<VoucherAnswer, typeof UNKNOWN> {
    const planned = planVoucher(before, terms, voucher, this.#ledger.now);
    if (!planned.ok) return planned;
    const { replayed, channel } = planned.value;
    if (!replayed) this.#book.store(channel, { hasUnpublishedVouchers: true });
    return { ok: true, replayed, snapshot: this.#book.snapshot };
  }
}
