import {
  type AccountMeta,
  type Address,
  getAddressEncoder,
  getI64Encoder,
  getU8Encoder,
  getU64Encoder,
  type Instruction,
} from '@solana/kit';
import { associatedTokenAddress } from '../derived-address.ts';
import { buildInstruction, SIGNER_WRITABLE, WRITABLE } from '../instruction-layout.ts';
import {
  CANCEL,
  CLOSE_AUTHORITY,
  COLLECT,
  CREATE_PLAN,
  DELETE_PLAN,
  INIT_AUTHORITY,
  RESUME,
  REVOKE,
  REVOKE_AUTHORITY,
  SUBSCRIBE,
  UPDATE_PLAN,
} from './layouts.ts';
import {
  encodeMetadata,
  fillSlots,
  findAuthorityAddress,
  findPlanAddress,
  findSubscriptionAddress,
  SUBSCRIPTIONS_EVENT_AUTHORITY,
  SUBSCRIPTIONS_PROGRAM,
  type SubscriptionPlan,
} from './subscription.ts';

const SYSTEM_PROGRAM = '11111111111111111111111111111111' as Address;

/** A user and the mint their authority is for. */
export interface AuthorityOwner {
  user: Address;
  mint: Address;
  tokenProgram: Address;
}

/** What a plan is made with; the program adds when. */
export type NewPlan = Omit<SubscriptionPlan, 'bump' | 'status' | 'createdAt'>;

/** What of a plan its owner may change. */
export type PlanChange = Pick<SubscriptionPlan, 'status' | 'endTs' | 'pullers' | 'metadataUri'>;

/** A plan as a subscriber sees it before signing. */
export type AskedPlan = Pick<SubscriptionPlan, 'owner' | 'planId' | 'bump' | 'mint' | 'amount' | 'periodHours' | 'createdAt'>;

const events = { eventAuthority: SUBSCRIPTIONS_EVENT_AUTHORITY, program: SUBSCRIPTIONS_PROGRAM };
const u64 = (value: bigint) => getU64Encoder().encode(value);
const i64 = (value: bigint) => getI64Encoder().encode(value);
const address = (value: Address) => getAddressEncoder().encode(value);
const addresses = (slots: readonly Address[]) => fillSlots(slots).flatMap((slot) => [...address(slot)]);
const sponsor = (payer?: Address): AccountMeta[] => (payer === undefined ? [] : [{ address: payer, role: SIGNER_WRITABLE }]);
const receiver = (payer?: Address): AccountMeta[] => (payer === undefined ? [] : [{ address: payer, role: WRITABLE }]);

/**
 * Makes a user's authority for a mint the delegate of their token account for any amount, and creates it where there is none.
 * The user signs, and the sponsor if one pays the rent.
 */
export function initAuthorityInstruction({ user, mint, tokenProgram }: AuthorityOwner, payer?: Address): Instruction {
  const accounts = {
    user,
    authority: findAuthorityAddress(user, mint).address,
    mint,
    userTokenAccount: associatedTokenAddress(user, mint, tokenProgram),
    systemProgram: SYSTEM_PROGRAM,
    tokenProgram,
  };
  return buildInstruction(SUBSCRIPTIONS_PROGRAM, INIT_AUTHORITY, accounts, { rest: sponsor(payer) });
}

/** Closes a user's authority without touching the token account. `payer` is who paid the rent, where that was not the user. */
export const closeAuthorityInstruction = ({ user, mint }: AuthorityOwner, payer?: Address): Instruction =>
  buildInstruction(
    SUBSCRIPTIONS_PROGRAM,
    CLOSE_AUTHORITY,
    { user, authority: findAuthorityAddress(user, mint).address },
    { rest: receiver(payer) },
  );

/** Takes the delegate away where it is the user's authority, and closes that. `payer` as in closing. */
export function revokeAuthorityInstruction({ user, mint, tokenProgram }: AuthorityOwner, payer?: Address): Instruction {
  const userTokenAccount = associatedTokenAddress(user, mint, tokenProgram);
  const accounts = { user, userTokenAccount, mint, tokenProgram, authority: findAuthorityAddress(user, mint).address };
  return buildInstruction(SUBSCRIPTIONS_PROGRAM, REVOKE_AUTHORITY, accounts, { rest: receiver(payer) });
}

/** Publishes a plan. The owner signs. */
export function createPlanInstruction(plan: NewPlan, tokenProgram: Address): Instruction {
  const { owner, planId, mint } = plan;
  const accounts = { owner, plan: findPlanAddress(owner, planId).address, mint, systemProgram: SYSTEM_PROGRAM, tokenProgram };
  const args = Uint8Array.of(
    ...u64(planId),
    ...address(mint),
    ...u64(plan.amount),
    ...u64(plan.periodHours),
    // When it was made: the program writes its own clock over it.
    ...i64(0n),
    ...i64(plan.endTs),
    ...addresses(plan.destinations),
    ...addresses(plan.pullers),
    ...encodeMetadata(plan.metadataUri),
  );
  return buildInstruction(SUBSCRIPTIONS_PROGRAM, CREATE_PLAN, accounts, { args });
}

