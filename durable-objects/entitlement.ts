import { DurableObject } from 'cloudflare:workers';
import {
  type Addition,
  type Balance,
  type ConsumeAnswer,
  type Consumption,
  type Credit,
  type CreditAnswer,
  type EntitlementEventType,
  type EntitlementIdentity,
  type EntitlementProjection,
  type EntitlementRpc,
  type EntitlementSnapshot,
  emptyBalance,
  foldAdditions,
  type GrantAnswer,
  nextEndOf,
  type Operation,
  paidThroughOf,
  planAddition,
  planConsume,
  planRefund,
  type RefundAnswer,
  remainingOf,
  snapshotOf,
  statusOf,
} from '../worker/balance.ts';
import type { Env } from '../worker/context.ts';
import { consumptionIdOf, parseConsumptionId } from '../worker/core/ids.ts';
import { type Credited, GRANTS_TABLE, Grants } from './grants.ts';
import { Ledger, type LedgerEntry } from './ledger.ts';

/** The identity is known from the first write; ends up to `endsSeenThrough` were seen to pass. */
type State = { identity: EntitlementIdentity | null; balance: Balance; endsSeenThrough: number };
// What can be used after an operation, as it was answered.
type Left = { remaining: number | null; paidThrough: number | null };

type Content =
  | ({ verb: 'consume'; units: number; isCounted: boolean; isRefunded: boolean; paymentId: string | null } & Left)
  | { verb: 'grant'; snapshot: EntitlementSnapshot }
  | ({ verb: 'refund'; consumptionId: string; units: number } & Left);
type Verb<Name extends Content['verb']> = Extract<Content, { verb: Name }>;

