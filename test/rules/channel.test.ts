import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MINUTE, SECOND } from '#core/time.ts';
import {
  assertChannel,
  type ChannelTerms,
  type CommittedDelivery,
  type MeteredChannel,
  newChannel,
  planClose,
  planEnd,
  planOpen,
  planSeen,
  reservedOf,
} from '#rules/metered/channel.ts';
import { ANNOUNCED_MAX, type PresentedVoucher, planCommit, planReserve, planVoucher, RESERVED_MAX } from '#rules/metered/vouchers.ts';
import { PlainChannel } from './plain-channel.ts';

const NOW = 1_800_000_000_000;
const TERMS: ChannelTerms = { cap: 1_000n, minVoucherDelta: 1n, gracePeriodSeconds: 900 };
const at = (cumulative: bigint, change: Partial<PresentedVoucher> = {}): PresentedVoucher => ({
  cumulative,
  signature: `signature-${cumulative}`,
  expiresAt: 0n,
  isSigned: true,
  ...change,
});
const value = <T>(result: { ok: true; value: T } | { ok: false; reason: string }): T => {
  if (!result.ok) throw new Error(result.reason);
  return result.value;
};
const opened = (deposit = 100n, terms = TERMS) => value(planOpen(newChannel(NOW), terms, { deposit, settled: 0n }, NOW)).channel;
const asked = (deliveryId: string, amount: bigint, holdsMoney = true) => ({ deliveryId, amount, holdsMoney, expiresAt: NOW + MINUTE });
const reserve = (channel: MeteredChannel, deliveryId: string, amount: bigint, holdsMoney = true) =>
  value(planReserve(channel, asked(deliveryId, amount, holdsMoney), null, NOW)).channel;
const commit = (
  channel: MeteredChannel,
  deliveryId: string,
  voucher: PresentedVoucher,
  known: CommittedDelivery | null = null,
  now = NOW,
) => planCommit(channel, TERMS, { deliveryId, voucher, known }, now);
const reasonOf = (result: { ok: boolean; reason?: string }) => (result.ok ? 'ok' : result.reason);

describe('an opening', () => {
  it.each([
    ['nothing', 0n, 'invalid-deposit'],
    ['more than the cap', 1_001n, 'exceeds-cap'],
    ['the cap', 1_000n, 'ok'],
  ])('with %s locked up is %s', (_, deposit, reason) => {
    expect(reasonOf(planOpen(newChannel(NOW), TERMS, { deposit, settled: 0n }, NOW))).toBe(reason);
  });

  it('is the same the second time, and refused once the session is over', () => {
    expect(planOpen(opened(), TERMS, { deposit: 50n, settled: 0n }, NOW)).toMatchObject({ ok: true, value: { replayed: true } });
    expect(reasonOf(planOpen(planEnd(opened()).channel, TERMS, { deposit: 50n, settled: 0n }, NOW))).toBe('channel-sealed');
  });
});

describe('an announcement of a stranger', () => {
  it.each([
    ['the same amount', 30n],
    ['another amount', 1n],
  ])('of %s stands in the way of nothing that the merchant reserves under its id', (_, amount) => {
    const announced = reserve(opened(), 'page-1', amount, false);
    const reserved = value(planReserve(announced, asked('page-1', 30n), null, NOW));
    expect([reserved.replayed, reservedOf(reserved.channel), reserved.reservation.sequence]).toEqual([false, 30n, 2]);
    expect(reserved.channel.pending).toHaveLength(1);
    expect(reasonOf(planReserve(reserved.channel, asked('page-1', 1n, false), null, NOW))).toBe('delivery-conflict');
  });

  it('does not put off the moment at which the session is idle', () => {
    const channel = opened();
    expect(value(planReserve(channel, asked('a', 1n, false), null, NOW + MINUTE)).channel.usedAt).toBe(channel.usedAt);
  });
});

