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

describe('subscriptions program accounts', () => {
  it('an encoded account decodes to itself', () => {
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

  it('another length, discriminator, version or status is refused', () => {
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

  it('terms are equal only in every part', () => {
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

  it('the event authority derives from the program', () => {
    expect(eventAuthorityOf(SUBSCRIPTIONS_PROGRAM)).toBe(SUBSCRIPTIONS_EVENT_AUTHORITY);
  });
});

describe('subscriptions program instructions', () => {
  const parse = ({ programAddress, accounts, data }: Instruction) => {
    expect(programAddress).toBe(SUBSCRIPTIONS_PROGRAM);
    return parseSubscriptionInstruction({ accounts: accounts!.map(({ address }) => address), data: data! });
  };

  it('a built instruction parses into its inputs', () => {
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

  it('arbitrary bytes parse or are refused, and never throw', () => {
    fc.assert(
      fc.property(fc.array(addresses, { maxLength: 12 }), fc.uint8Array({ maxLength: 500 }), fc.nat(20), (accounts, rest, first) => {
        expect(typeof parseSubscriptionInstruction({ accounts, data: Uint8Array.of(first, ...rest) }).ok).toBe('boolean');
      }),
    );
  });
});

describe('subscription periods', () => {
  const DAY = 86_400n;
  const clocked = fc.record({
    // Starts from 1999 to 2101, with their leap days and the non-leap year 2100.
    currentPeriodStartTs: fc.bigInt({ min: 915_148_800n, max: 4_133_980_800n }),
    periodHours: fc.bigInt({ min: 1n, max: 8_760n }),
    amountPulledInPeriod: fc.bigInt({ min: 0n, max: 1_000n }),
  });

  /** Independent walk, period by period. */
  function walk(subscription: Parameters<typeof periodAt>[0], endTs: bigint, now: bigint) {
    let start = subscription.currentPeriodStartTs;
    let pulled = subscription.amountPulledInPeriod;
    for (;;) {
      const next = start + subscription.periodHours * 3_600n;
      // A period begins at its start time, unless the plan ends at that second or earlier.
      if (next > now || (endTs !== 0n && next >= endTs)) break;
      start = next;
      pulled = 0n;
    }
    const end = start + subscription.periodHours * 3_600n;
    return { startTs: start, endTs: endTs !== 0n && end > endTs ? endTs : end, amountPulled: pulled };
  }

  it('periodAt equals a walk from the start, with and without a plan end', () => {
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

  it('periods follow each other by their hours alone, over leap days as well', () => {
    const monthly = { periodHours: 720n, amountPulledInPeriod: 5n };
    for (const [start, after] of [
      // 2024 has a 29 February. 2023 and 2100 have none.
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

  it('a cancelled subscription ends with its period, not after the plan, and at once without a plan', () => {
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