/** One per (merchant, mode, product, customer): the only place that counts what is left. Rules are in worker/balance.ts. */
export class Entitlement extends DurableObject<Env> implements EntitlementRpc {
  readonly #ledger: Ledger<State, Content, EntitlementProjection['events'][number]>;
  readonly #grants: Grants;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#ledger = new Ledger(state.storage, {
      empty: { identity: null, balance: emptyBalance(), endsSeenThrough: 0 },
      tables: GRANTS_TABLE,
      versionOf: ({ balance }) => balance.version,
      dueAt: ({ balance, endsSeenThrough }) => nextEndOf(balance, endsSeenThrough),
      passTime: () => this.#passTime(),
      publish: async ({ identity, balance }, events, now) => {
        const snapshot = snapshotOf(balance, identity!, now);
        await this.env.JOBS.send({ kind: 'projectEntitlement', projection: { snapshot, events } });
      },
    });
    this.#grants = new Grants(this.#ledger);
  }

  consume(operation: Operation<{ units: number }>): Promise<ConsumeAnswer> {
    return this.#once<'consume', ConsumeAnswer>('consume', operation, {
      replay: ({ tick, content }) => {
        if (content.isRefunded) return { ok: false, reason: 'refunded' };
        return { ok: true, replayed: true, ...this.#consumption(tick, content), ...leftIn(content) };
      },
      judge: (operationKey) => {
        const made = this.#makeUse(operation.identity, operationKey, operation.fingerprint, operation.input.units, null);
        if (!made.ok) return { ...made, ...this.#left(), remaining: this.#left().remaining ?? 0 };
        if (made.content.remaining === 0) this.#emit('entitlement.exhausted');
        return { ok: true, replayed: false, ...this.#consumption(made.tick, made.content), ...leftIn(made.content) };
      },
    });
  }

  grant(operation: Operation<Addition & { reason: string }>): Promise<GrantAnswer> {
    return this.#once<'grant', GrantAnswer>('grant', operation, {
      replay: ({ content }) => ({ ok: true, replayed: true, snapshot: content.snapshot }),
      judge: (operationKey) => {
        const { reason: _, ...addition } = operation.input;
        if (!this.#add(operation.identity, addition)) return { ok: false, reason: 'too_many' };
        const tick = this.#grants.add(addition, null);
        const snapshot = this.#snapshot();
        this.#ledger.record(tick, operationKey, operation.fingerprint, { verb: 'grant', snapshot });
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
        const use = named?.entitlementId === identity.entitlementId ? this.#ledger.at(named.tick) : null;
        if (use?.content.verb !== 'consume') return { ok: false, reason: 'not_found' };
        if (use.content.isRefunded) return { ok: false, reason: 'already_refunded' };
        const { units, paymentId } = use.content;
        this.#change(identity, planRefund(this.#ledger.state.balance, use.content, this.#ledger.now));
        this.#ledger.amend(use.tick, { ...use.content, isRefunded: true });
        if (paymentId !== null) this.#grants.refundUse(paymentId, use.tick);
        const freed = { consumptionId, units, ...this.#left() };
        this.#ledger.record(this.#ledger.nextTick(), operationKey, fingerprint, { verb: 'refund', ...freed });
        return { ok: true, replayed: false, ...freed };
      },
    });
  }

  credit(credit: Credit): Promise<CreditAnswer> {
    return this.#ledger.run(credit.now, () => {
      this.#assertSame(credit.identity);
      const { paymentId, consume } = credit;
      const credited = this.#creditOnce(credit);
      const own = credited.uses.find(({ key }) => key === consume?.key);
      const last = credited.uses.at(-1);
      const answerOf = (consumption: CreditAnswer['consumption']) => ({
        grantedUnits: credited.grantedUnits,
        consumption,
        ...leftIn(credited),
      });
      if (!consume) return answerOf({ by: 'none' });
      if (own?.isRefunded) return answerOf({ by: 'refunded' });
      if (last && !last.isRefunded) return answerOf({ by: own ? 'mine' : 'other', ...this.#consumption(last.tick, last) });
      if (this.#grants.find(paymentId)!.isRevoked) return answerOf({ by: 'none' });
      const made = this.#makeUse(credit.identity, `credit:${paymentId}:${consume.key}`, '', consume.units, paymentId);
      if (!made.ok) return answerOf({ by: 'none' });
      credited.uses.push({ key: consume.key, tick: made.tick, units: consume.units, isRefunded: false });
      Object.assign(credited, leftIn(made.content));
      this.#grants.setCredited(paymentId, credited);
      return answerOf({ by: 'mine', ...this.#consumption(made.tick, made.content) });
    });
  }

  revoke({ identity, paymentId, now }: { identity: EntitlementIdentity; paymentId: string; now: number }): Promise<void> {
    return this.#ledger.run(now, () => {
      this.#assertSame(identity);
      const grant = this.#grants.find(paymentId);
      if (grant?.isRevoked) return;
      const { balance } = this.#ledger.state;
      // Not credited yet: remembered, so that the credit on its way adds nothing.
      if (grant) this.#grants.revoke(paymentId);
      else this.#grants.add({}, { paymentId, credited: null, isRevoked: true });
      this.#change(identity, grant ? foldAdditions(balance, this.#grants.standing(), this.#ledger.now) : balance);
    });
  }

  read(now: number): Promise<EntitlementSnapshot | null> {
    return this.#ledger.run(now, () => (this.#ledger.state.balance.version === 0 ? null : this.#snapshot()));
  }

  override async alarm(call?: AlarmInvocationInfo): Promise<void> {
    await this.#ledger.wake(call?.retryCount ?? 0);
  }

  /** One effect per key; refusals are not remembered. Keys of different verbs never meet. */
  #once<Name extends Content['verb'], Answer>(
    verb: Name,
    { identity, key, fingerprint, formerFingerprint, now }: Operation<unknown>,
    { replay, judge }: { replay(entry: LedgerEntry<Verb<Name>>): Answer; judge(operationKey: string): Answer },
  ): Promise<Answer | { ok: false; reason: 'conflict' }> {
    return this.#ledger.run(now, () => {
      this.#assertSame(identity);
      const known = this.#ledger.find(`${verb}:${key}`);
      if (!known) return judge(`${verb}:${key}`);
      if (known.fingerprint !== fingerprint && known.fingerprint !== formerFingerprint) return { ok: false, reason: 'conflict' };
      return replay(known as LedgerEntry<Verb<Name>>);
    });
  }

  #assertSame({ entitlementId }: EntitlementIdentity): void {
    const known = this.#ledger.state.identity?.entitlementId ?? entitlementId;
    if (known !== entitlementId) throw new Error(`this is the object of ${known}, not of ${entitlementId}`);
  }

  /** Adds what a payment bought, the first time. What was taken back before it came, or is beyond counting, adds nothing. */
  #creditOnce({ identity, paymentId, addition }: Credit): Credited {
    const grant = this.#grants.find(paymentId);
    if (grant?.credited) return grant.credited;
    const before = this.#ledger.state.balance;
    const isAdded = !grant && this.#add(identity, addition);
    if (!grant && !isAdded)
      throw new Error(`a payment must not vanish in silence, but its units cannot be counted: ${JSON.stringify(addition)}`);
    const after = this.#ledger.state.balance;
    const addsUncounted = addition.units === null || after.unlimitedThrough !== before.unlimitedThrough;
    const grantedUnits = !isAdded ? 0 : addsUncounted ? null : (addition.units ?? 0);
    const credited: Credited = { grantedUnits, uses: [], ...this.#left() };
    if (grant) this.#grants.setCredited(paymentId, credited);
    else this.#grants.add(addition, { paymentId, credited, isRevoked: !isAdded });
    if (!isAdded) this.#change(identity, after);
    return credited;
  }

  #makeUse(identity: EntitlementIdentity, key: string, fingerprint: string, units: number, paymentId: string | null) {
    const planned = planConsume(this.#ledger.state.balance, units, this.#ledger.now);
    if (!planned.ok) return planned;
    this.#change(identity, planned.balance);
    const tick = this.#ledger.nextTick();
    const content = { verb: 'consume', units, isCounted: planned.isCounted, isRefunded: false, paymentId, ...this.#left() } as const;
    this.#ledger.record(tick, key, fingerprint, content);
    return { ok: true, tick, content } as const;
  }

  #add(identity: EntitlementIdentity, addition: Addition): boolean {
    const planned = planAddition(this.#ledger.state.balance, addition, this.#ledger.now);
    if (!planned.ok) return false;
    this.#change(identity, planned.balance);
    this.#emit('entitlement.granted');
    return true;
  }

  /** Time ended something: everybody is told how things stand, and of the end of all access once. */
  #passTime(): void {
    const { identity, balance, endsSeenThrough } = this.#ledger.state;
    const { now } = this.#ledger;
    const end = nextEndOf(balance, endsSeenThrough);
    if (end === null || end > now) return;
    this.#ledger.state = { identity, balance: { ...balance, version: balance.version + 1, updatedAt: now }, endsSeenThrough: now };
    if (statusOf(balance, now) === 'expired') this.#emit('entitlement.expired');
  }

  #change(identity: EntitlementIdentity, balance: Balance): void {
    this.#ledger.state = { ...this.#ledger.state, identity, balance };
  }

  readonly #emit = (type: EntitlementEventType): void => this.#ledger.emit({ type, snapshot: this.#snapshot() });

  #snapshot(): EntitlementSnapshot {
    return snapshotOf(this.#ledger.state.balance, this.#ledger.state.identity!, this.#ledger.now);
  }

  #left(): Left {
    const { balance } = this.#ledger.state;
    return { remaining: remainingOf(balance, this.#ledger.now), paidThrough: paidThroughOf(balance) };
  }

  #consumption(tick: number, { units }: { units: number }): Consumption {
    return { consumptionId: consumptionIdOf(this.#ledger.state.identity!.entitlementId, tick), units };
  }
}

const leftIn = ({ remaining, paidThrough }: Left): Left => ({ remaining, paidThrough });
