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

describe('planOpen', () => {
  it.each([
    ['nothing', 0n, 'invalid-deposit'],
    ['more than the cap', 1_001n, 'exceeds-cap'],
    ['the cap', 1_000n, 'ok'],
  ])('a deposit of %s is answered with %s', (_, deposit, reason) => {
    expect(reasonOf(planOpen(newChannel(NOW), TERMS, { deposit, settled: 0n }, NOW))).toBe(reason);
  });

  it('a second opening is a replay, and is refused with channel-sealed after the end', () => {
    expect(planOpen(opened(), TERMS, { deposit: 50n, settled: 0n }, NOW)).toMatchObject({ ok: true, value: { replayed: true } });
    expect(reasonOf(planOpen(planEnd(opened()).channel, TERMS, { deposit: 50n, settled: 0n }, NOW))).toBe('channel-sealed');
  });
});

describe('reservation that holds no money', () => {
  it.each([
    ['the same amount', 30n],
    ['another amount', 1n],
  ])('an announcement of %s under the same id does not block the merchant’s reservation', (_, amount) => {
    const announced = reserve(opened(), 'page-1', amount, false);
    const reserved = value(planReserve(announced, asked('page-1', 30n), null, NOW));
    expect([reserved.replayed, reservedOf(reserved.channel), reserved.reservation.sequence]).toEqual([false, 30n, 2]);
    expect(reserved.channel.pending).toHaveLength(1);
    expect(reasonOf(planReserve(reserved.channel, asked('page-1', 1n, false), null, NOW))).toBe('delivery-conflict');
  });

  it('an announcement does not postpone the idle time of the session', () => {
    const channel = opened();
    expect(value(planReserve(channel, asked('a', 1n, false), null, NOW + MINUTE)).channel.usedAt).toBe(channel.usedAt);
  });
});

describe('planVoucher, checks in the order of the reference server', () => {
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
  ])('a voucher (%s) gets the verdict of the reference server', (_name, channel, voucher, reason) => {
    expect(reasonOf(planVoucher(channel, TERMS, voucher, NOW))).toBe(reason);
  });

  it('a voucher below the minimum delta is refused with below-min-delta', () => {
    const terms = { ...TERMS, minVoucherDelta: 5n };
    expect(reasonOf(planVoucher(opened(100n, terms), terms, at(4n), NOW))).toBe('below-min-delta');
    expect(reasonOf(planVoucher(opened(100n, terms), terms, at(5n), NOW))).toBe('ok');
  });

  it('a voucher cannot use the amount that the merchant reserved', () => {
    const channel = reserve(opened(), 'a', 60n);
    expect(reasonOf(planVoucher(channel, TERMS, at(41n), NOW))).toBe('exceeds-deposit');
    expect(reasonOf(planVoucher(channel, TERMS, at(40n), NOW))).toBe('ok');
    expect(reasonOf(planVoucher(channel, TERMS, at(41n), NOW + MINUTE))).toBe('ok');
  });
});

