import { DurableObject } from 'cloudflare:workers';
import { assert } from '#core/errors.ts';
import { consumptionIdOf, parseConsumptionId } from '#core/ids.ts';
import type { Env } from '#platform/context.ts';
import {
  type Addition,
  type EntitlementKey,
  type EntitlementSnapshot,
  isUse,
  planAddition,
  planConsume,
  planRefund,
  snapshotOf,
} from '#rules/balance.ts';
import type {
  Called,
  ConsumeAnswer,
  Consumption,
  Credit,
  CreditAnswer,
  EntitlementRpc,
  ForgetCall,
  Full,
  GrantAnswer,
  KeyedUse,
  MergeCall,
  Moved,
  Operation,
  PaymentCall,
  Projected,
  Redirected,
  RefundAnswer,
  RenewalCall,
  UseRequest,
} from '#rules/entitlement-rpc.ts';
import { judgedAt } from '#rules/subscriptions/served.ts';
import { type Content, packContent, unpackContent, type Verb } from './contents.ts';
import { GRANT_TABLES } from './grants.ts';
import { dueAt, EMPTY_STATE, type Event, Holding, type Left, movedOf, type State, shownBalance } from './holding.ts';
import { Ledger } from './ledger.ts';
import type { Recorded } from './operations.ts';

/**
 * Balance of one entitlement, one object per (merchant, mode, product, customer): the only authority on remaining units. Rules are in
 * worker/rules/balance.ts.
 */