describe('a voucher is judged in the order of the reference server', () => {
  const paid = value(planVoucher(opened(), TERMS, at(10n), NOW)).channel;
  const soon = BigInt(NOW / SECOND);
  it.each<[string, MeteredChannel, PresentedVoucher, string]>([
    ['too large to be counted', paid, at(2n ** 64n), 'invalid-cumulative'],
    ['of a session that is over', planEnd(paid).channel, at(11n), 'channel-sealed'],
    ['of one that closes', value(planClose(paid)).channel, at(11n), 'channel-close-pending'],
    ['of one that was never opened', newChannel(NOW), at(11n), 'not-open'],
    ['that is the watermark', paid, at(10n), 'ok'],
    ['that is the watermark, but forged', paid, at(10n, { isSigned: false }), 'invalid-signature'],
    ['equal with another signature', paid, at(10n, { signature: 'other' }), 'cumulative-not-monotonic'],
    ['lower', paid, at(9n), 'cumulative-not-monotonic'],
    ['lower and forged', paid, at(9n, { isSigned: false }), 'cumulative-not-monotonic'],
    ['above the deposit', paid, at(101n), 'exceeds-deposit'],
    ['above the deposit and forged', paid, at(101n, { isSigned: false }), 'exceeds-deposit'],
    ['forged', paid, at(11n, { isSigned: false }), 'invalid-signature'],
    ['that has ended', paid, at(11n, { expiresAt: soon }), 'expired'],
    ['that ends before the epoch', paid, at(11n, { expiresAt: -1n }), 'expired'],
    ['that ends before it can be settled', paid, at(11n, { expiresAt: soon + 1_499n }), 'expires-within-settlement-window'],
    ['that ends just late enough', paid, at(11n, { expiresAt: soon + 1_500n }), 'ok'],
  ])('%s', (_name, channel, voucher, reason) => {
    expect(reasonOf(planVoucher(channel, TERMS, voucher, NOW))).toBe(reason);
  });

  it('smaller steps than agreed are refused', () => {
    const terms = { ...TERMS, minVoucherDelta: 5n };
    expect(reasonOf(planVoucher(opened(100n, terms), terms, at(4n), NOW))).toBe('below-min-delta');
    expect(reasonOf(planVoucher(opened(100n, terms), terms, at(5n), NOW))).toBe('ok');
  });

  it('takes nothing of what the merchant reserved', () => {
    const channel = reserve(opened(), 'a', 60n);
    expect(reasonOf(planVoucher(channel, TERMS, at(41n), NOW))).toBe('exceeds-deposit');
    expect(reasonOf(planVoucher(channel, TERMS, at(40n), NOW))).toBe('ok');
    expect(reasonOf(planVoucher(channel, TERMS, at(41n), NOW + MINUTE))).toBe('ok');
  });
});

describe('a reservation', () => {
  it('keeps its amount free, is numbered, and is the same when it is asked for again', () => {
    const first = value(planReserve(opened(), asked('a', 60n), null, NOW));
    expect(first).toMatchObject({ replayed: false, reservation: { sequence: 1, amount: 60n } });
    expect(planReserve(first.channel, asked('a', 60n), null, NOW)).toMatchObject({
      ok: true,
      value: { replayed: true, reservation: { sequence: 1 } },
    });
    expect(reasonOf(planReserve(first.channel, asked('a', 59n), null, NOW))).toBe('delivery-conflict');
    expect(reasonOf(planReserve(first.channel, asked('b', 41n), null, NOW))).toBe('exceeds-deposit');
    expect(reasonOf(planReserve(first.channel, asked('b', 41n), null, NOW + MINUTE))).toBe('ok');
    expect(value(planReserve(first.channel, asked('b', 40n), null, NOW)).reservation.sequence).toBe(2);
  });

  it('of a committed delivery is answered as the first time, and conflicts with another amount', () => {
    const done = value(commit(reserve(opened(), 'a', 60n), 'a', at(60n)));
    expect(planReserve(done.channel, asked('a', 60n), done.committed, NOW)).toMatchObject({ ok: true, value: { replayed: true } });
    expect(reasonOf(planReserve(done.channel, asked('a', 61n), done.committed, NOW))).toBe('delivery-conflict');
  });

  it('of which less was paid is answered as the first time too, and conflicts with what was paid', () => {
    const done = value(commit(reserve(opened(), 'a', 60n), 'a', at(20n)));
    const again = planReserve(done.channel, asked('a', 60n), done.committed, NOW);
    expect(again).toMatchObject({ ok: true, value: { replayed: true, reservation: { amount: 60n, sequence: 1 } } });
    expect(reasonOf(planReserve(done.channel, asked('a', 20n), done.committed, NOW))).toBe('delivery-conflict');
  });

  it('that anybody can make holds nothing, and makes room instead of being refused', () => {
    let channel = opened();
    for (let i = 0; i < 1_000; i++) channel = reserve(channel, `stranger-${i}`, 100n, false);
    expect([channel.pending.length, reservedOf(channel)]).toEqual([ANNOUNCED_MAX, 0n]);
    expect(reasonOf(commit(channel, 'stranger-999', at(100n)))).toBe('ok');
    expect(reasonOf(commit(channel, 'stranger-0', at(100n)))).toBe('unknown-delivery');
  });

  it('that made room may still be committed by a caller who remembers it, in its time and for its amount', () => {
    let channel = reserve(opened(), 'mine', 40n, false);
    for (let i = 1; i < ANNOUNCED_MAX; i++) channel = reserve(channel, `stranger-${i}`, 1n, false);
    const last = value(planReserve(channel, asked('stranger-last', 1n, false), null, NOW));
    expect(last.ousted).toMatchObject({ deliveryId: 'mine', amount: 40n });
    const late = (voucher: PresentedVoucher, now = NOW) =>
      planCommit(last.channel, TERMS, { deliveryId: 'mine', voucher, known: null, ousted: last.ousted }, now);
    expect(reasonOf(late(at(41n)))).toBe('exceeds-reservation');
    expect(reasonOf(late(at(40n), NOW + MINUTE))).toBe('delivery-expired');
    expect(value(late(at(40n))).channel).toMatchObject({ cumulative: 40n, pending: { length: ANNOUNCED_MAX } });
  });

  it('that anybody can make keeps no session from being idle', () => {
    const later = NOW + 5 * MINUTE;
    const usedAt = (holdsMoney: boolean) =>
      value(planReserve(opened(), { ...asked('a', 1n, holdsMoney), expiresAt: later + MINUTE }, null, later)).channel.usedAt;
    expect([usedAt(false), usedAt(true)]).toEqual([NOW, later]);
  });

  it('of the merchant is bounded, and refused before the session is open and after it ends', () => {
    let channel = opened(1_000n);
    for (let i = 0; i < RESERVED_MAX; i++) channel = reserve(channel, `mine-${i}`, 1n);
    expect(reasonOf(planReserve(channel, asked('more', 1n), null, NOW))).toBe('too-many-reservations');
    expect(reasonOf(planReserve(newChannel(NOW), asked('a', 1n), null, NOW))).toBe('not-open');
    expect(reasonOf(planReserve(value(planClose(opened())).channel, asked('a', 1n), null, NOW))).toBe('not-open');
    expect(reasonOf(planReserve(planEnd(opened()).channel, asked('a', 1n), null, NOW))).toBe('channel-sealed');
  });
});

