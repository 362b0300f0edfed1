import { MINUTE, SECOND } from '#core/time.ts';
import type { Env } from '#platform/context.ts';
import type { PersonAnswer } from '#rules/access/person-rpc.ts';
import type { UsedSession } from '#rules/access/sessions.ts';
import {
  type AddressAnswer,
  type AddressWindow,
  type AdmissionAnswer,
  type AdmissionRequest,
  type AdmissionRpc,
  type AdmittedAccount,
  type AdmittedKey,
  type Counted,
  type CountedCall,
  type FeeAnswer,
  type FeeSpend,
  type FeesSpent,
  hitWindow,
  hitWindows,
  judgeCaller,
  type PassedAnswer,
  type PassedUse,
  spendWithin,
  type Window,
  withFailedFee,
} from '#rules/admission.ts';
import { addOutcome, type CallOutcome, emptyUsage, type KeyUsage } from '#rules/analytics/key-usage.ts';
import { PLANS, type PlanName, planAt, rateOf } from '#rules/plans.ts';
import { ConsumeForwarder } from './consume-forwarder.ts';
import { PersonObject } from './people/person-object.ts';

/** Less than the ten idle seconds after which an object leaves memory. */
const FLUSH_MS = 8 * SECOND;
/** Upper bound of a database write. After this time, whether a staged change was stored is decided. */
const STAGE_MS = MINUTE;

const isSameStage = (one: AdmittedAccount, other: AdmittedAccount): boolean =>
  one.version === other.version && one.tokenVersion === other.tokenVersion && one.status === other.status;

type AddressHits = Window & { endsAt: number };
const isShort = ({ openedAt, endsAt }: AddressHits): boolean => endsAt - openedAt <= MINUTE;

interface Staged {
  account: AdmittedAccount;
  stagedAt: number;
  /** Changes under way. Those of keys leave the account as it is, so that several have the same stage. */
  writers: number[];
}

/**
 * Admission control, one object per account and one per address of anonymous callers. With several databases, also one per payment message,
 * which names the shard that claimed it.
 * Answers from memory. Durable facts live in the object's own tables, which the first write creates: anonymous calls store nothing.
 */
export class Admission extends PersonObject implements AdmissionRpc {
  #account: AdmittedAccount | null = null;
  #staged: Staged | null = null;
  #fees: FeesSpent | undefined;
  readonly #keys = new Map<string, AdmittedKey>();
  readonly #windows = new Map<string, Window>();
  readonly #usage = new Map<string, KeyUsage>();
  readonly #hits = new Map<string, AddressHits>();
  readonly #unsaved = new Set<string>();
  #usageStoredAt = 0;
  #hasUsageAlarm = false;
  readonly #passing: ConsumeForwarder;
  #hasAlarm = false;
  #hasTables: boolean;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#passing = new ConsumeForwarder(env);
    this.#hasTables = state.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'facts'").toArray().length > 0;
    if (this.#hasTables) this.#restore();
    this.#hasAlarm = this.#hits.size > 0;
  }