describe('planReserve', () => {
  it('a reservation holds its amount, gets the next sequence number, and replays for the same amount', () => {
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

  it('a reservation of a committed delivery replays, and conflicts for another amount', () => {
    const done = value(commit(reserve(opened(), 'a', 60n), 'a', at(60n)));
    expect(planReserve(done.channel, asked('a', 60n), done.committed, NOW)).toMatchObject({ ok: true, value: { replayed: true } });
    expect(reasonOf(planReserve(done.channel, asked('a', 61n), done.committed, NOW))).toBe('delivery-conflict');
  });

  it('a reservation of a partly paid delivery replays for the reserved amount, and conflicts for the paid one', () => {
    const done = value(commit(reserve(opened(), 'a', 60n), 'a', at(20n)));
    const again = planReserve(done.channel, asked('a', 60n), done.committed, NOW);
    expect(again).toMatchObject({ ok: true, value: { replayed: true, reservation: { amount: 60n, sequence: 1 } } });
    expect(reasonOf(planReserve(done.channel, asked('a', 20n), done.committed, NOW))).toBe('delivery-conflict');
  });

  it('announcements hold no money, and the oldest is evicted at the limit instead of refusing a new one', () => {
    let channel = opened();
    for (let i = 0; i < 1_000; i++) channel = reserve(channel, `stranger-${i}`, 100n, false);
    expect([channel.pending.length, reservedOf(channel)]).toEqual([ANNOUNCED_MAX, 0n]);
    expect(reasonOf(commit(channel, 'stranger-999', at(100n)))).toBe('ok');
    expect(reasonOf(commit(channel, 'stranger-0', at(100n)))).toBe('unknown-delivery');
  });

  it('an evicted announcement can be committed by a caller who remembers it, before it expires and up to its amount', () => {
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

  it('an announcement does not delay idleness, and a reservation of the merchant does', () => {
    const later = NOW + 5 * MINUTE;
    const usedAt = (holdsMoney: boolean) =>
      value(planReserve(opened(), { ...asked('a', 1n, holdsMoney), expiresAt: later + MINUTE }, null, later)).channel.usedAt;
    expect([usedAt(false), usedAt(true)]).toEqual([NOW, later]);
  });

  it('merchant reservations are limited, and refused before the opening and after the end', () => {
    let channel = opened(1_000n);
    for (let i = 0; i < RESERVED_MAX; i++) channel = reserve(channel, `mine-${i}`, 1n);
    expect(reasonOf(planReserve(channel, asked('more', 1n), null, NOW))).toBe('too-many-reservations');
    expect(reasonOf(planReserve(newChannel(NOW), asked('a', 1n), null, NOW))).toBe('not-open');
    expect(reasonOf(planReserve(value(planClose(opened())).channel, asked('a', 1n), null, NOW))).toBe('not-open');
    expect(reasonOf(planReserve(planEnd(opened()).channel, asked('a', 1n), null, NOW))).toBe('channel-sealed');
  });
});

describe('planCommit', () => {
  it('a commit pays at most the reserved amount, frees the rest, and replays even after the end', () => {
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

  it('a commit of an unknown or expired delivery is refused', () => {
    const channel = reserve(opened(), 'a', 60n);
    expect(reasonOf(commit(channel, 'b', at(1n)))).toBe('unknown-delivery');
    expect(reasonOf(commit(channel, 'a', at(1n), null, NOW + MINUTE))).toBe('delivery-expired');
  });
});

describe('planSeen', () => {
  it('a chain reading only raises the amounts, and an older reading changes nothing', () => {
    const channel = planSeen(opened(), { deposit: 150n, settled: 0n }).channel;
    expect(planSeen(channel, { deposit: 100n, settled: 0n })).toMatchObject({ replayed: true, channel: { deposit: 150n } });
  });

  it('vouchers are retained after a settlement, because a fork may drop it', () => {
    const paid = value(planVoucher(opened(), TERMS, at(60n), NOW)).channel;
    const seen = planSeen(paid, { deposit: 100n, settled: 70n }).channel;
    expect(seen).toMatchObject({ cumulative: 70n, settled: 70n });
    expect(seen.vouchers).toMatchObject([{ cumulative: 60n }]);
  });

  it('a settlement of an unknown voucher wins over reservations', () => {
    const channel = reserve(reserve(opened(), 'a', 30n), 'b', 30n);
    const seen = planSeen(channel, { deposit: 100n, settled: 50n }).channel;
    expect(seen).toMatchObject({ cumulative: 50n, settled: 50n, vouchers: [], pending: [{ deliveryId: 'a' }] });
  });
});

describe('stored vouchers of a channel', () => {
  const inMinutes = (minutes: number) => BigInt(NOW / SECOND + minutes * 60);
  const storedAfter = (...vouchers: [bigint, bigint][]) =>
    vouchers
      .reduce(
        (channel, [cumulative, expiresAt]) => value(planVoucher(channel, TERMS, at(cumulative, { expiresAt }), NOW)).channel,
        opened(),
      )
      .vouchers.map(({ cumulative }) => cumulative);

  it('only the highest voucher is stored if it lasts as long as the earlier ones', () => {
    expect(storedAfter([20n, 0n], [30n, 0n])).toEqual([30n]);
    expect(storedAfter([20n, inMinutes(60)], [30n, inMinutes(60)], [40n, 0n])).toEqual([40n]);
  });

  it('a lower voucher is stored if it expires later than the highest', () => {
    expect(storedAfter([20n, 0n], [30n, inMinutes(30)])).toEqual([30n, 20n]);
    expect(storedAfter([90n, inMinutes(30 * 24 * 60)], [91n, inMinutes(26)])).toEqual([91n, 90n]);
  });

  it('three vouchers are stored at most: the highest and the two that pay most beyond the next lower one', () => {
    expect(storedAfter([10n, inMinutes(900)], [20n, inMinutes(800)], [30n, inMinutes(700)], [40n, inMinutes(600)])).toEqual([
      40n,
      20n,
      10n,
    ]);
    expect(storedAfter([1n, 0n], [90n, inMinutes(900)], [91n, inMinutes(27)], [92n, inMinutes(26)])).toEqual([92n, 90n, 1n]);
  });

  it('vouchers that the chain has already settled are dropped', () => {
    const used = value(planVoucher(opened(), TERMS, at(20n, { expiresAt: 0n }), NOW)).channel;
    const { channel } = planSeen(used, { deposit: used.deposit, settled: 20n });
    const { vouchers } = value(planVoucher(channel, TERMS, at(30n, { expiresAt: inMinutes(30) }), NOW)).channel;
    expect(vouchers.map(({ cumulative }) => cumulative)).toEqual([30n]);
  });
});

it('the channel agrees with a plain second model in any order of commands', () => {
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
