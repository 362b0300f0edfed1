import { isOverloaded } from '#core/errors.ts';
import { entitlementIdOf } from '#core/ids.ts';
import { SECOND } from '#core/time.ts';
import type { Env } from '#platform/context.ts';
import { inTime } from '#platform/deadline.ts';
import { entitlementObjectName, nearHome } from '#platform/objects.ts';
import type { Customer, EntitlementKey } from '#rules/balance.ts';
import type { KeyedUse, PassedOutcome } from '#rules/entitlement-rpc.ts';

const GROUP_MAX = 256;
const GROUP_MS = 10 * SECOND;
const IDENTITIES_MAX = 1000;

interface PendingUse {
  use: KeyedUse;
  resolve(answer: PassedOutcome | null): void;
}

/**
 * Forwards uses to the objects of their entitlements, per entitlement in order of arrival. One call per object is in flight, and uses that
 * arrive meanwhile share the next, because a call costs more than its work.
 */
export class ConsumeForwarder {
  readonly #env: Env;
  readonly #identities = new Map<string, EntitlementKey>();
  readonly #waiting = new Map<string, PendingUse[]>();
  #underWay = 0;

  constructor(env: Env) {
    this.#env = env;
  }

  /** Caches recent identities: hashing an entitlement id costs as much as the rest of admission. */
  keyOf(merchantId: string, livemode: boolean, productId: string, customer: Customer): EntitlementKey {
    const name = JSON.stringify([livemode, productId, customer]);
    const known = this.#identities.get(name);
    if (known?.merchantId === merchantId) return known;
    const identity = {
      entitlementId: entitlementIdOf(merchantId, livemode, productId, customer),
      merchantId,
      livemode,
      productId,
      customer,
    };
    if (this.#identities.size >= IDENTITIES_MAX) this.#identities.clear();
    this.#identities.set(name, identity);
    return identity;
  }

  /** Returns null if the object was unavailable or timed out. The outcome of the use is then unknown. */
  async use(identity: EntitlementKey, use: KeyedUse): Promise<PassedOutcome | null> {
    this.#underWay++;
    try {
      return await new Promise((resolve) => this.#board(identity, { use, resolve }));
    } finally {
      this.#underWay--;
    }
  }

  #board(identity: EntitlementKey, passenger: PendingUse): void {
    const waiting = this.#waiting.get(identity.entitlementId);
    if (waiting) {
      waiting.push(passenger);
      return;
    }
    const first = [passenger];
    this.#waiting.set(identity.entitlementId, first);
    void this.#serve(identity, first);
  }

  async #serve(identity: EntitlementKey, waiting: PendingUse[]): Promise<void> {
    // A single use is sent at once. Under concurrency, uses that arrive in the same turn are grouped.
    if (this.#underWay > 1) await nextTurn();
    while (waiting.length > 0) {
      const group = waiting.splice(0, GROUP_MAX);
      const answers = await this.#ask(identity, group);
      for (const [i, { resolve }] of group.entries()) resolve(answers[i] ?? null);
      if (group.length > 1 || waiting.length > 0) await nextTurn();
    }
    this.#waiting.delete(identity.entitlementId);
  }

  async #ask(identity: EntitlementKey, group: readonly PendingUse[]): Promise<(PassedOutcome | null)[]> {
    const object = this.#env.ENTITLEMENT.getByName(...nearHome(this.#env, entitlementObjectName(identity, identity.entitlementId)));
    const uses = group.map(({ use }) => use);
    try {
      return await inTime({ leftMs: () => GROUP_MS }, async () => object.consumeMany(identity, uses));
    } catch (error) {
      // An overloaded object is not called again. After any other error, callers retry at the object under the same keys.
      return isOverloaded(error) ? group.map(() => ({ ok: false, reason: 'overloaded' })) : [];
    }
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
