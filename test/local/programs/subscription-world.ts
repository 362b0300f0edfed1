import type { Address, Instruction, KeyPairSigner } from '@solana/kit';
import { TOKEN_PROGRAM_ADDRESS } from '@solana-program/token';
import {
  type AskedPlan,
  type AuthorityOwner,
  cancelInstruction,
  closeAuthorityInstruction,
  collectInstruction,
  createPlanInstruction,
  deletePlanInstruction,
  initAuthorityInstruction,
  type NewPlan,
  resumeInstruction,
  revokeInstruction,
  type SubscriptionParties,
  subscribeInstruction,
  updatePlanInstruction,
} from '#solana/programs/subscriptions/instructions.ts';
import {
  decodeAuthority,
  decodePlan,
  decodeSubscription,
  findAuthorityAddress,
  findPlanAddress,
  findSubscriptionAddress,
  type Subscription,
  type SubscriptionAuthority,
  type SubscriptionPlan,
} from '#solana/programs/subscriptions/subscription.ts';
import { USDC } from '../chain/wallets.ts';
import type { ProgramChain } from './program-chain.ts';

export const PRICE = 100n;
export const BALANCE = 10_000n;
export const DAY = 86_400n;

/** A merchant with a plan, a service that collects, a buyer, and a sponsor who pays rent. */
export interface People {
  merchant: KeyPairSigner;
  puller: KeyPairSigner;
  buyer: KeyPairSigner;
  sponsor: KeyPairSigner;
}

export class SubscriptionWorld {
  readonly on: ProgramChain;
  readonly people: People;
  readonly terms: NewPlan;
  readonly plan: Address;
  readonly parties: SubscriptionParties;
  readonly subscription: Address;
  readonly owner: AuthorityOwner;
  readonly authority: Address;

  constructor(on: ProgramChain, people: People, terms: NewPlan) {
    this.on = on;
    this.people = people;
    this.terms = terms;
    this.plan = findPlanAddress(terms.owner, terms.planId).address;
    this.parties = { subscriber: people.buyer.address, plan: this.plan };
    this.subscription = findSubscriptionAddress(this.plan, people.buyer.address).address;
    this.owner = { user: people.buyer.address, mint: USDC, tokenProgram: TOKEN_PROGRAM_ADDRESS };
    this.authority = findAuthorityAddress(people.buyer.address, USDC).address;
  }

  async publish(): Promise<this> {
    await this.on.send(createPlanInstruction(this.terms, TOKEN_PROGRAM_ADDRESS));
    return this;
  }

  async authorize(): Promise<this> {
    await this.on.send(initAuthorityInstruction(this.owner));
    return this;
  }

  async subscribing(changes: Partial<AskedPlan & { initId: bigint }> = {}, payer?: Address): Promise<Instruction> {
    const { initId, ...asked } = { ...(await this.readPlan()), initId: (await this.readAuthority()).initId, ...changes };
    return subscribeInstruction({ subscriber: this.people.buyer.address, asked, initId }, payer);
  }

  async subscribe(payer?: Address): Promise<this> {
    await this.on.send(await this.subscribing({}, payer));
    return this;
  }

  collecting(amount = PRICE, changes: { puller?: Address; receiver?: Address } = {}): Instruction {
    const by = { puller: this.people.puller.address, receiver: this.people.merchant.address, ...changes };
    return collectInstruction(this.parties, { ...by, amount, mint: USDC, tokenProgram: TOKEN_PROGRAM_ADDRESS });
  }

  async collect(amount = PRICE): Promise<void> {
    await this.on.send(this.collecting(amount));
  }

  async cancel(): Promise<void> {
    await this.on.send(cancelInstruction(this.parties));
  }

  readPlan = (): Promise<SubscriptionPlan> => this.#read(this.plan, decodePlan);
  readSubscription = (): Promise<Subscription> => this.#read(this.subscription, decodeSubscription);
  readAuthority = (): Promise<SubscriptionAuthority> => this.#read(this.authority, decodeAuthority);

  held(): Promise<bigint[]> {
    return Promise.all([this.people.buyer, this.people.merchant].map(({ address }) => this.on.usdcOf(address)));
  }

  async #read<Account>(address: Address, decode: (data: Uint8Array) => { ok: true; value: Account } | { ok: false; reason: string }) {
    const decoded = decode((await this.on.dataOf(address)) ?? new Uint8Array());
    if (!decoded.ok) throw new Error(decoded.reason);
    return decoded.value;
  }
}

/** Opens all wallets: the buyer with USDC, the merchant with a token account. */
export async function openPeople(on: ProgramChain): Promise<People> {
  const merchant = await on.openWallet();
  await on.chain.result('local_fundUsdc', merchant.address, '0');
  return { merchant, puller: await on.openWallet(), buyer: await on.openWallet({ usdc: BALANCE }), sponsor: await on.openWallet() };
}

export async function preparePlan(
  on: ProgramChain,
  { people: known, ...changes }: Partial<NewPlan> & { people?: People } = {},
): Promise<SubscriptionWorld> {
  const people = known ?? (await openPeople(on));
  return new SubscriptionWorld(on, people, {
    owner: people.merchant.address,
    planId: 1n,
    mint: USDC,
    amount: PRICE,
    periodHours: 24n,
    endTs: 0n,
    destinations: [people.merchant.address],
    pullers: [people.puller.address],
    metadataUri: 'https://shop.example/plan',
    ...changes,
  });
}

export const openPlan = async (...args: Parameters<typeof preparePlan>): Promise<SubscriptionWorld> =>
  (await (await preparePlan(...args)).publish()).authorize();

export const openSubscription = async (...args: Parameters<typeof preparePlan>): Promise<SubscriptionWorld> =>
  (await openPlan(...args)).subscribe();

/** Accounts read before, so that a step can be built after they are gone. */
export interface Found {
  plan: SubscriptionPlan;
  authority: SubscriptionAuthority;
}

export const findBoth = async (world: SubscriptionWorld): Promise<Found> => ({
  plan: await world.readPlan(),
  authority: await world.readAuthority(),
});

export type FreeStep = 'authorize' | 'closeAuthority' | 'cancel' | 'resume' | 'revoke' | 'subscribe' | 'sunset' | 'deletePlan';

export async function makeStep(world: SubscriptionWorld, kind: FreeStep, found: Found): Promise<Instruction> {
  const { owner, planId, pullers, metadataUri } = world.terms;
  switch (kind) {
    case 'authorize':
      return initAuthorityInstruction(world.owner);
    case 'closeAuthority':
      return closeAuthorityInstruction(world.owner);
    case 'cancel':
      return cancelInstruction(world.parties);
    case 'resume':
      return resumeInstruction(world.parties, USDC);
    case 'revoke':
      return revokeInstruction(world.parties);
    case 'subscribe':
      found.authority = await world.readAuthority().catch(() => found.authority);
      return subscribeInstruction({ ...world.parties, asked: found.plan, initId: found.authority.initId });
    case 'sunset': {
      const endTs = (await world.on.now()) + 3n * DAY;
      return updatePlanInstruction(owner, planId, { status: 'sunset', endTs, pullers, metadataUri });
    }
    case 'deletePlan':
      return deletePlanInstruction(owner, planId);
  }
}