export class EntitlementObject extends DurableObject<Env> implements EntitlementRpc {
  readonly #ledger: Ledger<State, Content, Event>;
  readonly #holding: Holding;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#ledger = new Ledger(state.storage, {
      kind: 'entitlement',
      pack: packContent,
      unpack: unpackContent,
      idOf: ({ identity }) => identity?.entitlementId ?? 'unknown',
      empty: EMPTY_STATE,
      tables: GRANT_TABLES,
      versionOf: ({ balance }) => balance.version,
      dueAt,
      passTime: () => this.#holding.passTime(),
      isUse: (before, after) => !after.merged && before.endsSeenThrough === after.endsSeenThrough && isUse(before.balance, after.balance),
      publish: async (held, events, { now, requestId }) => {
        // Forgotten meanwhile.
        if (!held.identity) return;
        const queue = held.identity.livemode ? this.env.JOBS : this.env.SANDBOX;
        const moved = movedOf(held);
        const projection = { snapshot: projectionOf(held, now), events, ...(moved ? { moved } : {}) };
        await queue.send({ kind: 'projectEntitlement', projection, requestId });
      },
      storeUses: async (held, { now, requestId }) => !held.identity || this.storeUses(projectionOf(held, now), requestId),
    });
    this.#holding = new Holding(this.#ledger);
  }

  /** Stores uses in the database at once. Returns false if a message must do it. The Worker that hosts the object knows the database. */
  protected async storeUses(_snapshot: EntitlementSnapshot, _requestId: string | undefined): Promise<boolean> {
    return false;
  }

  consume(operation: Operation<UseRequest>): Promise<ConsumeAnswer> {
    return this.#once<'consume', ConsumeAnswer>('consume', operation, {
      replay: ({ tick, content }) => {
        if (content.isRefunded) return { ok: false, reason: 'refunded' };
        return { ok: true, replayed: true, ...this.#consumption(tick, content), ...leftIn(content) };
      },
      judge: (operationKey) => {
        const {
          identity,
          fingerprint,
          input: { units, nonce },
        } = operation;
        if (this.#holding.mergedInto !== null) return { ok: false, reason: 'entitlement_missing', remaining: 0, paidThrough: null };
        if (nonce === null || (nonce !== undefined && this.#isSignInUsed(nonce))) return { ok: false, reason: 'sign_in_refused' };
        const made = this.#makeUse(identity, operationKey, fingerprint, units, null);
        if (!made.ok) return { ...made, ...this.#holding.left, remaining: this.#holding.left.remaining ?? 0 };
        if (nonce !== undefined) this.#ledger.operations.record(this.#ledger.nextTick(), signInKey(nonce), '', { verb: 'sign_in' });
        if (made.content.remaining === 0) this.#holding.emit('entitlement.exhausted');
        return { ok: true, replayed: false, ...this.#consumption(made.tick, made.content), ...leftIn(made.content) };
      },
    });
  }

  async consumeMany(identity: EntitlementKey, uses: KeyedUse[]): Promise<(ConsumeAnswer | null)[]> {
    const outcomes = await Promise.allSettled(uses.map(({ units, ...use }) => this.consume({ ...use, identity, input: { units } })));
    return outcomes.map((one) => (one.status === 'fulfilled' ? one.value : null));
  }

  grant(operation: Operation<{ addition: Addition | null; reason: string }>): Promise<GrantAnswer> {
    return this.#once<'grant', GrantAnswer>('grant', operation, {
      replay: ({ content }) => ({ ok: true, replayed: true, snapshot: content.snapshot }),
      judge: (operationKey) => {
        const { addition } = operation.input;
        const elsewhere = this.#holding.redirect(null);
        if (elsewhere) return { ok: false, reason: 'merged', ...elsewhere };
        if (addition === null) return { ok: false, reason: 'not_sold' };
        const planned = planAddition(this.#holding.balance, addition, this.#ledger.now);
        if (!planned.ok) return planned;
        const tick = this.#holding.add(operation.identity, addition, planned.balance);
        const { snapshot } = this.#holding;
        this.#ledger.operations.record(tick, operationKey, operation.fingerprint, { verb: 'grant', snapshot });
        return { ok: true, replayed: false, snapshot };
      },
    });
  }

  refund(operation: Operation<{ consumptionId: string; reason: string }>): Promise<RefundAnswer> {
    return this.#once<'refund', RefundAnswer>('refund', operation, {
      replay: ({ content: { verb: _, ...answer } }) => ({ ok: true, replayed: true, ...answer }),
      judge: (operationKey) => {
        const {
          identity,
          fingerprint,
          input: { consumptionId },
        } = operation;
        const named = parseConsumptionId(consumptionId);
        const use = named?.entitlementId === identity.entitlementId ? this.#ledger.operations.at(named.tick, this.#ledger.now) : null;
        if (use?.content.verb !== 'consume') return { ok: false, reason: 'not_found' };
        if (use.content.isRefunded) return { ok: false, reason: 'already_refunded' };
        const { units, paymentId } = use.content;
        this.#holding.change(identity, planRefund(this.#holding.balance, use.content, this.#ledger.now));
        this.#ledger.operations.amend(use.tick, { ...use.content, isRefunded: true });
        if (paymentId !== null) this.#holding.grants.refundUse(paymentId, use.tick);
        const freed = { consumptionId, units, ...this.#holding.left };
        this.#ledger.operations.record(this.#ledger.nextTick(), operationKey, fingerprint, { verb: 'refund', ...freed });
        return { ok: true, replayed: false, ...freed };
      },
    });
  }

  credit(credit: Credit): Promise<CreditAnswer | Redirected> {
    return this.#ledger.run(credit, () => {
      this.#holding.assertSame(credit.identity);
      const { paymentId, consume } = credit;
      const elsewhere = this.#holding.redirect(paymentId);
      if (elsewhere) return elsewhere;
      const credited = this.#holding.creditOnce(credit);
      const own = consume ? this.#holding.grants.findUse(credited, consume.key) : undefined;
      const last = credited.uses.at(-1);
      const answerOf = (consumption: CreditAnswer['consumption']) => ({
        grantedUnits: credited.grantedUnits,
        consumption,
        ...leftIn(credited),
      });
      if (!consume) return answerOf({ by: 'none' });
      if (own?.isRefunded) return answerOf({ by: 'refunded' });
      if (last && !last.isRefunded) return answerOf({ by: own ? 'mine' : 'other', ...this.#consumption(last.tick, last) });
      const isTaken = consume.isAnswered && last === undefined;
      if (isTaken || this.#holding.grants.find(paymentId)?.isRevoked !== false) return answerOf({ by: 'none' });
      // Units credited before the merge have moved, and the target may have used them. A forgotten payment has none.
      if (this.#holding.mergedInto !== null) return answerOf({ by: 'none' });
      const made = this.#makeUse(credit.identity, `credit:${paymentId}:${consume.key}`, '', consume.units, paymentId);
      if (!made.ok) return answerOf({ by: 'none' });
      const after = leftIn(made.content);
      this.#holding.grants.addUse(paymentId, { ...credited, ...after }, { key: consume.key, tick: made.tick, units: consume.units });
      return { ...answerOf({ by: 'mine', ...this.#consumption(made.tick, made.content) }), ...after };
    });
  }

  revoke(call: PaymentCall): Promise<Redirected | null> {
    return this.#applyOutcome(call, () => this.#holding.revoke(call.identity, call.paymentId));
  }

  reinstate(call: PaymentCall): Promise<Redirected | null> {
    return this.#applyOutcome(call, () => this.#holding.reinstate(call.identity, call.paymentId));
  }

  finalize({ paymentIds, ...called }: Called & { paymentIds: string[] }): Promise<void> {
    return this.#ledger.run(called, () => this.#holding.grants.finalize(paymentIds, this.#ledger.now));
  }

  noteRenewal({ identity, authorizationId, version, through, ...called }: RenewalCall): Promise<void> {
    return this.#ledger.run(called, () => {
      this.#holding.assertSame(identity);
      this.#holding.noteRenewal(identity, { authorizationId, version, through });
    });
  }

  mergeAway({ identity, into, ...called }: MergeCall): Promise<Moved | null> {
    return this.#ledger.run(called, () => {
      this.#holding.assertSame(identity);
      return this.#holding.mergeAway(into);
    });
  }

  receive({ moved, ...called }: Called & { moved: Moved }): Promise<void> {
    return this.#ledger.run(called, () => {
      this.#holding.assertSame(moved.to);
      this.#holding.receive(moved);
    });
  }

  async published(projected: Projected): Promise<number | null> {
    await this.#ledger.published(projected);
    const { identity, forgottenThrough } = this.#ledger.state;
    return identity === null && forgottenThrough !== undefined ? this.#holding.balance.version : null;
  }

  read(called: Called): Promise<EntitlementSnapshot | null> {
    return this.#ledger.run(called, () => {
      const { mergedInto } = this.#holding;
      if (this.#ledger.state.identity === null || this.#holding.balance.version === 0) return null;
      return { ...this.#holding.snapshot, ...(mergedInto === null ? {} : { mergedInto }) };
    });
  }

  creditedSince({ since, ...called }: Called & { since: number }): Promise<{ tick: number; paymentIds: string[] }> {
    return this.#ledger.run(called, () => ({
      tick: this.#ledger.lastTick,
      paymentIds: this.#ledger.tables.isEmpty ? [] : this.#holding.grants.paidSince(since),
    }));
  }

  forget({ tick, through, spared, ...called }: ForgetCall): Promise<number | false> {
    return this.#ledger.run(called, () => {
      if (!this.#ledger.isPublished) return false;
      const { version } = this.#holding.balance;
      this.#holding.forget({ tick, through, spared });
      return version;
    });
  }

  part(called: Called): Promise<boolean> {
    return this.#ledger.run(called, () => {
      if (!this.#ledger.isPublished) return false;
      this.#holding.part();
      return true;
    });
  }

  erase(): Promise<void> {
    return this.ctx.blockConcurrencyWhile(async () => {
      assert(this.#ledger.state.identity?.livemode !== true, 'what was bought for money is never erased');
      // Deletes the alarm as well.
      await this.ctx.storage.deleteAll();
      this.#ledger.load();
    });
  }

  override async alarm(call?: AlarmInvocationInfo): Promise<void> {
    await this.#ledger.wake(call?.retryCount ?? 0);
  }

  /** Applies a call unless a newer version of its payment has been seen, because calls may arrive in any order. */
  #applyOutcome({ identity, paymentId, paymentVersion, ...called }: PaymentCall, judge: () => void): Promise<Redirected | null> {
    return this.#ledger.run(called, () => {
      this.#holding.assertSame(identity);
      const elsewhere = this.#holding.redirect(paymentId);
      if (!elsewhere && this.#holding.grants.recordVersion(paymentId, paymentVersion)) judge();
      return elsewhere;
    });
  }

  /** Runs an effect at most once per verb and key. Refusals are not stored. */
  #once<Name extends Content['verb'], Answer>(
    verb: Name,
    { identity, key, fingerprint, ...called }: Operation<unknown>,
    { replay, judge }: { replay(recorded: Recorded<Verb<Name>>): Answer; judge(operationKey: string): Answer },
  ): Promise<Answer | Full | { ok: false; reason: 'conflict' }> {
    return this.#ledger.run({ ...called, isRoutine: verb === 'consume' }, () => {
      this.#holding.assertSame(identity);
      const { operations } = this.#ledger;
      // Keys expire by wall time, so advancing a sandbox clock expires none.
      const known = operations.find(`${verb}:${key}`, Date.now());
      if (!known)
        return operations.fullUntil === null ? judge(`${verb}:${key}`) : { ok: false, reason: 'full', until: operations.fullUntil };
      if (!known.isOf(fingerprint)) return { ok: false, reason: 'conflict' };
      return replay(known as Recorded<Verb<Name>>);
    });
  }

  /** A used sign-in is stored like a key, for a day: longer than it could be valid. */
  #isSignInUsed(nonce: string): boolean {
    return this.#ledger.operations.find(signInKey(nonce), Date.now()) !== null;
  }

  #makeUse(identity: EntitlementKey, key: string, fingerprint: string, units: number, paymentId: string | null) {
    const planned = planConsume(this.#holding.balance, units, this.#ledger.now, this.#holding.judgedAt);
    if (!planned.ok) return planned;
    this.#holding.change(identity, planned.balance);
    const tick = this.#ledger.nextTick();
    const content = { verb: 'consume', units, isCounted: planned.isCounted, isRefunded: false, paymentId, ...this.#holding.left } as const;
    this.#ledger.operations.record(tick, key, fingerprint, content);
    return { ok: true, tick, content } as const;
  }

  #consumption(tick: number, { units }: { units: number }): Consumption {
    return { consumptionId: consumptionIdOf(this.#ledger.state.identity!.entitlementId, tick), units };
  }
}

const projectionOf = (held: State, now: number): EntitlementSnapshot =>
  snapshotOf(shownBalance(held), held.identity!, judgedAt(held.renewal, now));

const signInKey = (nonce: string): string => `sign_in:${nonce}`;

const leftIn = ({ remaining, paidThrough }: Left): Left => ({ remaining, paidThrough });