  async admit(request: AdmissionRequest): Promise<AdmissionAnswer> {
    // If the writer of a staged change died, only the database knows whether the change was stored.
    if (!this.#account || this.#hasStaleStage()) return { ok: false, reason: 'unknown' };
    const { credential, now, wallNow = now } = request;
    const key = credential.kind === 'key' ? this.#keys.get(credential.keyHash) : undefined;
    const isOpen = credential.kind === 'jwt' && this.sessions.use(credential, wallNow);
    const judged = judgeCaller(this.#staged?.account ?? this.#account, key, request, isOpen);
    if (!judged.ok) return judged;
    const counted = this.#count({ ...request, livemode: judged.caller.livemode }, judged.caller.plan);
    return counted.ok ? { ...counted, caller: judged.caller } : { ...counted, ...(key && { keyId: key.keyId }) };
  }

  async count(call: CountedCall): ReturnType<AdmissionRpc['count']> {
    return this.#account ? this.#count(call, planAt(this.#account, call.now)) : { ok: false, reason: 'unknown' };
  }

  #count({ bucket, livemode, rateMultiplier, isInner, now, wallNow = now }: CountedCall, plan: PlanName): Counted {
    const name = `${bucket}-${livemode ? 'live' : 'sandbox'}`;
    const { limit, windowSeconds } = rateOf(plan, bucket, livemode, rateMultiplier);
    const { allowed, window, rate } = hitWindow(this.#windows.get(name), limit, windowSeconds * SECOND, wallNow);
    if (isInner) return { ok: true, rate };
    // In memory only: a plan's window lasts a minute at most, and a stored count would be a row for nearly every call.
    this.#windows.set(name, window);
    return allowed ? { ok: true, rate } : { ok: false, reason: 'rate', rate };
  }

  /**
   * Admits and forwards a consume in one call of the Worker. A success is added to the key's usage before the answer. The Worker records
   * every other outcome, because only it knows the final status.
   */
  async consume(request: AdmissionRequest, { productId, customer, call, ...use }: PassedUse): Promise<PassedAnswer> {
    const admission = await this.admit(request);
    if (!admission.ok) return { admission };
    const { accountId, livemode, keyId } = admission.caller;
    const identity = this.#passing.keyOf(accountId, livemode, productId, customer);
    const used = await this.#passing.use(identity, use);
    if (used?.ok && keyId !== null) {
      const { now, wallNow: at = now } = request;
      await this.record({ keyId, at, ...call, status: 200, units: used.replayed ? 0 : used.units });
    }
    return { admission, used, entitlementId: identity.entitlementId };
  }

  /** Merges the database's state. Never revokes a key later than before and never goes back a version, so a slow load cannot undo a fast revoke. */
  async load(account: AdmittedAccount, keys: AdmittedKey[]): Promise<void> {
    if (!this.#account || account.version >= this.#account.version) {
      this.#account = account;
      this.#save('account', account);
    }
    if (this.#staged && (account.version >= this.#staged.account.version || this.#hasStaleStage())) this.#setStage(null);
    for (const key of keys) await this.putKey(key);
  }

  /**
   * Applies a change before the database commits it, so that no request slips in between. A later `load` settles the change. Without one
   * (writer crashed), the database is asked after STAGE_MS.
   */
  async stage(account: AdmittedAccount, writer: number): Promise<void> {
    if (this.#account && account.version <= this.#account.version) return;
    const others = this.#staged && isSameStage(this.#staged.account, account) ? this.#staged.writers : [];
    this.#setStage({ account, stagedAt: Date.now(), writers: [...new Set([...others, writer])] });
  }

  /**
   * Drops a staged change that failed: the next caller triggers a database read. A rival's stage is not touched, and a stage that another
   * writer shares is dropped by the other one, or becomes stale.
   */
  async unstage(account: AdmittedAccount, writer: number): Promise<void> {
    if (!this.#staged || !isSameStage(this.#staged.account, account)) return;
    const writers = this.#staged.writers.filter((other) => other !== writer);
    this.#setStage({ ...this.#staged, writers, ...(writers.length > 0 ? {} : { stagedAt: 0 }) });
  }

  async putKey(key: AdmittedKey): Promise<void> {
    const held = this.#keys.get(key.keyHash);
    const revocations = [held?.revokedAt, key.revokedAt].filter((at) => at != null);
    const newest = held && held.version > key.version ? held : key;
    const merged = { ...newest, revokedAt: revocations.length > 0 ? Math.min(...revocations) : null };
    this.#keys.set(key.keyHash, merged);
    this.#save(`key:${key.keyHash}`, merged);
  }

  async revokeKey(keyHash: string, revokedAt: number): Promise<void> {
    const key = this.#keys.get(keyHash);
    // A key that is not loaded yet is stored revoked and without permissions. The revocation wins over a later load.
    await this.putKey({ ...(key ?? { keyId: '', keyHash, permissions: [], livemode: true, version: 0 }), revokedAt });
  }

  /** Stores the usage at once if none was stored lately, which is one row without an alarm. Under load an alarm stores it for many calls. */
  async record(outcome: CallOutcome): Promise<void> {
    this.#usage.set(outcome.keyId, addOutcome(this.#usage.get(outcome.keyId) ?? emptyUsage(), outcome));
    this.#unsaved.add(outcome.keyId);
    if (Date.now() - this.#usageStoredAt >= FLUSH_MS) this.#storeUsage();
    else if (!this.#hasUsageAlarm) {
      this.#hasUsageAlarm = true;
      await this.ctx.storage.setAlarm(Date.now() + FLUSH_MS);
    }
  }

  #storeUsage(): void {
    for (const keyId of this.#unsaved) this.#save(`usage:${keyId}`, this.#usage.get(keyId));
    this.#unsaved.clear();
    this.#usageStoredAt = Date.now();
  }

  async usage(): Promise<Record<string, KeyUsage>> {
    return Object.fromEntries(this.#usage);
  }

  /**
   * Counts one hit in every window of an address, or in none if one is full. Every hit is stored, because the object may hibernate: windows
   * of a minute and less in one row, the others in one each. The alarm deletes ended windows and, after the last, the object's storage.
   */
  async hit(asked: AddressWindow[], now: number): Promise<AddressAnswer> {
    const { answer, windows } = hitWindows(this.#hits, asked, now);
    const ends = asked.map(({ windowMs }) => windowMs);
    for (const [index, [name, window]] of windows.entries()) {
      const held = { ...window, endsAt: window.openedAt + ends[index]! };
      this.#hits.set(name, held);
      if (!isShort(held)) this.#save(`hit:${name}`, held);
    }
    if (windows.some(([name]) => isShort(this.#hits.get(name)!))) this.#save('hits', this.#shortHits(now));
    if (windows.length > 0 && !this.#hasAlarm) {
      this.#hasAlarm = true;
      await this.ctx.storage.setAlarm(Date.now() + Math.max(...ends));
    }
    return answer;
  }

  /** Takes back a hit of an open window, for a try that turned out to be right. */
  async release(name: string): Promise<void> {
    const held = this.#hits.get(name);
    if (!held || held.hits === 0) return;
    const left = { ...held, hits: held.hits - 1 };
    this.#hits.set(name, left);
    if (!isShort(left)) this.#save(`hit:${name}`, left);
  }

  /** Returns the shard that claimed the message first. The claim is stored and expires like an address window. */
  async claimMessage(owner: string, { windowMs, now }: { windowMs: number; now: number }): Promise<string> {
    const [claimed] = this.#hits.keys();
    if (claimed === undefined) await this.hit([{ name: owner, max: 1, windowMs }], now);
    return claimed ?? owner;
  }

  async messageOwner(): Promise<string | null> {
    const [claimed] = this.#hits.keys();
    return claimed ?? null;
  }

  /**
   * Counts fees against the daily budget and stores the count at once: fees are money. An account that is not loaded yet gets the budget of
   * the free plan.
   */
  async spendFees(spend: FeeSpend): Promise<FeeAnswer> {
    const plan = this.#account ? planAt(this.#account, spend.now) : 'free';
    const limit = Math.floor((spend.max ?? PLANS[plan].feesPerDay) * spend.rateMultiplier);
    const { spent, ...answer } = spendWithin(this.#fees, { ...spend, now: spend.wallNow ?? spend.now }, limit);
    if (answer.allowed) this.#save('feeCount', spent);
    this.#fees = spent;
    return { ...answer, plan, limit };
  }

  async noteFailedFee(now: number): Promise<void> {
    this.#fees = withFailedFee(this.#fees, now);
    this.#save('feeCount', this.#fees);
  }

  protected readTokenVersion(): number {
    return this.#account?.tokenVersion ?? 0;
  }

  async admitPerson(session: UsedSession, now: number): Promise<PersonAnswer> {
    if (!this.#account || this.#hasStaleStage()) return { ok: false, reason: 'unknown' };
    return this.sessions.admit(this.#staged?.account ?? this.#account, session, now);
  }

  /** Stores the usage of keys and deletes expired rows, or deletes ended windows of an address. A crash loses at most FLUSH_MS of usage. */
  override async alarm(): Promise<void> {
    if (this.#hits.size > 0) return this.#dropEndedWindows();
    this.#hasUsageAlarm = false;
    this.#storeUsage();
    const isInUse = (await this.setNextAlarm()) || this.#hasTables;
    if (!isInUse) await this.forgetAll();
  }

  async #dropEndedWindows(): Promise<void> {
    const now = Date.now();
    for (const [name, held] of this.#hits) {
      if (held.endsAt > now) continue;
      this.#hits.delete(name);
      if (!isShort(held)) this.ctx.storage.sql.exec('DELETE FROM facts WHERE name = ?', `hit:${name}`);
    }
    if (this.#shortHits(now).length === 0) this.ctx.storage.sql.exec("DELETE FROM facts WHERE name = 'hits'");
    this.#hasAlarm = this.#hits.size > 0;
    if (this.#hasAlarm) return this.ctx.storage.setAlarm(Math.max(...[...this.#hits.values()].map(({ endsAt }) => endsAt)));
    this.#windows.clear();
    await this.forgetAll();
    this.#hasTables = false;
  }

  #hasStaleStage(): boolean {
    return this.#staged !== null && Date.now() >= this.#staged.stagedAt + STAGE_MS;
  }

  #setStage(staged: Staged | null): void {
    this.#staged = staged;
    this.#save('staged', staged);
  }

  #shortHits(now: number): [string, AddressHits][] {
    return [...this.#hits].filter(([, held]) => isShort(held) && held.endsAt > now);
  }

  #save(name: string, value: unknown): void {
    if (!this.#hasTables)
      this.ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID');
    this.#hasTables = true;
    this.ctx.storage.sql.exec(
      'INSERT INTO facts VALUES (?, ?) ON CONFLICT(name) DO UPDATE SET value = excluded.value',
      name,
      JSON.stringify(value),
    );
  }

  #restore(): void {
    for (const { name, value } of this.ctx.storage.sql.exec<{ name: string; value: string }>('SELECT name, value FROM facts')) {
      const fact = JSON.parse(value);
      const [kind, id = ''] = name.split(':');
      if (kind === 'account') this.#account = fact;
      if (kind === 'staged') this.#staged = fact;
      if (name === 'feeCount') this.#fees = fact;
      if (kind === 'key') this.#keys.set(id, fact);
      if (kind === 'hit') this.#hits.set(name.slice('hit:'.length), fact);
      if (name === 'hits') for (const [window, held] of fact) this.#hits.set(window, held);
      if (kind === 'usage') this.#usage.set(id, fact);
    }
  }
}