describe('a commit', () => {
  it('pays at most what was reserved, frees the rest, and is the same the second time, also when all is over', () => {
    const channel = reserve(opened(), 'a', 60n);
    expect(reasonOf(commit(channel, 'a', at(61n)))).toBe('exceeds-reservation');
    const done = value(commit(channel, 'a', at(20n)));
    expect([done.channel.cumulative, reservedOf(done.channel), done.committed.amount]).toEqual([20n, 0n, 20n]);
    const over = planEnd(done.channel).channel;
    for (const later of [done.channel, over])
      expect(commit(later, 'a', at(20n), done.committed)).toMatchObject({ ok: true, value: { replayed: true } });
    expect(reasonOf(commit(over, 'a', at(20n, { signature: 'other' }), done.committed))).toBe('delivery-conflict');
    expect(reasonOf(commit(over, 'b', at(30n)))).toBe('channel-sealed');
  });

  it('names a delivery that was announced, in its time', () => {
    const channel = reserve(opened(), 'a', 60n);
    expect(reasonOf(commit(channel, 'b', at(1n)))).toBe('unknown-delivery');
    expect(reasonOf(commit(channel, 'a', at(1n), null, NOW + MINUTE))).toBe('delivery-expired');
  });
});

describe('what the chain says', () => {
  it('only ever adds, and a look that is behind changes nothing', () => {
    const channel = planSeen(opened(), { deposit: 150n, settled: 0n }).channel;
    expect(planSeen(channel, { deposit: 100n, settled: 0n })).toMatchObject({ replayed: true, channel: { deposit: 150n } });
  });

  it('takes no voucher away: a fork may drop what was settled', () => {
    const paid = value(planVoucher(opened(), TERMS, at(60n), NOW)).channel;
    const seen = planSeen(paid, { deposit: 100n, settled: 70n }).channel;
    expect(seen).toMatchObject({ cumulative: 70n, settled: 70n });
    expect(seen.vouchers).toMatchObject([{ cumulative: 60n }]);
  });

  it('wins over reservations where somebody settled a voucher that we never saw', () => {
    const channel = reserve(reserve(opened(), 'a', 30n), 'b', 30n);
    const seen = planSeen(channel, { deposit: 100n, settled: 50n }).channel;
    expect(seen).toMatchObject({ cumulative: 50n, settled: 50n, vouchers: [], pending: [{ deliveryId: 'a' }] });
  });
});

