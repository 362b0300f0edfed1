import { DurableObject } from 'cloudflare:workers';
import type { Env } from '#platform/context.ts';
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
import type { Form } from '../operations.ts';
import { DELIVERY_TABLES } from './deliveries.ts';
import {
  EMPTY_SESSION,
  type KeptDelivery,
  restoreSession,
  SESSION_KEPT_MS,
  SessionBook,
  type SessionEvent,
  type SessionState,
} from './session-book.ts';

/** Of the first release that has such objects. */
const WRITTEN_FORM: Form = 2;
const UNKNOWN = { ok: false, reason: 'unknown' } as const;

/**
 * One a session: the only place that counts what its vouchers promise. The watermark and the whole voucher are durable before any caller is
 * answered. Rules are in worker/rules/metered/channel.ts; signatures were checked by the caller, who says so.
 */
export class MeteredSession extends DurableObject<Env> implements MeteredSessionRpc {
  readonly #ledger: Ledger<SessionState, KeptDelivery, SessionEvent>;
  readonly #book: SessionBook;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#ledger = new Ledger(state.storage, {
      kind: 'metered_session',
      form: WRITTEN_FORM,
      pack: (content) => JSON.stringify(content),
      unpack: (text) => JSON.parse(text),
      idOf: ({ terms, claimedBy }) => terms?.sessionId ?? claimedBy ?? 'unknown',
      empty: EMPTY_SESSION,
      restore: restoreSession,
      tables: DELIVERY_TABLES,
      versionOf: ({ channel }) => channel.version,
      dueAt: ({ endedAt, isPurged }) => (endedAt === null || isPurged ? null : endedAt + SESSION_KEPT_MS),
      passTime: () => this.#book.passTime(),
      publish: async (_state, events, { requestId }) => {
        const { snapshot } = this.#book;
        const queue = snapshot.livemode ? this.env.JOBS : this.env.SANDBOX;
        await queue.send({ kind: 'projectMeteredSession', projection: { snapshot, events }, requestId });
      },
    });
    this.#book = new SessionBook(this.#ledger);
  }

  begin(terms: MeteredTerms, called: Called): Promise<MeteredSnapshot> {
    return this.#ledger.run(called, () => {
      const known = this.#ledger.state.terms;
      if (known === null) this.#book.store(newChannel(terms.createdAt), { terms, changedAt: terms.createdAt });
      return this.#book.snapshot;
    });
  }

  read(called: Called): Promise<MeteredSnapshot | typeof UNKNOWN> {
    return this.#withTerms<MeteredSnapshot>(called, () => this.#book.snapshot);
  }

  open(opening: Parameters<MeteredSessionRpc['open']>[0]): Promise<OpenAnswer> {
    const { channelId, payer, authorizedSigner, deposit, settled, challengeId, ...called } = opening;
    return this.#withTerms<OpenAnswer>(called, (terms) => {
      const { bound } = this.#ledger.state;
      if (bound && bound.channelId !== channelId) return { ok: false, reason: 'already-open' };
      const planned = planOpen(this.#book.channel, terms, { deposit, settled }, this.#ledger.now);
      if (!planned.ok) return planned;
      const { replayed, channel } = planned.value;
      if (!replayed) {
        this.#book.store(channel, { bound: { channelId, payer, authorizedSigner }, openings: { openedBy: challengeId } });
        this.#book.emit('metered_session.opened');
      }
      return { ok: true, replayed, snapshot: this.#book.snapshot };
    });
  }

  isOpenedBy(challengeId: string): Promise<boolean> {
    return this.#ledger.run({ now: Date.now() }, () => this.#ledger.state.openings.openedBy === challengeId);
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
        this.#book.store(channel, { hasUntoldVouchers: true });
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
      // The same credential again: its voucher is the watermark of a session that closes or has closed by now.
      const isTaken = voucher?.isSigned && voucher.cumulative <= last.cumulative && last.stage !== 'open';
      // What was reserved is free with the close, so a last voucher may pay for that too.
      const taken = voucher === null || isTaken ? null : this.#take(terms, voucher, { ...last, pending: [] });
      if (taken && !taken.ok) return taken;
      const planned = planClose(this.#book.channel);
      if (!planned.ok && planned.reason === 'not-open') return planned;
      if (planned.ok && !planned.value.replayed) this.#book.store(planned.value.channel);
      const replayed = !planned.ok || planned.value.replayed;
      return { ok: true, replayed, snapshot: this.#book.snapshot, vouchers: this.#book.vouchers };
    });
  }

  end({ stage, ...called }: Called & { stage: 'closed' | 'expired' | 'failed' }): Promise<VoucherAnswer> {
    return this.#withTerms<VoucherAnswer>(called, () => {
      const { replayed, channel } = planEnd(this.#book.channel, stage);
      if (!replayed) {
        this.#book.tellVouchers();
        this.#book.store(channel, { endedAt: this.#ledger.now });
        // One that was never opened has nothing to tell but its state.
        if (stage === 'closed') this.#book.emit('metered_session.closed');
      }
      return { ok: true, replayed, snapshot: this.#book.snapshot };
    });
  }

  vouchers(called: Called): Promise<AcceptedVoucher[] | typeof UNKNOWN> {
    return this.#withTerms<AcceptedVoucher[]>(called, () => this.#book.vouchers);
  }

  published(projected: Projected): Promise<void> {
    return this.#ledger.published(projected);
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

  override async alarm(call?: AlarmInvocationInfo): Promise<void> {
    await this.#ledger.wake(call?.retryCount ?? 0);
  }

  #erase(mayBe: (state: SessionState) => boolean): Promise<boolean> {
    return this.ctx.blockConcurrencyWhile(async () => {
      if (!mayBe(this.#ledger.state)) return false;
      // The alarm too.
      await this.ctx.storage.deleteAll();
      this.#ledger.load();
      return true;
    });
  }

  #withTerms<Answer>(called: Called, judge: (terms: ChannelTerms) => Answer): Promise<Answer | typeof UNKNOWN> {
    return this.#ledger.run(called, () => {
      const { terms } = this.#ledger.state;
      if (terms === null) return UNKNOWN;
      const { cap, minVoucherDelta, gracePeriodSeconds } = terms;
      return judge({ cap: BigInt(cap), minVoucherDelta: BigInt(minVoucherDelta), gracePeriodSeconds });
    });
  }

  #take(terms: ChannelTerms, voucher: PresentedVoucher, before = this.#book.channel): Exclude<VoucherAnswer, typeof UNKNOWN> {
    const planned = planVoucher(before, terms, voucher, this.#ledger.now);
    if (!planned.ok) return planned;
    const { replayed, channel } = planned.value;
    if (!replayed) this.#book.store(channel, { hasUntoldVouchers: true });
    return { ok: true, replayed, snapshot: this.#book.snapshot };
  }
}
