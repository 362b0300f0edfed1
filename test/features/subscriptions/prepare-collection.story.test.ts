import { address, addSignersToInstruction, type Instruction, type KeyPairSigner } from '@solana/kit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { keyRing } from '#core/crypto.ts';
import { base58, base64url } from '#core/encoding.ts';
import { prepareCollection } from '#features/subscriptions/collect-period.ts';
import { type Ctx, newCtx } from '#platform/context.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { cancelInstruction, collectInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { type DraftPlan, draftPlan } from '#solana/programs/subscriptions/publishing.ts';
import { USDC } from '../../support/chain/chain.ts';
import { publishPlan, Subscriber } from '../../support/people/subscriber.ts';
import { endSkips, skipTime } from '../../support/runner/clock.ts';
import { World } from '../../support/world.ts';

const w = new World();
const operator = keyRing(base64url.encode(new Uint8Array(32).fill(95)))[0]!;
const PULLER = address(base58.encode(operator.publicKey));
const PRICE = 2_000_000n;
const DAY = 86_400;

describe('prepared collection', () => {
  let merchant: KeyPairSigner;
  let draft: DraftPlan;
  const notes: string[] = [];
  const ctxNow = (env = w.env) => newCtx(env, { requestId: 'req_collect', defer: () => {}, note: (reason) => notes.push(reason) });
  const open = (usdc = 3n * PRICE) => Subscriber.subscribe(w.chain, draft, usdc);
  const prepare = ({ route }: Subscriber, ctx: Ctx = ctxNow(), by = operator) =>
    prepareCollection(ctx, route, { memo: `svc:${crypto.randomUUID()}`, references: [] }, by);
  const prepareKind = async (subscriber: Subscriber, ctx?: Ctx) => {
    const prepared = await prepare(subscriber, ctx);
    if (prepared.kind !== 'not_now') return prepared.kind;
    return 'reason' in prepared.state ? prepared.state.reason : prepared.state.kind;
  };
  const collect = async (subscriber: Subscriber) => {
    const prepared = await prepare(subscriber);
    if (prepared.kind !== 'ready') throw new Error(prepared.kind);
    expect(await ctxNow().chain.sendTransaction(prepared.wire)).toEqual({ kind: 'sent' });
    return prepared;
  };
  const pullByOwner = ({ route }: Subscriber) => {
    const by = {
      puller: merchant.address,
      receiver: merchant.address,
      amount: PRICE,
      mint: address(USDC),
      tokenProgram: address(TOKEN_PROGRAM),
    };
    return w.chain.send(merchant, [addSignersToInstruction([merchant], collectInstruction(route, by)) as Instruction]);
  };
  /** Wraps the chain so that `happen` runs before one of its calls. */
  const meanwhile = (method: 'prepare' | 'simulate', happen: () => Promise<unknown>): Ctx => {
    const { chain, ...ctx } = ctxNow();
    const get = (_: object, name: keyof typeof chain) => {
      const real = chain[name];
      if (typeof real !== 'function') return real;
      return async (...args: unknown[]) => {
        if (name === method) await happen();
        return (real as (...args: unknown[]) => unknown).apply(chain, args);
      };
    };
    return { ...ctx, chain: new Proxy(chain, { get: get as never }) };
  };
  beforeAll(async () => {
    merchant = await w.chain.wallet(0n);
    const parties = { merchant: merchant.address, puller: PULLER };
    draft = draftPlan({ productId: 'p', mint: address(USDC), amount: PRICE, periodDays: 30, page: '', ...parties });
    await publishPlan(w.chain, merchant, draft);
    await w.chain.call('local_fundSol', PULLER, '1000000000');
  });
  afterAll(endSkips);

  it('the collection costs one period’s price, and the next begins no earlier than on the chain clock', async () => {
    const subscriber = await open();
    const { period } = await collect(subscriber);
    expect([period.endsAt - period.startsAt, await w.chain.held(subscriber.wallet.address)]).toEqual([30 * DAY * 1000, 2n * PRICE]);
    expect(await prepareKind(subscriber)).toBe('paid');
    const left = Math.ceil((period.endsAt - Date.now()) / 1000);
    await skipTime(w.chain, left - 60);
    expect(await prepareKind(subscriber)).toBe('paid');
    await skipTime(w.chain, 65);
    expect(await prepareKind(subscriber)).toBe('out_of_time');
    await skipTime(w.chain, 30);
    expect((await collect(subscriber)).period.startsAt).toBe(period.endsAt);
    await skipTime(w.chain, 30 * DAY);
    await collect(subscriber);
    expect(await w.chain.held(subscriber.wallet.address)).toBe(0n);
    await skipTime(w.chain, 30 * DAY);
    expect(await prepareKind(subscriber)).toBe('insufficient_funds');
  });

  it('no collection is prepared at the end of a period, because it might land in the next one', async () => {
    const subscriber = await open();
    const { currentPeriodStartTs } = (await subscriber.readSubscription()).subscription!;
    await skipTime(w.chain, Number(currentPeriodStartTs) + 30 * DAY - Math.floor(Date.now() / 1000) - 200);
    expect(await prepareKind(subscriber)).toBe('out_of_time');
  });

  it('changes between reading and signing are reported, and nothing is signed that would fail', async () => {
    const [taken, cancelled] = [await open(), await open()];
    const cancel = () => cancelled.send(cancelInstruction(cancelled.route));
    expect(
      await prepareKind(
        taken,
        meanwhile('prepare', () => pullByOwner(taken)),
      ),
    ).toBe('paid');
    await cancel();
    // The program would still collect the running period. The service does not collect after a cancellation.
    expect(await prepareKind(cancelled)).toBe('cancelled');
    expect(await w.chain.held(cancelled.wallet.address)).toBe(3n * PRICE);
  });

  it('an unavailable node and an error of the service yield no conclusion', async () => {
    const subscriber = await open();
    expect(await prepareKind(subscriber, ctxNow({ ...w.env, RPC_URL: 'http://127.0.0.1:1/' } as typeof w.env))).toBe('unknown');
    const away = meanwhile('simulate', () => w.chain.fault({ kind: 'http_503', method: 'simulateTransaction', times: 9 }));
    expect(await prepareKind(subscriber, away)).toBe('unknown');
    await w.chain.call('local_clearFaults');
    const stranger = keyRing(base64url.encode(new Uint8Array(32).fill(96)))[0]!;
    notes.length = 0;
    expect((await prepare(subscriber, ctxNow(), stranger)).kind).toBe('unknown');
    expect(notes.join()).toContain('collection refused');
    expect(await prepareKind(subscriber)).toBe('ready');
  });
});