describe('the vouchers that a channel keeps', () => {
  const inMinutes = (minutes: number) => BigInt(NOW / SECOND + minutes * 60);
  const keptAfter = (...vouchers: [bigint, bigint][]) =>
    vouchers
      .reduce(
        (channel, [cumulative, expiresAt]) => value(planVoucher(channel, TERMS, at(cumulative, { expiresAt }), NOW)).channel,
        opened(),
      )
      .vouchers.map(({ cumulative }) => cumulative);

  it('are the highest one alone where it lasts as long as those before it', () => {
    expect(keptAfter([20n, 0n], [30n, 0n])).toEqual([30n]);
    expect(keptAfter([20n, inMinutes(60)], [30n, inMinutes(60)], [40n, 0n])).toEqual([40n]);
  });

  it('include a lower one that ends later than the highest', () => {
    expect(keptAfter([20n, 0n], [30n, inMinutes(30)])).toEqual([30n, 20n]);
    expect(keptAfter([90n, inMinutes(30 * 24 * 60)], [91n, inMinutes(26)])).toEqual([91n, 90n]);
  });

  it('are the highest and the two that pay most beyond the next lower one, however many dates the payer chooses', () => {
    expect(keptAfter([10n, inMinutes(900)], [20n, inMinutes(800)], [30n, inMinutes(700)], [40n, inMinutes(600)])).toEqual([40n, 20n, 10n]);
    expect(keptAfter([1n, 0n], [90n, inMinutes(900)], [91n, inMinutes(27)], [92n, inMinutes(26)])).toEqual([92n, 90n, 1n]);
  });

  it('are none that the chain has used already', () => {
    const used = value(planVoucher(opened(), TERMS, at(20n, { expiresAt: 0n }), NOW)).channel;
    const { channel } = planSeen(used, { deposit: used.deposit, settled: 20n });
    const { vouchers } = value(planVoucher(channel, TERMS, at(30n, { expiresAt: inMinutes(30) }), NOW)).channel;
    expect(vouchers.map(({ cumulative }) => cumulative)).toEqual([30n]);
  });
});

it('counts as a plain second model does, in any order of what may happen', () => {
  const amount = fc.bigInt({ min: 1n, max: 60n });
  const id = fc.constantFrom('a', 'b', 'c', 'd');
  const commands = fc.array(
    fc.record({
      verb: fc.constantFrom('open', 'reserve', 'announce', 'commit', 'voucher', 'seen', 'close', 'end', 'wait' as const),
      amount,
      id,
      isSigned: fc.boolean(),
      signer: fc.constantFrom('s', 't'),
    }),
    { maxLength: 60 },
  );
  fc.assert(
    fc.property(commands, (steps) => {
      let channel = newChannel(NOW);
      const done = new Map<string, CommittedDelivery>();
      const plain = new PlainChannel(TERMS);
      let now = NOW;
      for (const step of steps) {
        if (step.verb === 'wait') now += 20 * SECOND;
        const cumulative = channel.cumulative + step.amount - 20n;
        const voucher = at(cumulative, { isSigned: step.isSigned, signature: `${step.signer}-${cumulative}` });
        const known = done.get(step.id) ?? null;
        const answers = {
          open: () => planOpen(channel, TERMS, { deposit: step.amount * 10n, settled: 0n }, now),
          reserve: () => planReserve(channel, { ...asked(step.id, step.amount), expiresAt: now + MINUTE }, known, now),
          announce: () => planReserve(channel, { ...asked(step.id, step.amount, false), expiresAt: now + MINUTE }, known, now),
          commit: () => planCommit(channel, TERMS, { deliveryId: step.id, voucher, known }, now),
          voucher: () => planVoucher(channel, TERMS, voucher, now),
          seen: () => ({ ok: true as const, value: planSeen(channel, plain.chainAfter(step.amount)) }),
          close: () => planClose(channel),
          end: () => ({ ok: true as const, value: planEnd(channel) }),
          wait: () => ({ ok: true as const, value: { channel, replayed: true } }),
        };
        const answer = answers[step.verb]();
        const expected = plain.run(step.verb, { ...step, voucher, now });
        expect(answer.ok ? (answer.value.replayed ? 'replayed' : 'done') : answer.reason).toBe(expected);
        if (!answer.ok) continue;
        if ('committed' in answer.value) done.set(step.id, answer.value.committed as CommittedDelivery);
        channel = assertChannel(answer.value.channel);
        expect({
          deposit: channel.deposit,
          cumulative: channel.cumulative,
          settled: channel.settled,
          free: plain.freeOf(channel, now),
        }).toEqual(plain.totals(now));
      }
    }),
    { numRuns: 300 },
  );
});
