import { AccountRole, address, addSignersToInstruction, type Instruction, type KeyPairSigner } from '@solana/kit';
import { beforeAll, describe, expect, it } from 'vitest';
import { findCollection } from '#features/subscriptions/collect-period.ts';
import { newCtx } from '#platform/context.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { collectInstruction } from '#solana/programs/subscriptions/instructions.ts';
import { draftPlan } from '#solana/programs/subscriptions/publishing.ts';
import { findSubscriptionAddress } from '#solana/programs/subscriptions/subscription.ts';
import { memoInstruction, USDC } from '../../support/chain/chain.ts';
import { publishPlan, Subscriber } from '../../support/people/subscriber.ts';
import { World } from '../../support/world.ts';

const w = new World();
const ctxNow = (env = w.env) => newCtx(env, { requestId: 'req_find', defer: () => {} });
const DAY = 86_400n;

describe('findCollection', () => {
  let owner: KeyPairSigner;
  let subscriber: Subscriber;
  let first: string;
  let began: bigint;
  const subscription = () => findSubscriptionAddress(subscriber.route.plan, subscriber.wallet.address).address;
  const collect = () => {
    const by = { puller: owner.address, receiver: owner.address, amount: 10n, mint: address(USDC), tokenProgram: address(TOKEN_PROGRAM) };
    return w.chain.send(owner, [addSignersToInstruction([owner], collectInstruction(subscriber.route, by)) as Instruction]);
  };
  /** Names the subscription in an unrelated transaction, as any wallet may. */
  const name = async (text: string) => {
    const memo = memoInstruction(text);
    const stranger = await w.chain.wallet(0n);
    const tip = { programAddress: address('11111111111111111111111111111111'), data: Uint8Array.of(2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0) };
    const accounts = [
      { address: stranger.address, role: AccountRole.WRITABLE_SIGNER, signer: stranger },
      { address: owner.address, role: AccountRole.WRITABLE },
      { address: subscription(), role: AccountRole.READONLY },
    ];
    return w.chain.send(stranger, [memo, { ...tip, accounts } as Instruction]);
  };
  const findSignature = async (periodStartTs: bigint, effort?: Parameters<typeof findCollection>[3]) => {
    const found = await findCollection(ctxNow(), subscription(), periodStartTs, effort);
    return found.kind === 'found' ? found.transaction.signature : found.kind;
  };
  beforeAll(async () => {
    owner = await w.chain.wallet(0n);
    const parties = { merchant: owner.address, puller: (await w.chain.wallet(0n)).address };
    const draft = draftPlan({ productId: 'p', mint: address(USDC), amount: 10n, periodDays: 1, page: '', ...parties });
    await publishPlan(w.chain, owner, draft);
    subscriber = await Subscriber.subscribe(w.chain, draft);
    began = (await subscriber.readSubscription()).subscription!.currentPeriodStartTs;
    first = await collect();
  });

  it('the collection is found by its subscription, with the paid period', async () => {
    expect(await findSignature(began)).toBe(first);
    const found = await findCollection(ctxNow(), subscription(), began);
    expect(found).toMatchObject({ collected: { puller: owner.address, amount: 10n, periodStartTs: began, periodEndTs: began + DAY } });
    expect(await findSignature(began + DAY)).toBe('none');
  });

  it('the collection is found behind later foreign transactions, page by page, up to the read limit', async () => {
    for (let at = 0; at < 7; at += 1) await name(`noise ${at}`);
    expect(await findSignature(began, { pageSize: 2, readMax: 100 })).toBe(first);
    expect(await findSignature(began, { pageSize: 2, readMax: 4 })).toBe('unknown');
    expect(await findSignature(began + DAY, { pageSize: 2, readMax: 4 })).toBe('none');
  });

  it('the collection of the next period is a different one and leaves the earlier one unchanged', async () => {
    await w.chain.call('local_warp', Number(DAY));
    const second = await collect();
    expect([await findSignature(began), await findSignature(began + DAY)]).toEqual([first, second]);
  });

  it('the answer is unknown if no node responds or a listed transaction cannot be read', async () => {
    const away = { ...w.env, RPC_URL: 'http://127.0.0.1:1/' } as typeof w.env;
    expect((await findCollection(ctxNow(away), subscription(), began)).kind).toBe('unknown');
    await w.chain.fault({ kind: 'http_503', method: 'getTransaction', times: 9 });
    expect(await findSignature(began)).toBe('unknown');
    await w.chain.call('local_clearFaults');
    expect(await findSignature(began)).toBe(first);
  });
});
