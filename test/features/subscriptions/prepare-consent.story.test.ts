import { address, addSignersToInstruction, generateKeyPairSigner, type Instruction, type KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { base64 } from '#core/encoding.ts';
import { prepareCancellation, prepareSteps } from '#features/subscriptions/prepare-consent.ts';
import { newCtx } from '#platform/context.ts';
import { checkConsent } from '#solana/programs/subscriptions/consents.ts';
import { deletePlanInstruction, updatePlanInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { type DraftPlan, draftPlan } from '#solana/programs/subscriptions/publishing.ts';
import { USDC } from '../../support/chain/chain.ts';
import { publishPlan, Subscriber } from '../../support/people/subscriber.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

const w = new World();
const DAY = 86_400;
const away = { ...w.env, RPC_URL: 'http://127.0.0.1:1/' } as typeof w.env;
const ctxNow = (env = w.env) => newCtx(env, { requestId: 'req_consent', defer: () => {} });

describe('transactions for the buyer to sign', () => {
  let merchant: KeyPairSigner;
  let draft: DraftPlan;
  let plans = 0;
  const newPlan = async () => {
    plans += 1;
    const parties = { merchant: merchant.address, puller: (await w.chain.wallet(0n)).address };
    const terms = { productId: `p${plans}`, mint: address(USDC), amount: 1_000_000n, periodDays: 30, page: '' };
    const made = draftPlan({ ...terms, ...parties });
    await publishPlan(w.chain, merchant, made);
    return made;
  };
  const sendNext = async ({ wallet, route }: Subscriber): Promise<string[]> => {
    const steps = await prepareSteps(ctxNow(), route);
    if (!steps.ok) throw new Error(steps.reason);
    const [step] = steps.value;
    if (step) await w.chain.call('sendTransaction', await w.chain.sign(wallet, step.transaction!), { encoding: 'base64' });
    return steps.value.map(({ kind, transaction }) => (transaction === null ? `${kind} later` : kind));
  };
  const readReason = async (result: Promise<{ ok: boolean; reason?: string }>) => (await result).reason ?? 'ok';
  const endPlan = async ({ plan }: DraftPlan, days: number) => {
    const endTs = BigInt(Math.floor(Date.now() / 1000) + days * DAY);
    const { owner, planId, pullers, metadataUri } = plan;
    await w.chain.send(merchant, [
      addSignersToInstruction(
        [merchant],
        updatePlanInstruction(owner, planId, { status: 'sunset', endTs, pullers, metadataUri }),
      ) as Instruction,
    ]);
  };
  beforeAll(async () => {
    merchant = await w.chain.wallet(0n);
    draft = await newPlan();
  });
  afterAll(endSkips);

  it('a new wallet subscribes with two transactions that it only signs, then none is left', async () => {
    const subscriber = new Subscriber(w.chain, await w.chain.wallet(), draft);
    expect(await sendNext(subscriber)).toEqual(['approve', 'subscribe later']);
    expect(await sendNext(subscriber)).toEqual(['subscribe']);
    expect(await sendNext(subscriber)).toEqual([]);
    const other = new Subscriber(w.chain, subscriber.wallet, await newPlan());
    expect(await sendNext(other)).toEqual(['subscribe']);
  });

  it('a cancellation takes effect at the end of the running period and can be undone until then', async () => {
    const subscriber = await Subscriber.subscribe(w.chain, draft);
    const began = Number((await subscriber.readSubscription()).subscription!.currentPeriodStartTs);
    await skipTime(w.chain, 40 * DAY);
    const prepared = await prepareCancellation(ctxNow(), subscriber.route);
    if (!prepared.ok) throw new Error(prepared.reason);
    const { transaction, effectiveAt, expiresAt } = prepared.value;
    expect([effectiveAt, expiresAt > Date.now()]).toEqual([(began + 60 * DAY) * 1000, true]);
    expect((await subscriber.readSubscription()).subscription!.expiresAtTs).toBe(0n);
    const signed = await w.chain.sign(subscriber.wallet, transaction);
    const known = checkConsent(base64.decode(signed), subscriber.route, (await subscriber.readSubscription()).plan!);
    expect(known).toMatchObject({ ok: true, value: { names: ['cancel'] } });
    await w.chain.call('sendTransaction', signed, { encoding: 'base64' });
    expect(Number((await subscriber.readSubscription()).subscription!.expiresAtTs) * 1000).toBe(effectiveAt);
    expect(await readReason(prepareCancellation(ctxNow(), subscriber.route))).toBe('cancelled');
    expect(await sendNext(subscriber)).toEqual(['resume']);
    expect(await readReason(prepareCancellation(ctxNow(), subscriber.route))).toBe('ok');
  });

  it('a cancellation takes effect at once if the plan is gone', async () => {
    const ending = await newPlan();
    const subscriber = await Subscriber.subscribe(w.chain, ending);
    await endPlan(ending, 31);
    await skipTime(w.chain, 31 * DAY + 5);
    await w.chain.send(merchant, [
      addSignersToInstruction([merchant], deletePlanInstruction(ending.plan.owner, ending.plan.planId)) as Instruction,
    ]);
    const prepared = await prepareCancellation(ctxNow(), subscriber.route);
    if (!prepared.ok) throw new Error(prepared.reason);
    expect(Math.abs(prepared.value.effectiveAt - Date.now())).toBeLessThan(5_000);
    await w.chain.call('sendTransaction', await w.chain.sign(subscriber.wallet, prepared.value.transaction), { encoding: 'base64' });
    expect((await subscriber.readSubscription()).subscription!.expiresAtTs).toBeGreaterThan(0n);
  });

  it('no subscription is prepared in a sunset or without a plan, and no cancellation without a subscription', async () => {
    const ending = await newPlan();
    const stranger = new Subscriber(w.chain, await w.chain.wallet(), ending);
    expect(await readReason(prepareCancellation(ctxNow(), stranger.route))).toBe('nothing_left');
    await endPlan(ending, 60);
    expect(await readReason(prepareSteps(ctxNow(), stranger.route))).toBe('plan_missing');
    expect(await readReason(prepareSteps(ctxNow(), { ...stranger.route, plan: stranger.wallet.address }))).toBe('plan_missing');
  });

  it('a subscription that the chain would refuse is refused before signing: a wallet without SOL', async () => {
    const poor = new Subscriber(w.chain, await generateKeyPairSigner(), draft);
    await w.chain.call('local_fundUsdc', poor.wallet.address, '5000000');
    expect(await readReason(prepareSteps(ctxNow(), poor.route))).toBe('refused');
    await w.chain.call('local_fundSol', poor.wallet.address, '1000000000');
    expect(await readReason(prepareSteps(ctxNow(), poor.route))).toBe('ok');
    await w.chain.fault({ kind: 'http_503', method: 'simulateTransaction', times: 9 });
    expect(await readReason(prepareSteps(ctxNow(), poor.route))).toBe('unavailable');
    await w.chain.call('local_clearFaults');
  });

  it('an unavailable node yields unavailable instead of a transaction', async () => {
    const { route } = new Subscriber(w.chain, merchant, draft);
    expect(await readReason(prepareSteps(ctxNow(away), route))).toBe('unavailable');
    expect(await readReason(prepareCancellation(ctxNow(away), route))).toBe('unavailable');
  });
});
