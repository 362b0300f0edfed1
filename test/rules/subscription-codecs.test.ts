import { type Address, getAddressDecoder, type Instruction } from '@solana/kit';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { eventAuthorityOf } from '#solana/programs/derived-address.ts';
import * as build from '#solana/programs/subscriptions/instructions.ts';
import { parseSubscriptionInstruction } from '#solana/programs/subscriptions/parse-instruction.ts';
import {
  AUTHORITY_BYTES,
  cancellationEnd,
  decodeAuthority,
  decodePlan,
  decodeSubscription,
  encodeAuthority,
  encodePlan,
  encodeSubscription,
  findAuthorityAddress,
  findPlanAddress,
  findSubscriptionAddress,
  PLAN_BYTES,
  periodAt,
  SUBSCRIPTION_BYTES,
  SUBSCRIPTIONS_EVENT_AUTHORITY,
  SUBSCRIPTIONS_PROGRAM,
  type Subscription,
  type SubscriptionPlan,
  sameTerms,
} from '#solana/programs/subscriptions/subscription.ts';

const bytesOfAddress = fc.uint8Array({ minLength: 32, maxLength: 32 }).filter((bytes) => bytes.some((byte) => byte !== 0));
const addresses = bytesOfAddress.map((bytes) => getAddressDecoder().decode(bytes));
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const i64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const listed = fc.array(addresses, { maxLength: 4 });
const tokenProgram = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA' as Address;

const plans: fc.Arbitrary<SubscriptionPlan> = fc.record({
  owner: addresses,
  bump: fc.nat(255),
  status: fc.constantFrom('sunset', 'active'),
  planId: u64,
  mint: addresses,
  amount: u64,
  periodHours: u64,
  createdAt: i64,
  endTs: i64,
  destinations: listed,
  pullers: listed,
  metadataUri: fc.string({ maxLength: 128 }).filter((text) => !text.includes('\0')),
});
const subscriptions: fc.Arbitrary<Subscription> = fc.record({
  bump: fc.nat(255),
  subscriber: addresses,
  plan: addresses,
  payer: addresses,
  initId: i64,
  amount: u64,
  periodHours: u64,
  createdAt: i64,
  amountPulledInPeriod: u64,
  currentPeriodStartTs: i64,
  expiresAtTs: i64,
});
const authorities = fc.record({ user: addresses, mint: addresses, payer: addresses, bump: fc.nat(255), initId: i64 });

describe('an account of the subscriptions program', () => {
  it('is read as it was laid out', () => {
    fc.assert(
      fc.property(plans, subscriptions, authorities, (plan, subscription, authority) => {
        const laidOut = [encodePlan(plan), encodeSubscription(subscription), encodeAuthority(authority)];
        expect(laidOut.map(({ length }) => length)).toEqual([PLAN_BYTES, SUBSCRIPTION_BYTES, AUTHORITY_BYTES]);
        expect(decodePlan(laidOut[0]!)).toEqual({ ok: true, value: plan });
        expect(decodeSubscription(laidOut[1]!)).toEqual({ ok: true, value: subscription });
        expect(decodeAuthority(laidOut[2]!)).toEqual({ ok: true, value: authority });
      }),
    );
  });

  it('is refused for any other length, kind, version or status', () => {
    fc.assert(
      fc.property(plans, subscriptions, authorities, fc.integer({ min: 5, max: 255 }), (plan, subscription, authority, byte) => {
        const longer = (bytes: Uint8Array) => Uint8Array.of(...bytes, 0);
        const all = [
          [decodePlan, encodePlan(plan)],
          [decodeSubscription, encodeSubscription(subscription)],
          [decodeAuthority, encodeAuthority(authority)],
        ] as const;
        for (const [decode, bytes] of all) {
          expect(decode(longer(bytes))).toEqual({ ok: false, reason: 'wrong_length' });
          expect(decode(bytes.slice(1))).toEqual({ ok: false, reason: 'wrong_length' });
          expect(decode(new Uint8Array())).toEqual({ ok: false, reason: 'wrong_length' });
          expect(decode(bytes.with(0, byte))).toEqual({ ok: false, reason: 'wrong_discriminator' });
        }
        expect(decodeSubscription(encodeSubscription(subscription).with(1, byte))).toEqual({ ok: false, reason: 'wrong_version' });
        expect(decodePlan(encodePlan(plan).with(34, byte))).toEqual({ ok: false, reason: 'wrong_status' });
      }),
    );
  });

  it('has terms that are the same only in every part', () => {
    fc.assert(
      fc.property(plans, ({ amount, periodHours, createdAt }) => {
        const terms = { amount, periodHours, createdAt };
        expect(sameTerms(terms, { ...terms })).toBe(true);
        for (const name of ['amount', 'periodHours', 'createdAt'] as const) {
          expect(sameTerms(terms, { ...terms, [name]: terms[name] ^ 1n })).toBe(false);
        }
      }),
    );
  });

  it('writes its events by the authority its program derives', () => {
    expect(eventAuthorityOf(SUBSCRIPTIONS_PROGRAM)).toBe(SUBSCRIPTIONS_EVENT_AUTHORITY);
  });
});

