import { type Address, addSignersToInstruction, createClient, type Instruction, type KeyPairSigner } from '@solana/kit';
import { solanaLocalRpc } from '@solana/kit-plugin-rpc';
import { signer } from '@solana/kit-plugin-signer';
import { findPlanPda, findSubscriptionDelegationPda, PlanStatus, subscriptionsProgram } from '@solana/subscriptions';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  resumeInstruction,
  revokeAuthorityInstruction,
  updatePlanInstruction,
} from '../../worker/solana/programs/subscriptions/instructions.ts';
import { buyerSteps } from '../../worker/solana/programs/subscriptions/steps.ts';
import {
  decodeAuthority,
  decodePlan,
  decodeSubscription,
  findAuthorityAddress,
} from '../../worker/solana/programs/subscriptions/subscription.ts';
import { readSight, sightAddresses, subscriptionStateOf } from '../../worker/solana/programs/subscriptions/subscription-state.ts';
import { type ChainServer, ClientChain, startChainServer, TOKEN_PROGRAM, USDC } from './chain.ts';

const PLAN_ID = 4n;
const PRICE = 25n;
const DAY = 86_400;

let server: ChainServer;
beforeAll(async () => {
  server = await startChainServer();
});
afterAll(() => server.close());

const clientOf = (chain: ClientChain, wallet: KeyPairSigner) =>
  createClient()
    .use(signer(wallet))
    .use(solanaLocalRpc({ rpcUrl: chain.url, rpcSubscriptionsUrl: chain.webSocketUrl as never }))
    .use(subscriptionsProgram());

async function openWorld() {
  const chain = ClientChain.openOn(server);
  const [merchant, buyer] = [await chain.openWallet(0n), await chain.openWallet(1_000n)];
  const [planPda] = await findPlanPda({ owner: merchant.address, planId: PLAN_ID });
  const [subscriptionPda] = await findSubscriptionDelegationPda({ planPda, subscriber: buyer.address });
  const [selling, buying] = [clientOf(chain, merchant.signer), clientOf(chain, buyer.signer)];
  const accounts = { planPda, subscriptionPda, tokenMint: USDC, tokenProgram: TOKEN_PROGRAM };
  return {
    chain,
    merchant,
    buyer,
    selling,
    buying,
    ...accounts,
    publish: () => {
      const terms = { amount: PRICE, periodHours: 24n, endTs: 0n, metadataUri: 'https://shop.example/plan' };
      const where = { planId: PLAN_ID, mint: USDC, tokenProgram: TOKEN_PROGRAM, destinations: [merchant.address], pullers: [] };
      return selling.subscriptions.instructions.createPlan({ ...terms, ...where }).sendTransaction();
    },
    authorize: () => {
      const input = { tokenMint: USDC, tokenProgram: TOKEN_PROGRAM, userAta: buyer.tokenAccount };
      return buying.subscriptions.instructions.initSubscriptionAuthority(input).sendTransaction();
    },
    subscribe: () => {
      const input = { merchant: merchant.address, planId: PLAN_ID, tokenMint: USDC };
      return buying.subscriptions.instructions.subscribe(input).sendTransaction();
    },
    collect: (amount: bigint) => {
      const input = { ...accounts, amount, delegator: buyer.address, receiverAta: merchant.tokenAccount };
      return selling.subscriptions.instructions.transferSubscription(input).sendTransaction();
    },
    warp: (seconds: number) => chain.call('local_warp', seconds),
  };
}

type World = Awaited<ReturnType<typeof openWorld>>;

async function openSubscription(): Promise<World> {
  const world = await openWorld();
  await world.publish();
  await world.authorize();
  await world.subscribe();
  return world;
}

const sendOurs = (client: World['buying'], wallet: KeyPairSigner, instruction: unknown) =>
  client.sendTransaction([addSignersToInstruction([wallet], instruction as Instruction)]);

