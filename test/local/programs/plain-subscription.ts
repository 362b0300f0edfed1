import type { Verdict } from './program-chain.ts';

export type SubscriptionStep =
  | { kind: 'collect'; amount: bigint }
  | { kind: 'cancel' | 'resume' | 'revoke' | 'subscribe' | 'authorize' | 'closeAuthority' | 'sunset' | 'deletePlan' }
  | { kind: 'warp'; seconds: bigint };

interface Terms {
  price: bigint;
  periodSeconds: bigint;
  balance: bigint;
}

/**
 * Second implementation of the subscription rules with plain numbers, without accounts, instructions or tokens. Its verdict on every step
 * must match the chain.
 */
export class PlainSubscription {
  readonly #terms: Terms;
  #now: bigint;
  #slotsPassed = 0n;
  /** Creation time of the authority, or null without one. */
  #authority: bigint | null = 0n;
  #plan: 'active' | 'sunset' | 'gone' = 'active';
  #planEnd: bigint | null = null;
  #subscription: { authority: bigint; start: bigint; pulled: bigint; end: bigint | null } | null = null;
  #collected = 0n;

  constructor(terms: Terms, now: bigint) {
    this.#terms = terms;
    this.#now = now;
  }

  get collected(): bigint {
    return this.#collected;
  }

  get periodStart(): bigint | null {
    return this.#subscription?.start ?? null;
  }

  take(step: SubscriptionStep): Verdict {
    switch (step.kind) {
      case 'warp':
        this.#now += step.seconds;
        this.#slotsPassed += step.seconds;
        return 'accepted';
      case 'authorize':
        this.#authority ??= this.#slotsPassed;
        return 'accepted';
      case 'closeAuthority':
        return this.#closeAuthority();
      case 'sunset':
        return this.#sunset();
      case 'deletePlan':
        return this.#deletePlan();
      case 'subscribe':
        return this.#subscribe();
      case 'collect':
        return this.#collect(step.amount);
      case 'cancel':
        return this.#cancel();
      case 'resume':
        return this.#resume();
      case 'revoke':
        return this.#revoke();
    }
  }

  get #hasPlanEnded(): boolean {
    return this.#planEnd !== null && this.#now > this.#planEnd;
  }

  #closeAuthority(): Verdict {
    if (this.#authority === null) return 'InvalidAccountOwner';
    this.#authority = null;
    return 'accepted';
  }

  #sunset(): Verdict {
    if (this.#plan === 'gone') return 'InvalidAccountOwner';
    const end = this.#now + 3n * this.#terms.periodSeconds;
    // A repetition within the same second changes nothing.
    if (this.#plan === 'sunset') return this.#planEnd === end ? 'accepted' : 513;
    this.#plan = 'sunset';
    this.#planEnd = end;
    return 'accepted';
  }

  #deletePlan(): Verdict {
    if (this.#plan === 'gone') return 'InvalidAccountOwner';
    if (!this.#hasPlanEnded) return 515;
    this.#plan = 'gone';
    return 'accepted';
  }

  #subscribe(): Verdict {
    if (this.#plan === 'gone') return 'InvalidAccountOwner';
    if (this.#authority === null) return 103;
    if (this.#plan === 'sunset') return 500;
    if (this.#subscription !== null) return 517;
    this.#subscription = { authority: this.#authority, start: this.#now, pulled: 0n, end: null };
    return 'accepted';
  }

  #collect(amount: bigint): Verdict {
    const { price, periodSeconds, balance } = this.#terms;
    const subscription = this.#subscription;
    if (subscription === null) return 'InvalidAccountOwner';
    if (this.#plan === 'gone') return 516;
    if (this.#authority === null) return 103;
    if (this.#hasPlanEnded) return 501;
    if (subscription.end !== null && this.#now >= subscription.end) return 508;
    if (amount === 0n) return 129;
    let { start, pulled } = subscription;
    while (start + periodSeconds <= this.#now && (this.#planEnd === null || start + periodSeconds < this.#planEnd)) {
      start += periodSeconds;
      pulled = 0n;
    }
    if (pulled + amount > price) return 400;
    if (subscription.authority !== this.#authority) return 136;
    if (this.#collected + amount > balance) return 1;
    this.#subscription = { ...subscription, start, pulled: pulled + amount };
    this.#collected += amount;
    return 'accepted';
  }

  #cancel(): Verdict {
    const subscription = this.#subscription;
    if (subscription === null) return 'InvalidAccountOwner';
    if (subscription.end !== null) return 509;
    let end = subscription.start;
    while (end <= this.#now) end += this.#terms.periodSeconds;
    if (this.#planEnd !== null && end > this.#planEnd) end = this.#planEnd + 1n;
    if (this.#plan === 'gone') end = this.#now;
    this.#subscription = { ...subscription, end };
    return 'accepted';
  }

  #resume(): Verdict {
    const subscription = this.#subscription;
    if (subscription === null) return 'InvalidAccountOwner';
    if (this.#authority === null) return 103;
    if (subscription.end === null) return 510;
    if (this.#plan === 'gone') return 516;
    if (this.#hasPlanEnded) return 501;
    if (subscription.authority !== this.#authority) return 136;
    if (subscription.end <= this.#now) return 508;
    this.#subscription = { ...subscription, end: null };
    return 'accepted';
  }

  #revoke(): Verdict {
    const subscription = this.#subscription;
    if (subscription === null) return 'InvalidAccountOwner';
    if (subscription.end === null || subscription.end > this.#now) return 510;
    this.#subscription = null;
    return 'accepted';
  }
}
