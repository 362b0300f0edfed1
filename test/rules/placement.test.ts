import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type DeliverTo,
  followMembership,
  grantKeyOf,
  type PlacementState,
  type PlatformGrant,
  retryPlacement,
  waitAfter,
  wantedOf,
  workOf,
} from '#rules/members/placement.ts';
import { MEMBERSHIP, PLACEMENT } from '#rules/states.ts';

const user = fc.constantFrom('1', '2');
const target = fc.constantFrom<DeliverTo['target']>(
  { provider: 'telegram', chat_id: '-1' },
  { provider: 'telegram', chat_id: '-2' },
  { provider: 'discord', guild_id: '1', role_id: '2' },
  { provider: 'discord', guild_id: '1', role_id: '2', channel_id: '3' },
);
const deliverTo = fc
  .tuple(target, user)
  .map(([where, id]): DeliverTo => ({ target: where, identity: { provider: where.provider, providerUserId: id, username: null } }));
const grant = fc
  .tuple(target, user, fc.boolean())
  .map(
    ([where, id, isLeaving]): PlatformGrant => ({ target: where, providerUserId: id, ...(isLeaving ? { isLeaving: true as const } : {}) }),
  );
const state: fc.Arbitrary<PlacementState> = fc.record({
  status: fc.constantFrom(...PLACEMENT.states),
  provider: fc.constantFrom('telegram', 'discord'),
  grant: fc.option(grant),
  work: fc.constantFrom('give', 'take'),
  attempts: fc.nat(6),
  paymentId: fc.constantFrom('a', 'b'),
  nextAttemptAt: fc.option(fc.nat(2000)),
});
const member = fc.record({
  status: fc.constantFrom(...MEMBERSHIP.states),
  deliverTo: fc.option(deliverTo),
  lastPaymentId: fc.constantFrom('a', 'b'),
});
const NOW = 1000;

describe('followMembership', () => {
  it('a repeated event changes nothing', () => {
    fc.assert(
      fc.property(state, member, (before, of) => {
        const first = followMembership(before, of, NOW);
        const after = { ...before, ...first };
        expect(followMembership(after, of, NOW + 5)).toBeNull();
      }),
    );
  });

  it('no work is left if the grant is as wanted, and a new payment always makes work due', () => {
    fc.assert(
      fc.property(state, member, (before, of) => {
        const after = { ...before, ...followMembership(before, of, NOW) };
        const work = workOf(before, wantedOf(of));
        if (work === null) expect(after.nextAttemptAt).toBeNull();
        else if (before.paymentId !== of.lastPaymentId) expect([after.nextAttemptAt, after.attempts, after.work]).toEqual([NOW, 0, work]);
        else expect(after.nextAttemptAt !== null || after.status === 'failed').toBe(true);
      }),
    );
  });

  it('work waits in the queue of its platform, and due work has not failed', () => {
    fc.assert(
      fc.property(state, member, fc.boolean(), (before, of, isRetried) => {
        const patch = isRetried ? retryPlacement(before, of, NOW, false) : followMembership(before, of, NOW);
        if (patch === null || patch.nextAttemptAt === null) return;
        const target = patch.work === 'give' ? of.deliverTo!.target : before.grant?.target;
        expect([patch.provider, patch.status === 'failed']).toEqual([target?.provider ?? before.provider, false]);
      }),
    );
  });

  it('nothing is granted before another grant of the member is revoked, and a member without access loses every grant', () => {
    fc.assert(
      fc.property(state, member, (before, of) => {
        const wanted = wantedOf(of);
        const work = workOf(before, wanted);
        const held = before.grant;
        const isSame =
          held && wanted && grantKeyOf(held.target, held.providerUserId) === grantKeyOf(wanted.target, wanted.identity.providerUserId);
        if (held && (!isSame || held.isLeaving)) expect(work).toBe('take');
        if (!wanted && held) expect(work).toBe('take');
        if (work === 'give') expect(wanted).not.toBeNull();
      }),
    );
  });

  it('a merchant’s retry starts the work over unless it is done or under way, and a second retry changes nothing', () => {
    fc.assert(
      fc.property(state, member, fc.boolean(), (before, of, isUnderWay) => {
        const patch = retryPlacement(before, of, NOW, isUnderWay);
        const isDue = before.nextAttemptAt !== null && before.nextAttemptAt <= NOW;
        expect(patch === null).toBe(isUnderWay || isDue || workOf(before, wantedOf(of)) === null);
        if (patch) expect([patch.attempts, retryPlacement({ ...before, ...patch }, of, NOW, false)]).toEqual([0, null]);
      }),
    );
  });
});

describe('waitAfter', () => {
  const SCHEDULE = [60, 300, 1800, 7200, 43_200];
  it('delays follow the schedule, respect a longer request of the platform, and end after the last attempt', () => {
    const later = (afterSeconds?: number) => ({ kind: 'later' as const, reason: '429', ...(afterSeconds ? { afterSeconds } : {}) });
    expect([1, 2, 3, 4, 5, 6].map((attempt) => waitAfter(later(), attempt, SCHEDULE))).toEqual([
      60_000,
      300_000,
      1_800_000,
      7_200_000,
      43_200_000,
      null,
    ]);
    expect([waitAfter(later(90.5), 1, SCHEDULE), waitAfter(later(5), 2, SCHEDULE)]).toEqual([90_500, 300_000]);
    expect([waitAfter({ kind: 'refused', reason: '403' }, 1, SCHEDULE), waitAfter({ kind: 'done' }, 1, SCHEDULE)]).toEqual([null, null]);
    expect([waitAfter({ kind: 'absent' }, 5, SCHEDULE), waitAfter({ kind: 'absent' }, 50, SCHEDULE)]).toEqual([43_200_000, 43_200_000]);
  });
});