describe('an instruction of the subscriptions program', () => {
  const parse = ({ programAddress, accounts, data }: Instruction) => {
    expect(programAddress).toBe(SUBSCRIPTIONS_PROGRAM);
    return parseSubscriptionInstruction({ accounts: accounts!.map(({ address }) => address), data: data! });
  };

  it('is taken apart into what it was built from', () => {
    fc.assert(
      fc.property(
        plans,
        fc.tuple(addresses, addresses, addresses),
        fc.option(addresses),
        u64,
        i64,
        (plan, people, payer, amount, initId) => {
          const [subscriber, puller, receiver] = people;
          const { address: planAddress, bump } = findPlanAddress(plan.owner, plan.planId);
          const parties = { subscriber, plan: planAddress };
          const owner = { user: subscriber, mint: plan.mint, tokenProgram };
          const authority = findAuthorityAddress(subscriber, plan.mint).address;
          const subscription = findSubscriptionAddress(planAddress, subscriber).address;
          const sponsor = payer ?? undefined;

          const { owner: _owner, bump: _bump, status, createdAt, ...published } = plan;
          expect(parse(build.createPlanInstruction(plan, tokenProgram))).toMatchObject({
            ok: true,
            value: { name: 'createPlan', plan: published },
          });
          const { endTs, pullers, metadataUri } = plan;
          const change = { status: status === 'active' ? 1 : 0, endTs, pullers, metadataUri };
          expect(parse(build.updatePlanInstruction(plan.owner, plan.planId, plan))).toMatchObject({
            value: { name: 'updatePlan', ...change },
          });
          expect(parse(build.deletePlanInstruction(plan.owner, plan.planId))).toMatchObject({ value: { accounts: { plan: planAddress } } });

          const asked = { ...plan, bump };
          const { planId, mint, periodHours } = plan;
          const consent = { planId, planBump: bump, mint, amount: plan.amount, periodHours, createdAt, initId };
          const subscribing = parse(build.subscribeInstruction({ subscriber, asked, initId }, sponsor));
          expect(subscribing).toMatchObject({ value: { name: 'subscribe', consent, payer, accounts: { subscription, authority } } });
          const collection = { puller, receiver, amount, mint, tokenProgram };
          expect(parse(build.collectInstruction(parties, collection))).toMatchObject({
            value: { name: 'collect', amount, subscriber, mint, accounts: { subscription, authority, puller } },
          });
          expect(parse(build.cancelInstruction(parties))).toMatchObject({
            value: { name: 'cancel', accounts: { subscriber, subscription } },
          });
          expect(parse(build.resumeInstruction(parties, mint))).toMatchObject({ value: { name: 'resume', accounts: { authority } } });
          expect(parse(build.revokeInstruction(parties, sponsor))).toMatchObject({
            value: { name: 'revoke', payer, accounts: { subscription } },
          });
          for (const [name, built] of [
            ['initAuthority', build.initAuthorityInstruction(owner, sponsor)],
            ['closeAuthority', build.closeAuthorityInstruction(owner, sponsor)],
            ['revokeAuthority', build.revokeAuthorityInstruction(owner, sponsor)],
          ] as const) {
            expect(parse(built)).toMatchObject({ ok: true, value: { name, payer, accounts: { user: subscriber, authority } } });
          }
        },
      ),
      { numRuns: 20 },
    );
  });

  it('of any bytes at all is taken apart or refused, never a crash', () => {
    fc.assert(
      fc.property(fc.array(addresses, { maxLength: 12 }), fc.uint8Array({ maxLength: 500 }), fc.nat(20), (accounts, rest, first) => {
        expect(typeof parseSubscriptionInstruction({ accounts, data: Uint8Array.of(first, ...rest) }).ok).toBe('boolean');
      }),
    );
  });
});