/** Returns the service's verdict on the client's actions: the collection state and the steps for the buyer to sign. */
async function judge({ chain, merchant, buyer, planPda }: World): Promise<[state: string, steps: string[]]> {
  const [subscriber, receiver] = [buyer.address, merchant.address];
  const route = { plan: planPda, subscriber, mint: USDC, puller: receiver, receiver };
  type Account = { owner: string; data: [string] } | null;
  const options = { encoding: 'base64' };
  const { value } = await chain.call<{ value: Account[] }>('getMultipleAccounts', sightAddresses(route), options);
  const accounts = value.map(
    (account) => account && { owner: account.owner, data: Uint8Array.from(Buffer.from(account.data[0], 'base64')) },
  );
  const sight = readSight(accounts);
  const now = BigInt((await chain.call<{ unixTimestamp: number }>('local_time')).unixTimestamp);
  const steps = sight.plan === null ? [] : buyerSteps(sight, sight.plan, route, now).map(({ kind }) => kind);
  const state = subscriptionStateOf(sight, route, now);
  return ['reason' in state ? state.reason : state.kind, steps];
}

const held = ({ chain, merchant, buyer }: World) => Promise.all([chain.held(buyer.tokenAccount), chain.held(merchant.tokenAccount)]);

describe('public client of the subscriptions program', () => {
  it('the client publishes a plan, subscribes, and collects once per period', async () => {
    const world = await openSubscription();
    await world.collect(PRICE);
    await expect(world.collect(1n)).rejects.toMatchObject({ cause: { context: { code: 400 } } });
    await world.warp(DAY);
    await world.collect(PRICE - 5n);
    await world.collect(5n);
    // Two periods pass without a collection and are lost.
    await world.warp(3 * DAY);
    await world.collect(PRICE);
    await expect(world.collect(PRICE)).rejects.toMatchObject({ cause: { context: { code: 400 } } });
    expect(await held(world)).toEqual([1_000n - 3n * PRICE, 3n * PRICE]);
  });

  it('queries of the client find its own accounts, which this repository decodes', async () => {
    const { chain, merchant, buyer, selling, buying, planPda, subscriptionPda } = await openSubscription();
    const [plan] = await selling.subscriptions.queries.plansForOwner(merchant.address);
    expect(plan?.address).toBe(planPda);
    const ours = decodePlan((await chain.dataOf(planPda))!);
    expect(ours).toMatchObject({
      ok: true,
      value: { owner: merchant.address, amount: PRICE, destinations: [merchant.address], pullers: [] },
    });
    expect(ours).toMatchObject({ value: { ...plan!.data.data.terms, metadataUri: plan!.data.data.metadataUri } });
    const { initialized, pda } = await buying.subscriptions.queries.isSubscriptionAuthorityInitialized(buyer.address, USDC);
    expect([initialized, pda as string]).toEqual([true, findAuthorityAddress(buyer.address, USDC).address]);
    expect(await selling.subscriptions.queries.activeDelegationSummary(buyer.address)).toMatchObject({ subscriptions: 1, total: 1 });
    const theirs = await buying.subscriptions.accounts.subscriptionDelegation.fetch(subscriptionPda);
    const { header, terms, ...progress } = theirs.data;
    expect(decodeSubscription((await chain.dataOf(subscriptionPda))!)).toEqual({
      ok: true,
      value: {
        bump: header.bump,
        subscriber: header.delegator,
        plan: header.delegatee,
        payer: header.payer,
        initId: header.initId,
        ...terms,
        ...progress,
      },
    });
    const authority = await buying.subscriptions.accounts.subscriptionAuthority.fetch(pda);
    const { discriminator: _, tokenMint: mint, ...rest } = authority.data;
    expect(decodeAuthority((await chain.dataOf(pda))!)).toEqual({ ok: true, value: { ...rest, mint } });
  });

  it('a cancelled subscription runs to the end of its period, then the client revokes it and its authority', async () => {
    const world = await openSubscription();
    const { buying, buyer, chain, planPda, subscriptionPda } = world;
    await buying.subscriptions.instructions.cancelSubscription({ planPda }).sendTransaction();
    const revoke = () => buying.subscriptions.instructions.revokeSubscription({ planPda, subscriptionPda }).sendTransaction();
    await expect(revoke()).rejects.toMatchObject({ cause: { context: { code: 510 } } });
    await world.collect(PRICE);
    await world.warp(DAY);
    await expect(world.collect(PRICE)).rejects.toMatchObject({ cause: { context: { code: 508 } } });
    await revoke();
    await buying.subscriptions.instructions.closeSubscriptionAuthority({ tokenMint: USDC }).sendTransaction();
    expect(await chain.dataOf(subscriptionPda)).toBeNull();
    expect(await chain.dataOf(findAuthorityAddress(buyer.address, USDC).address as Address)).toBeNull();
    expect(await held(world)).toEqual([1_000n - PRICE, PRICE]);
    // Another authority allows another subscription to the same plan.
    await world.authorize();
    await world.subscribe();
    await world.collect(PRICE);
  });

  it('the service derives the state after every client step from the chain alone', async () => {
    const world = await openWorld();
    await world.publish();
    expect(await judge(world)).toEqual(['subscription_gone', ['approve', 'subscribe']]);
    await world.authorize();
    expect(await judge(world)).toEqual(['subscription_gone', ['subscribe']]);
    await world.subscribe();
    expect(await judge(world)).toEqual(['collectable', []]);
    await world.collect(PRICE);
    expect(await judge(world)).toEqual(['paid', []]);
    await world.warp(DAY);
    expect(await judge(world)).toEqual(['collectable', []]);
    const { buying, planPda, subscriptionPda } = world;
    await buying.subscriptions.instructions.cancelSubscription({ planPda }).sendTransaction();
    expect(await judge(world)).toEqual(['cancelled', ['resume']]);
    await world.warp(DAY);
    expect(await judge(world)).toEqual(['cancelled', ['subscribe']]);
    await buying.subscriptions.instructions.revokeSubscription({ planPda, subscriptionPda }).sendTransaction();
    expect(await judge(world)).toEqual(['subscription_gone', ['subscribe']]);
    await world.subscribe();
    await buying.subscriptions.instructions.closeSubscriptionAuthority({ tokenMint: USDC }).sendTransaction();
    expect(await judge(world)).toEqual(['authority_gone', ['revoke']]);
  });

  it('the program refuses outdated client instructions and accepts those built by this repository', async () => {
    const world = await openSubscription();
    const { buying, buyer, selling, merchant, planPda } = world;
    await buying.subscriptions.instructions.cancelSubscription({ planPda }).sendTransaction();
    const resuming = buying.subscriptions.instructions.resumeSubscription({ planPda }).sendTransaction();
    await expect(resuming).rejects.toMatchObject({ cause: { context: { code: 113 } } });
    await sendOurs(buying, buyer.signer, resumeInstruction({ subscriber: buyer.address, plan: planPda }, USDC));
    await world.warp(DAY);
    await world.collect(PRICE);

    const change = { endTs: 0n, metadataUri: 'https://shop.example/other', pullers: [] };
    const updating = selling.subscriptions.instructions.updatePlan({ ...change, planPda, status: PlanStatus.Active }).sendTransaction();
    await expect(updating).rejects.toMatchObject({ cause: { context: { code: 113 } } });
    await sendOurs(selling, merchant.signer, updatePlanInstruction(merchant.address, PLAN_ID, { ...change, status: 'active' }));
    const [plan] = await selling.subscriptions.queries.plansForOwner(merchant.address);
    expect(plan?.data.data.metadataUri.replace(/\0+$/, '')).toBe(change.metadataUri);

    const authority = { user: buyer.address, mint: USDC, tokenProgram: TOKEN_PROGRAM };
    await sendOurs(buying, buyer.signer, revokeAuthorityInstruction(authority));
    await world.warp(DAY);
    await expect(world.collect(PRICE)).rejects.toMatchObject({ cause: { context: { code: 103 } } });
  });
});