/** Changes what may be changed of a plan. The owner signs. */
export function updatePlanInstruction(owner: Address, planId: bigint, change: PlanChange): Instruction {
  const args = Uint8Array.of(
    ...getU8Encoder().encode(change.status === 'active' ? 1 : 0),
    ...i64(change.endTs),
    ...addresses(change.pullers),
    ...encodeMetadata(change.metadataUri),
  );
  return buildInstruction(SUBSCRIPTIONS_PROGRAM, UPDATE_PLAN, { owner, plan: findPlanAddress(owner, planId).address, ...events }, { args });
}

/** Closes a plan whose end has passed. The owner signs. */
export const deletePlanInstruction = (owner: Address, planId: bigint): Instruction =>
  buildInstruction(SUBSCRIPTIONS_PROGRAM, DELETE_PLAN, { owner, plan: findPlanAddress(owner, planId).address });

/** Subscribes to exactly the terms shown, under the authority of exactly this id. The subscriber signs, and a sponsor. */
export function subscribeInstruction(
  { subscriber, asked, initId }: { subscriber: Address; asked: AskedPlan; initId: bigint },
  payer?: Address,
): Instruction {
  const plan = findPlanAddress(asked.owner, asked.planId).address;
  const accounts = {
    subscriber,
    owner: asked.owner,
    plan,
    subscription: findSubscriptionAddress(plan, subscriber).address,
    authority: findAuthorityAddress(subscriber, asked.mint).address,
    systemProgram: SYSTEM_PROGRAM,
    ...events,
  };
  const args = Uint8Array.of(
    ...u64(asked.planId),
    ...getU8Encoder().encode(asked.bump),
    ...address(asked.mint),
    ...u64(asked.amount),
    ...u64(asked.periodHours),
    ...i64(asked.createdAt),
    ...i64(initId),
  );
  return buildInstruction(SUBSCRIPTIONS_PROGRAM, SUBSCRIBE, accounts, { args, rest: sponsor(payer) });
}

/** A subscription of a wallet to a plan. */
export interface SubscriptionParties {
  subscriber: Address;
  plan: Address;
}

/** Collects an amount of the current period into a wallet's associated token account. The puller signs. */
export function collectInstruction(
  { subscriber, plan }: SubscriptionParties,
  collection: { puller: Address; receiver: Address; amount: bigint; mint: Address; tokenProgram: Address },
): Instruction {
  const { puller, mint, tokenProgram } = collection;
  const accounts = {
    subscription: findSubscriptionAddress(plan, subscriber).address,
    plan,
    authority: findAuthorityAddress(subscriber, mint).address,
    subscriberTokenAccount: associatedTokenAddress(subscriber, mint, tokenProgram),
    receiverTokenAccount: associatedTokenAddress(collection.receiver, mint, tokenProgram),
    puller,
    mint,
    tokenProgram,
    ...events,
  };
  const args = Uint8Array.of(...u64(collection.amount), ...address(subscriber), ...address(mint));
  return buildInstruction(SUBSCRIPTIONS_PROGRAM, COLLECT, accounts, { args });
}

/** Ends a subscription with its current period. The subscriber signs. */
export const cancelInstruction = ({ subscriber, plan }: SubscriptionParties): Instruction =>
  buildInstruction(SUBSCRIPTIONS_PROGRAM, CANCEL, {
    subscriber,
    plan,
    subscription: findSubscriptionAddress(plan, subscriber).address,
    ...events,
  });

/** Takes a cancellation back while the period lasts. The subscriber signs. */
export const resumeInstruction = ({ subscriber, plan }: SubscriptionParties, mint: Address): Instruction =>
  buildInstruction(SUBSCRIPTIONS_PROGRAM, RESUME, {
    subscriber,
    plan,
    subscription: findSubscriptionAddress(plan, subscriber).address,
    authority: findAuthorityAddress(subscriber, mint).address,
    ...events,
  });

/** Closes a subscription that is over. The subscriber signs; `payer` is who paid the rent, where that was another party. */
export const revokeInstruction = ({ subscriber, plan }: SubscriptionParties, payer?: Address): Instruction =>
  buildInstruction(
    SUBSCRIPTIONS_PROGRAM,
    REVOKE,
    { signer: subscriber, subscription: findSubscriptionAddress(plan, subscriber).address, plan },
    { rest: receiver(payer) },
  );
