import { type Address, addSignersToInstruction, type Instruction, type KeyPairSigner } from '@solana/kit';
import { base64 } from '#core/encoding.ts';
import { TOKEN_PROGRAM } from '#solana/assets.ts';
import { createPlanInstruction } from '#solana/programs/subscriptions/instructions.ts';
import type { DraftPlan } from '#solana/programs/subscriptions/publishing.ts';
import { buyerSteps } from '#solana/programs/subscriptions/steps.ts';
import {
  type CollectionRoute,
  readPlanAccount,
  readSight,
  type SubscriptionSight,
  sightAddresses,
} from '#solana/programs/subscriptions/subscription-state.ts';
import type { TestChain } from '../chain/chain.ts';

type Account = { owner: string; data: [string] } | null;

const readAccounts = async (chain: TestChain, addresses: Address[]) => {
  const { value } = await chain.call<{ value: Account[] }>('getMultipleAccounts', addresses, { encoding: 'base64' });
  return value.map((account) => account && { owner: account.owner, data: base64.decode(account.data[0]) });
};

/** Wallet that subscribes by our steps, and can also act on chain without the service. */
export class Subscriber {
  readonly chain: TestChain;
  readonly wallet: KeyPairSigner;
  readonly route: CollectionRoute;

  constructor(chain: TestChain, wallet: KeyPairSigner, { address, plan }: DraftPlan) {
    this.chain = chain;
    this.wallet = wallet;
    const [receiver, puller] = [plan.destinations[0]!, plan.pullers[0]!];
    this.route = { plan: address, subscriber: wallet.address, mint: plan.mint, puller, receiver };
  }

  static async subscribe(chain: TestChain, draft: DraftPlan, usdc?: bigint): Promise<Subscriber> {
    const subscriber = new Subscriber(chain, await chain.wallet(usdc), draft);
    await subscriber.sign();
    return subscriber;
  }

  async readSubscription(): Promise<SubscriptionSight> {
    return readSight(await readAccounts(this.chain, sightAddresses(this.route)));
  }

  async sign(): Promise<void> {
    for (;;) {
      const plan = readPlanAccount((await readAccounts(this.chain, [this.route.plan]))[0]);
      const [step] = buyerSteps(await this.readSubscription(), plan!, this.route, BigInt(Math.floor(Date.now() / 1000)));
      if (!step) return;
      await this.send(...step.instructions!);
    }
  }

  send(...instructions: Instruction[]): Promise<string> {
    return this.chain.send(
      this.wallet,
      instructions.map((instruction) => addSignersToInstruction([this.wallet], instruction)),
    );
  }
}

/** Publishes a plan from its owner's wallet, which gets a USDC account. */
export async function publishPlan(chain: TestChain, owner: KeyPairSigner, { plan }: DraftPlan): Promise<void> {
  await chain.call('local_fundUsdc', owner.address, '0');
  await chain.send(owner, [addSignersToInstruction([owner], createPlanInstruction(plan, TOKEN_PROGRAM as Address))]);
}
