// @module-tag volume
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY, HOUR, SECOND } from '#core/time.ts';
import { storeAccount } from '#features/accounts/auth/sign-in.ts';
import { changeAccount } from '#features/accounts/change-account.ts';
import { newAccount } from '#features/accounts/new-account.ts';
import { getAccount } from '#features/accounts/store.ts';
import { beginCheckout, refreshAccount, takeEvent } from '#features/billing/processor/calls.ts';
import { readBilling } from '#features/billing/processor/routes.ts';
import { newCtx, type Scope } from '#platform/context.ts';
import { extendPlan, type HeldPlan, NO_PLAN, PAID_PLANS, type PaidPlan, PLAN_NAMES, type PlanName, planPrice } from '#rules/plans.ts';
import { SEED, SOAK } from '../../support/runner/env.ts';
import { type SignedEvent, TestProcessor } from '../../support/servers/processor.ts';
import { World } from '../../support/world.ts';

const PARTS = [0, 1, 2, 3];
const LANES = 8;

type Act =
  | { kind: 'change' | 'fail' | 'recover' | 'cancel' | 'leave' | 'resume' | 'renew'; plan: PaidPlan }
  | { kind: 'activate'; plan: PaidPlan };
type Move = Act | { kind: 'deliver'; which: number } | { kind: 'refresh' } | { kind: 'pass'; hours: number };

const plan = fc.constantFrom(...PAID_PLANS);
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({
    kind: fc.constantFrom('change', 'fail', 'recover', 'cancel', 'leave', 'resume', 'renew', 'activate'),
    plan,
  }) as fc.Arbitrary<Act>,
  fc.record({ kind: fc.constant('deliver' as const), which: fc.nat(30) }),
  fc.record({ kind: fc.constant('refresh' as const) }),
  // Covers an hour to two periods, with emphasis on the three days of grace for an unpaid plan.
  fc.record({ kind: fc.constant('pass' as const), hours: fc.oneof(fc.integer({ min: 1, max: 80 }), fc.integer({ min: 24, max: 1600 })) }),
);

/** Everything the plan may depend on: the subscription, the bought time and the first unpaid sign. */
interface Model {
  now: number;
  subscription: { plan: PaidPlan; status: 'active' | 'past_due' | 'canceled'; periodStart: number; periodEnd: number; isLeaving: boolean };
  unpaidSince: number | null;
  bought: HeldPlan & { planPrice: bigint };
}

const PATIENCE = 3 * DAY;
const PERIOD = 30 * DAY;

const higher = (one: PlanName, other: PlanName): PlanName => (PLAN_NAMES.indexOf(one) > PLAN_NAMES.indexOf(other) ? one : other);

/** Plain fold over the current subscription and the bought time. */
function planOf({ now, subscription, unpaidSince, bought }: Model): PlanName {
  const { plan: held, status, periodEnd, isLeaving } = subscription;
  const ends = { canceled: 0, past_due: (unpaidSince ?? 0) + PATIENCE, active: isLeaving ? periodEnd : periodEnd + PATIENCE }[status];
  return higher(ends > now ? held : 'free', boughtOf({ now, bought }));
}
const boughtOf = ({ now, bought }: Pick<Model, 'now' | 'bought'>): PlanName => ((bought.planThrough ?? 0) > now ? bought.plan : 'free');

/** Reads the subscription: if past due, since the first sign in this period. */
function applyReading(model: Model, signAt: number | null): void {
  const { status, periodStart } = model.subscription;
  const since = Math.min(model.unpaidSince ?? model.now, signAt ?? model.now);
  model.unpaidSince = status === 'past_due' ? Math.max(periodStart, since) : null;
}

/** Returns the time at which an event shows the subscription unpaid, else null. */
function signIn({ body }: SignedEvent): number | null {
  const { type, created, data } = JSON.parse(body);
  const isSign = type === 'invoice.payment_failed' || (type === 'customer.subscription.updated' && data.object.status === 'past_due');
  return isSign ? created * SECOND : null;
}

