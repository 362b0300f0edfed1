import type { Verdict } from './program-chain.ts';

/** Steps of a channel, with amounts in base units. */
export type ChannelStep =
  | { kind: 'settle' | 'topUp' | 'donate'; amount: bigint }
  | { kind: 'settleAndSeal'; amount: bigint | null }
  | { kind: 'requestClose' | 'seal' | 'withdrawPayer' | 'distribute' | 'reclaim' }
  | { kind: 'warp'; seconds: bigint };

interface Terms {
  isCurrent: boolean;
  deposit: bigint;
  graceSeconds: bigint;
  windowSlots: bigint;
  /** Shares of the recipients in basis points. The payee gets the rest. */
  bps: readonly number[];
}

/**
 * Second implementation of the payment channel rules with plain sums, without accounts, instructions or tokens. Its verdict on every step
 * must match the chain.
 */
export class PlainChannel {
  readonly #terms: Terms;
  #status: 'open' | 'closing' | 'sealed' | 'distributed' | 'gone' = 'open';
  #deposit: bigint;
  #settled = 0n;
  #paidOut = 0n;
  #closingSince = 0n;
  #hasWithdrawn = false;
  #escrow: bigint;
  #now = 0n;
  /** Gains since the opening: recipients, then payee, payer and treasury. */
  readonly gains: bigint[];

  constructor(terms: Terms) {
    this.#terms = terms;
    this.#deposit = terms.deposit;
    this.#escrow = terms.deposit;
    this.gains = Array<bigint>(terms.bps.length + 3).fill(0n);
  }

  get escrow(): bigint {
    return this.#escrow;
  }

  get status() {
    return this.#status;
  }

  take(step: ChannelStep): Verdict {
    if (step.kind === 'warp') {
      this.#now += step.seconds;
      return 'accepted';
    }
    if (step.kind === 'donate') return this.#donate(step.amount);
    if (step.kind === 'topUp' && step.amount === 0n) return 200;
    if (step.kind === 'reclaim' && !this.#terms.isCurrent) return 'InvalidInstructionData';
    if (this.#status === 'gone') return this.#terms.isCurrent ? 'InvalidAccountOwner' : 'InvalidAccountData';
    switch (step.kind) {
      case 'settle':
        return this.#status === 'open' ? this.#settle(step.amount) : 2;
      case 'topUp':
        return this.#topUp(step.amount);
      case 'settleAndSeal':
        return this.#settleAndSeal(step.amount);
      case 'requestClose':
        return this.#requestClose();
      case 'seal':
        return this.#seal();
      case 'withdrawPayer':
        return this.#withdraw();
      case 'distribute':
        return this.#distribute();
      case 'reclaim':
        return this.#reclaim();
    }
  }

  get #isInGrace(): boolean {
    return this.#now < this.#closingSince + this.#terms.graceSeconds;
  }

  get #isWindowOver(): boolean {
    // Five slots take two seconds.
    return (this.#now * 5n) / 2n > this.#terms.windowSlots;
  }

  #donate(amount: bigint): Verdict {
    if (this.#status === 'distributed' || this.#status === 'gone') return 'InvalidAccountData';
    this.#escrow += amount;
    return 'accepted';
  }

  #settle(amount: bigint): Verdict {
    if (amount > this.#deposit) return 235;
    if (amount <= this.#settled) return 234;
    this.#settled = amount;
    return 'accepted';
  }

  #topUp(amount: bigint): Verdict {
    if (this.#status !== 'open') return 2;
    this.#deposit += amount;
    this.#fromPayer(amount);
    return 'accepted';
  }

  #settleAndSeal(amount: bigint | null): Verdict {
    const isOpen = this.#status === 'open' || (this.#status === 'closing' && this.#isInGrace);
    if (!isOpen) return 2;
    const verdict = amount === null ? 'accepted' : this.#settle(amount);
    if (verdict === 'accepted') this.#status = 'sealed';
    return verdict;
  }

  #requestClose(): Verdict {
    if (this.#status !== 'open') return 2;
    this.#status = 'closing';
    this.#closingSince = this.#now;
    return 'accepted';
  }

  #seal(): Verdict {
    if (this.#status !== 'closing') return 2;
    if (this.#isInGrace) return this.#terms.isCurrent ? 2201 : 2;
    this.#status = 'sealed';
    return 'accepted';
  }

  #withdraw(): Verdict {
    if (this.#status !== 'sealed') return 2;
    if (this.#hasWithdrawn) return 2300;
    this.#hasWithdrawn = true;
    this.#fromPayer(this.#settled - this.#deposit);
    return 'accepted';
  }

  #distribute(): Verdict {
    if (this.#status !== 'open' && this.#status !== 'sealed') return 2400;
    if (this.#status === 'open' && this.#paidOut === this.#settled) return 2408;
    const { bps, isCurrent } = this.#terms;
    const rest = 10_000 - bps.reduce((sum, part) => sum + part, 0);
    for (const [index, part] of [...bps, rest].entries()) {
      const due = (total: bigint) => (total * BigInt(part)) / 10_000n;
      this.#pay(index, due(this.#settled) - due(this.#paidOut));
    }
    this.#paidOut = this.#settled;
    if (this.#status === 'open') return 'accepted';
    if (!this.#hasWithdrawn) this.#fromPayer(this.#settled - this.#deposit);
    this.#pay(this.gains.length - 1, this.#escrow);
    this.#status = isCurrent && !this.#isWindowOver ? 'distributed' : 'gone';
    return 'accepted';
  }

  #reclaim(): Verdict {
    if (this.#status !== 'distributed') return 2;
    if (!this.#isWindowOver) return 2414;
    this.#status = 'gone';
    return 'accepted';
  }

  /** Moves the amount from the payer into escrow, or back if negative. */
  #fromPayer(amount: bigint): void {
    this.#escrow += amount;
    this.gains[this.gains.length - 2]! -= amount;
  }

  #pay(party: number, amount: bigint): void {
    this.#escrow -= amount;
    this.gains[party]! += amount;
  }
}
