import { DurableObject } from 'cloudflare:workers';
import { MINUTE, SECOND } from '#core/time.ts';
import type { Env } from '#platform/context.ts';
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
import { Passing } from './passing.ts';

const FLUSH_MS = 5 * SECOND;
/** Longer than any write to the database takes: by then it is decided whether a staged change was stored. */
const STAGE_MS = MINUTE;

interface Staged {
  account: AdmittedAccount;
  stagedAt: number;
}

/**
 * One per account, and one per address of callers without a credential: may this call pass, and how many more? Where a deployment has
 * several databases, one per message of a payment too: which of them has it? Answers from memory; what must outlive
 * the object is in its own database, whose tables appear with the first write, so that strangers leave nothing behind.
 */
export class Admission extends DurableObject<Env> implements AdmissionRpc {
  #account: AdmittedAccount | null = null;
  #staged: Staged | null = null;
  #fees: FeesSpent | undefined;
  readonly #keys = new Map<string, AdmittedKey>();
  readonly #windows = new Map<string, Window>();
  readonly #usage = new Map<string, KeyUsage>();
  readonly #hits = new Map<string, Window & { endsAt: number }>();
  readonly #unsaved = new Set<string>();
  readonly #passing: Passing;
  #hasAlarm = false;
  #hasTables: boolean;