describe('random histories of a subscription, its events, refreshes and x402 plans', () => {
  const w = new World();
  const stripe = new TestProcessor(w);

  async function live(first: PaidPlan, moves: Move[]): Promise<void> {
    const begin = Math.floor(Date.now() / SECOND) * SECOND;
    const model: Model = {
      now: begin,
      subscription: { plan: first, status: 'active', periodStart: begin, periodEnd: begin + PERIOD, isLeaving: false },
      unpaidSince: null,
      bought: NO_PLAN,
    };
    const ctx = () => newCtx(w.env, { requestId: 'req_history', now: model.now, wallNow: model.now, defer: () => {} });
    const { id } = await storeAccount(ctx(), newAccount(ctx(), 'Ada', {}));
    const scope = (): Scope => ({ ...ctx(), merchantId: id, livemode: true });
    const url = await beginCheckout(scope(), { plan: first, successUrl: undefined, cancelUrl: undefined });
    const signedEvents = await stripe.act('pay', { session: url.split('/').at(-1), at: begin / SECOND });
    const { subscription } = JSON.parse(signedEvents[0]!.body).data.object;
    const taken = new Set<string>();
    const take = async (event: SignedEvent) => {
      await takeEvent(ctx(), JSON.parse(event.body));
      if (!taken.has(event.id)) applyReading(model, signIn(event));
      taken.add(event.id);
    };
    const act = async ({ kind, plan: wanted }: Act) => {
      if (kind === 'activate') {
        model.bought = extendPlan(model.bought, { plan: wanted, paidUnits: planPrice(wanted), at: model.now });
        const { plan: name, planThrough } = model.bought;
        await changeAccount(ctx(), id, () => ({ values: { plan: name, planThrough } }));
        return;
      }
      const { subscription: held } = model;
      if (held.status === 'canceled') return;
      if (kind === 'change') held.plan = wanted;
      if (kind === 'fail') held.status = 'past_due';
      if (kind === 'recover') held.status = 'active';
      if (kind === 'cancel') held.status = 'canceled';
      if (kind === 'leave' || kind === 'resume') held.isLeaving = kind === 'leave';
      if (kind === 'renew') Object.assign(held, { periodStart: model.now, periodEnd: model.now + PERIOD });
      const what = kind === 'leave' ? 'cancel' : kind;
      const at = model.now / SECOND;
      signedEvents.push(...(await stripe.act(what, { subscription, price: `price_${wanted}`, at, at_period_end: kind === 'leave' })));
    };
    const expectPlan = async () => {
      const { plan: name, source } = await readBilling(scope());
      expect(name).toBe(planOf(model));
      expect(source).toBe(name === 'free' ? 'free' : boughtOf(model) === name ? 'x402' : 'processor');
    };
    for (const one of moves) {
      if (one.kind === 'deliver') await take(signedEvents[one.which % signedEvents.length]!);
      else if (one.kind === 'pass') model.now += one.hours * HOUR;
      else if (one.kind === 'refresh') {
        await refreshAccount(scope());
        applyReading(model, null);
        await expectPlan();
      } else await act(one);
    }
    // At the end every event has arrived once, the last one first, and time passes without further events.
    for (const event of signedEvents.toReversed()) await take(event);
    await expectPlan();
    for (const days of [2, 3, 40]) {
      model.now += days * DAY;
      await expectPlan();
    }
    const { planThrough } = await getAccount(ctx().db, id);
    expect(planThrough).toBe(model.bought.planThrough);
  }

  it.each(PARTS)(`a history ends in the plan of a plain fold (seed ${SEED}, part %i)`, async (part) => {
    const each = fc.tuple(plan, fc.array(move, { minLength: 1, maxLength: 8 }));
    const histories = fc.sample(each, { numRuns: (500 * SOAK) / PARTS.length, seed: SEED + part });
    const run = async (lane: number) => {
      for (let i = lane; i < histories.length; i += LANES) {
        const [first, moves] = histories[i]!;
        await live(first, moves).catch((cause: Error) => {
          throw new Error(`${cause.message}\nafter ${JSON.stringify([first, moves])}`, { cause });
        });
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, lane) => run(lane)));
  });
});