describe('periods', () => {
  const DAY = 86_400n;
  const clocked = fc.record({
    // Starts from 1999 to 2101, with their leap days and the year 2100 that has none.
    currentPeriodStartTs: fc.bigInt({ min: 915_148_800n, max: 4_133_980_800n }),
    periodHours: fc.bigInt({ min: 1n, max: 8_760n }),
    amountPulledInPeriod: fc.bigInt({ min: 0n, max: 1_000n }),
  });

  /** The same rule, walked period by period as one would by hand. */
  function walk(subscription: Parameters<typeof periodAt>[0], endTs: bigint, now: bigint) {
    let start = subscription.currentPeriodStartTs;
    let pulled = subscription.amountPulledInPeriod;
    for (;;) {
      const next = start + subscription.periodHours * 3_600n;
      // A period begins when its time has come, unless the plan has nothing left for it but its last second.
      if (next > now || (endTs !== 0n && next >= endTs)) break;
      start = next;
      pulled = 0n;
    }
    const end = start + subscription.periodHours * 3_600n;
    return { startTs: start, endTs: endTs !== 0n && end > endTs ? endTs : end, amountPulled: pulled };
  }

  it('are those one finds walking from the start, with a plan that ends and without', () => {
    fc.assert(
      fc.property(
        clocked,
        fc.bigInt({ min: 0n, max: 400n * DAY }),
        fc.option(fc.bigInt({ min: 1n, max: 500n * DAY })),
        (subscription, elapsed, life) => {
          const endTs = life === null ? 0n : subscription.currentPeriodStartTs + life;
          const until = subscription.currentPeriodStartTs + elapsed;
          const now = endTs !== 0n && until > endTs ? endTs : until;
          expect(periodAt(subscription, { endTs }, now)).toEqual(walk(subscription, endTs, now));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('follow each other by their hours alone, over leap days as over any other', () => {
    const monthly = { periodHours: 720n, amountPulledInPeriod: 5n };
    for (const [start, after] of [
      // 2024 has a 29 February, 2023 and 2100 have none.
      ['2024-01-31T00:00:00Z', '2024-03-01T00:00:00Z'],
      ['2023-01-31T00:00:00Z', '2023-03-02T00:00:00Z'],
      ['2100-01-31T00:00:00Z', '2100-03-02T00:00:00Z'],
    ]) {
      const currentPeriodStartTs = BigInt(Date.parse(start!) / 1_000);
      const next = BigInt(Date.parse(after!) / 1_000);
      expect(next).toBe(currentPeriodStartTs + 30n * DAY);
      const subscription = { ...monthly, currentPeriodStartTs };
      expect(periodAt(subscription, { endTs: 0n }, next - 1n)).toMatchObject({ startTs: currentPeriodStartTs, amountPulled: 5n });
      expect(periodAt(subscription, { endTs: 0n }, next)).toEqual({ startTs: next, endTs: next + 30n * DAY, amountPulled: 0n });
      expect(cancellationEnd(subscription, { endTs: 0n }, next - 1n)).toBe(next);
      expect(cancellationEnd(subscription, { endTs: 0n }, next)).toBe(next + 30n * DAY);
    }
  });

  it('end a cancelled subscription when the running one ends, not after the plan, and at once without a plan', () => {
    fc.assert(
      fc.property(
        clocked,
        fc.bigInt({ min: 0n, max: 400n * DAY }),
        fc.bigInt({ min: 0n, max: 400n * DAY }),
        (subscription, elapsed, left) => {
          const now = subscription.currentPeriodStartTs + elapsed;
          const { startTs, endTs } = walk(subscription, 0n, now);
          const open = cancellationEnd(subscription, { endTs: 0n }, now);
          expect(open).toBe(endTs);
          expect(open > now && startTs <= now).toBe(true);
          const limited = cancellationEnd(subscription, { endTs: now + left }, now);
          expect(limited).toBe(open < now + left + 1n ? open : now + left + 1n);
          expect(cancellationEnd(subscription, null, now)).toBe(now);
        },
      ),
    );
  });
});
