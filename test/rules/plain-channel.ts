import { type ChannelTerms, type MeteredChannel, withoutExpired } from '#rules/metered/channel.ts';
import type { PresentedVoucher } from '#rules/metered/vouchers.ts';

interface Delivery {
  amount: bigint;
  until: number;
  holds: boolean;
  paid: { cumulative: bigint; signature: string } | null;
}

/** Independent model of a metered session. Shares no code with the rules and recomputes every sum. */
export class PlainChannel {
  readonly #terms: ChannelTerms;
  #stage = 'created';
  #deposit = 0n;
  #settled = 0n;
  #last: { cumulative: bigint; signature: string } | null = null;
  #cumulative = 0n;
  readonly #deliveries = new Map<string, Delivery>();

  constructor(terms: ChannelTerms) {
    this.#terms = terms;
  }

  chainAfter(amount: bigint): { deposit: bigint; settled: bigint } {
    const settled = this.#settled + (amount % 3n);
    const deposit = this.#deposit + (amount % 2n);
    return { deposit, settled: settled > deposit ? deposit : settled };
  }

  totals(now: number) {
    return { deposit: this.#deposit, cumulative: this.#cumulative, settled: this.#settled, free: this.#free(now) };
  }

  freeOf(channel: MeteredChannel, now: number): bigint {
    const held = withoutExpired(channel, now).pending.filter(({ holdsMoney }) => holdsMoney);
    return channel.deposit - channel.cumulative - held.reduce((sum, { amount }) => sum + amount, 0n);
  }

  run(
    verb: 'open' | 'reserve' | 'announce' | 'commit' | 'voucher' | 'seen' | 'close' | 'end' | 'wait',
    step: { id: string; amount: bigint; voucher: PresentedVoucher; now: number },
  ): string {
    switch (verb) {
      case 'open':
        return this.#open(step.amount * 10n);
      case 'reserve':
        return this.#reserve(step, true);
      case 'announce':
        return this.#reserve(step, false);
      case 'commit':
        return this.#commit(step);
      case 'voucher':
        return this.#voucher(step);
      case 'seen':
        return this.#see(step.amount);
      case 'close':
        return this.#close();
      case 'end':
        return this.#end();
      case 'wait':
        return 'replayed';
    }
  }

  #live(now: number): [string, Delivery][] {
    return [...this.#deliveries].filter(([, { paid, until }]) => paid === null && until > now);
  }

  #free(now: number): bigint {
    const held = this.#live(now).filter(([, { holds }]) => holds);
    return held.reduce((free, [, { amount }]) => free - amount, this.#deposit - this.#cumulative);
  }

  #open(deposit: bigint): string {
    if (this.#stage === 'open' || this.#stage === 'closing') return 'replayed';
    if (this.#stage === 'closed') return 'channel-sealed';
    this.#stage = 'open';
    this.#deposit = deposit;
    return 'done';
  }

  #reserve({ id, amount, now }: { id: string; amount: bigint; now: number }, holds: boolean): string {
    const known = this.#deliveries.get(id);
    if (known?.paid) return known.amount === amount ? 'replayed' : 'delivery-conflict';
    const makesRoom = holds && !known?.holds;
    if (known && known.until > now && !makesRoom) return known.amount === amount ? 'replayed' : 'delivery-conflict';
    if (this.#stage === 'closed') return 'channel-sealed';
    if (this.#stage !== 'open') return 'not-open';
    if (amount > this.#free(now)) return 'exceeds-deposit';
    this.#forgetExpired(now);
    this.#deliveries.delete(id);
    this.#deliveries.set(id, { amount, until: now + 60_000, holds, paid: null });
    return 'done';
  }

  #forgetExpired(now: number): void {
    for (const [id, { paid, until }] of this.#deliveries) if (paid === null && until <= now) this.#deliveries.delete(id);
  }

  #stageProblem(): string | null {
    return { created: 'not-open', open: null, closing: 'channel-close-pending', closed: 'channel-sealed' }[this.#stage]!;
  }

  #commit({ id, voucher, now }: { id: string; voucher: PresentedVoucher; now: number }): string {
    const delivery = this.#deliveries.get(id);
    if (delivery?.paid) {
      const isSame = delivery.paid.cumulative === voucher.cumulative && delivery.paid.signature === voucher.signature;
      return isSame ? 'replayed' : 'delivery-conflict';
    }
    if (voucher.cumulative <= 0n) return 'invalid-cumulative';
    const problem = this.#stageProblem();
    if (problem) return problem;
    if (!delivery) return 'unknown-delivery';
    if (delivery.until <= now) return 'delivery-expired';
    const paid = voucher.cumulative - this.#cumulative;
    if (paid > delivery.amount) return 'exceeds-reservation';
    const free = this.#free(now) + (delivery.holds ? delivery.amount : 0n);
    const raised = this.#raise(voucher, free);
    if (raised !== 'done') return raised;
    delivery.paid = { cumulative: voucher.cumulative, signature: voucher.signature };
    this.#forgetExpired(now);
    return 'done';
  }

  #voucher({ voucher, now }: { voucher: PresentedVoucher; now: number }): string {
    if (voucher.cumulative <= 0n) return 'invalid-cumulative';
    const problem = this.#stageProblem();
    if (problem) return problem;
    const isLast = this.#last?.cumulative === voucher.cumulative && this.#last.signature === voucher.signature;
    if (isLast) return voucher.isSigned ? 'replayed' : 'invalid-signature';
    const raised = this.#raise(voucher, this.#free(now));
    if (raised === 'done') this.#forgetExpired(now);
    return raised;
  }

  #raise(voucher: PresentedVoucher, free: bigint): string {
    const paid = voucher.cumulative - this.#cumulative;
    if (paid <= 0n) return 'cumulative-not-monotonic';
    if (paid > free) return 'exceeds-deposit';
    if (paid < this.#terms.minVoucherDelta) return 'below-min-delta';
    if (!voucher.isSigned) return 'invalid-signature';
    this.#cumulative = voucher.cumulative;
    this.#last = { cumulative: voucher.cumulative, signature: voucher.signature };
    return 'done';
  }

  #see(amount: bigint): string {
    const { deposit, settled } = this.chainAfter(amount);
    const isNews = deposit !== this.#deposit || settled !== this.#settled;
    if (!isNews || this.#stage === 'created') return 'replayed';
    this.#deposit = deposit;
    this.#settled = settled;
    if (settled > this.#cumulative) this.#cumulative = settled;
    const held = () => [...this.#deliveries].filter(([, { paid, holds }]) => paid === null && holds);
    const total = () => held().reduce((sum, [, one]) => sum + one.amount, 0n);
    while (this.#cumulative + total() > deposit) this.#deliveries.delete(held().at(-1)![0]);
    return 'done';
  }

  #close(): string {
    if (this.#stage === 'closing') return 'replayed';
    if (this.#stage === 'closed') return 'channel-sealed';
    if (this.#stage !== 'open') return 'not-open';
    this.#stage = 'closing';
    this.#dropPending();
    return 'done';
  }

  #end(): string {
    if (this.#stage === 'closed') return 'replayed';
    this.#stage = 'closed';
    this.#dropPending();
    return 'done';
  }

  #dropPending(): void {
    for (const [id, { paid }] of this.#deliveries) if (paid === null) this.#deliveries.delete(id);
  }
}