  constructor(state: DurableObjectState, env: Env) {
    super(state, env);
    this.#passing = new Passing(env.ENTITLEMENT);
    this.#hasTables = state.storage.sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'facts'").toArray().length > 0;
    if (this.#hasTables) this.#restore();
    // Stored windows have an alarm that will drop them.
    this.#hasAlarm = this.#hits.size > 0;
  }

  async admit(request: AdmissionRequest): Promise<AdmissionAnswer> {
    // A staged change whose caller never came back: whether it was stored, only the database can tell.
    if (!this.#account || this.#hasStaleStage()) return { ok: false, reason: 'unknown' };
    const key = request.credential.kind === 'key' ? this.#keys.get(request.credential.keyHash) : undefined;
    const judged = judgeCaller(this.#staged?.account ?? this.#account, key, request);
    if (!judged.ok) return judged;
    // Counted last: a refused call costs nothing.
    const counted = await this.#count({ ...request, livemode: judged.caller.livemode }, judged.caller.plan);
    return counted.ok ? { ...counted, caller: judged.caller } : { ...counted, ...(key && { keyId: key.keyId }) };
  }

  async count(call: CountedCall): ReturnType<AdmissionRpc['count']> {
    return this.#account ? this.#count(call, planAt(this.#account, call.now)) : { ok: false, reason: 'unknown' };
  }

  /** One more call in a bucket of the account, if there is room. */
  async #count({ bucket, livemode, rateMultiplier, now, wallNow = now }: CountedCall, plan: PlanName): Promise<Counted> {
    const name = `${bucket}-${livemode ? 'live' : 'sandbox'}`;
    const { limit, windowSeconds } = rateOf(plan, bucket, livemode, rateMultiplier);
    const { allowed, window, rate } = hitWindow(this.#windows.get(name), limit, windowSeconds * SECOND, wallNow);
    this.#windows.set(name, window);
    await this.#saveSoon(`window:${name}`);
    return allowed ? { ok: true, rate } : { ok: false, reason: 'rate', rate };
  }

  /**
   * Admits and passes on in one step, so that a consume is one call of the Worker. What was used is in the key's usage before the answer;
   * every other outcome is for the Worker to `record`, which alone knows what it answers then.
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

  /** What the database says. Never un-revokes and never steps back: a slow load cannot undo a fast revoke. */
  async load(account: AdmittedAccount, keys: AdmittedKey[]): Promise<void> {
    if (!this.#account || account.version >= this.#account.version) {
      this.#account = account;
      this.#save('account', account);
    }
    if (this.#staged && (account.version >= this.#staged.account.version || this.#hasStaleStage())) this.#setStage(null);
    for (const key of keys) await this.putKey(key);
  }

  /**
   * Judges by a change from now on, before the database holds it, so that no request slips in between. The load of what was
   * stored settles it; where none comes, because the writer died, the database is asked after a minute.
   */
  async stage(account: AdmittedAccount): Promise<void> {
    if (!this.#account || account.version > this.#account.version) this.#setStage({ account, stagedAt: Date.now() });
  }

  /** This change came to nothing: the database is asked before another caller is judged. A rival's stage is left alone. */
  async unstage({ version, tokenVersion, status }: AdmittedAccount): Promise<void> {
    const staged = this.#staged?.account;
    if (staged?.version === version && staged.tokenVersion === tokenVersion && staged.status === status)
      this.#setStage({ account: staged, stagedAt: 0 });
  }

  async putKey(key: AdmittedKey): Promise<void> {
    const merged = { ...key, revokedAt: this.#keys.get(key.keyHash)?.revokedAt ?? key.revokedAt };
    this.#keys.set(key.keyHash, merged);
    this.#save(`key:${key.keyHash}`, merged);
  }

  async revokeKey(keyHash: string, revokedAt: number): Promise<void> {
    const key = this.#keys.get(keyHash);
    // Not loaded yet: the revocation is kept as a key that can do nothing, and wins over the load to come.
    await this.putKey({ ...(key ?? { keyId: '', keyHash, permissions: [], livemode: true }), revokedAt: key?.revokedAt ?? revokedAt });
  }

  async record(outcome: CallOutcome): Promise<void> {
    this.#usage.set(outcome.keyId, addOutcome(this.#usage.get(outcome.keyId) ?? emptyUsage(), outcome));
    await this.#saveSoon(`usage:${outcome.keyId}`);
  }

  async usage(): Promise<Record<string, KeyUsage>> {
    return Object.fromEntries(this.#usage);
  }

  /**
   * Of an address: one more hit in each of these windows, or in none where one is full. Every hit is stored, so that an object that
   * slept forgets nothing; what is over is dropped by the alarm, and with the last window the object's storage is empty again.
   */
  async hit(asked: AddressWindow[], now: number): Promise<AddressAnswer> {
    const counted = asked.filter(({ unlessOpen = '' }) => (this.#hits.get(unlessOpen)?.endsAt ?? 0) <= now);
    if (counted.length === 0) return { allowed: true, rate: { limit: asked[0]!.max, remaining: asked[0]!.max, resetAt: now } };
    const { answer, windows } = hitWindows(this.#hits, counted, now);
    const ends = counted.map(({ windowMs }) => windowMs);
    for (const [index, [name, window]] of windows.entries()) {
      const held = { ...window, endsAt: window.openedAt + ends[index]! };
      this.#hits.set(name, held);
      this.#save(`hit:${name}`, held);
    }
    if (windows.length > 0 && !this.#hasAlarm) {
      this.#hasAlarm = true;
      await this.ctx.storage.setAlarm(Date.now() + Math.max(...ends));
    }
    return answer;
  }

  /** Kept and forgotten as a window of an address is. */
  async claimMessage(owner: string, { windowMs, now }: { windowMs: number; now: number }): Promise<string> {
    const [claimed] = this.#hits.keys();
    if (claimed === undefined) await this.hit([{ name: owner, max: 1, windowMs }], now);
    return claimed ?? owner;
  }

  /** Stored with every payment: it is money, so nothing of it is forgiven. An account that was not loaded yet has the smallest budget. */
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

  /** Writes what accumulated in memory; a crash forgives at most these seconds of counting. Windows of an address end here. */
  override async alarm(): Promise<void> {
    if (this.#hits.size > 0) return this.#dropEndedWindows();
    for (const name of this.#unsaved) {
      const [kind, id = ''] = name.split(':');
      this.#save(name, kind === 'usage' ? this.#usage.get(id) : this.#windows.get(id));
    }
    this.#unsaved.clear();
  }

  async #dropEndedWindows(): Promise<void> {
    const now = Date.now();
    for (const [name, { endsAt }] of this.#hits) {
      if (endsAt > now) continue;
      this.#hits.delete(name);
      this.ctx.storage.sql.exec('DELETE FROM facts WHERE name = ?', `hit:${name}`);
    }
    this.#hasAlarm = this.#hits.size > 0;
    if (this.#hasAlarm) return this.ctx.storage.setAlarm(Math.max(...[...this.#hits.values()].map(({ endsAt }) => endsAt)));
    this.#windows.clear();
    await this.ctx.storage.deleteAll();
    this.#hasTables = false;
  }

  #hasStaleStage(): boolean {
    return this.#staged !== null && Date.now() >= this.#staged.stagedAt + STAGE_MS;
  }

  #setStage(staged: Staged | null): void {
    this.#staged = staged;
    this.#save('staged', staged);
  }

  async #saveSoon(name: string): Promise<void> {
    if (this.#unsaved.size === 0) await this.ctx.storage.setAlarm(Date.now() + FLUSH_MS);
    this.#unsaved.add(name);
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
      if (kind === 'window') this.#windows.set(id, fact);
      if (kind === 'usage') this.#usage.set(id, fact);
    }
  }
}
