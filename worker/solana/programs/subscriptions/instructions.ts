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

export interface AuthorityOwner {
  user: Address;
  mint: Address;
  tokenProgram: Address;
}

export type NewPlan = Omit<SubscriptionPlan, 'bump' | 'status' | 'createdAt'>;

export type PlanChange = Pick<SubscriptionPlan, 'status' | 'endTs' | 'pullers' | 'metadataUri'>;

export type AskedPlan = Pick<SubscriptionPlan, 'owner' | 'planId' | 'bump' | 'mint' | 'amount' | 'periodHours' | 'createdAt'>;

const events = { eventAuthority: SUBSCRIPTIONS_EVENT_AUTHORITY, program: SUBSCRIPTIONS_PROGRAM };
const u64 = (value: bigint) => getU64Encoder().encode(value);
const i64 = (value: bigint) => getI64Encoder().encode(value);
const address = (value: Address) => getAddressEncoder().encode(value);
const addresses = (slots: readonly Address[]) => fillSlots(slots).flatMap((slot) => [...address(slot)]);
const sponsor = (payer?: Address): AccountMeta[] => (payer === undefined ? [] : [{ address: payer, role: SIGNER_WRITABLE }]);
const receiver = (payer?: Address): AccountMeta[] => (payer === undefined ? [] : [{ address: payer, role: WRITABLE }]);

/**
 * Approves a user's authority as delegate of their token account for any amount, and creates the authority if missing. The user signs, and
 * the sponsor if one pays the rent.
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

/** Closes a user's authority without touching the token account. `payer` is the rent payer if not the user. */
export const closeAuthorityInstruction = ({ user, mint }: AuthorityOwner, payer?: Address): Instruction =>
  buildInstruction(
    SUBSCRIPTIONS_PROGRAM,
    CLOSE_AUTHORITY,
    { user, authority: findAuthorityAddress(user, mint).address },
    { rest: receiver(payer) },
  );

/** Revokes the delegate if it is the user's authority, and closes the authority. `payer` as in closing. */
export function revokeAuthorityInstruction({ user, mint, tokenProgram }: AuthorityOwner, payer?: Address): Instruction {
  const userTokenAccount = associatedTokenAddress(user, mint, tokenProgram);
  const accounts = { user, userTokenAccount, mint, tokenProgram, authority: findAuthorityAddress(user, mint).address };
  return buildInstruction(SUBSCRIPTIONS_PROGRAM, REVOKE_AUTHORITY, accounts, { rest: receiver(payer) });
}

export function createPlanInstruction(plan: NewPlan, tokenProgram: Address): Instruction {
  const { owner, planId, mint } = plan;
  const accounts = { owner, plan: findPlanAddress(owner, planId).address, mint, systemProgram: SYSTEM_PROGRAM, tokenProgram };
  const args = Uint8Array.of(
    ...u64(planId),
    ...address(mint),
    ...u64(plan.amount),
    ...u64(plan.periodHours),
    // Creation time: the program overwrites it with its own clock.
    ...i64(0n),
    ...i64(plan.endTs),
    ...addresses(plan.destinations),
    ...addresses(plan.pullers),
    ...encodeMetadata(plan.metadataUri),
  );
  return buildInstruction(SUBSCRIPTIONS_PROGRAM, CREATE_PLAN, accounts, { args });
}

export function updatePlanInstruction(owner: Address, planId: bigint, change: PlanChange): Instruction {
  const args = Uint8Array.of(
    ...getU8Encoder().encode(change.status === 'active' ? 1 : 0),
    ...i64(change.endTs),
    ...addresses(change.pullers),
    ...encodeMetadata(change.metadataUri),
  );
  return buildInstruction(SUBSCRIPTIONS_PROGRAM, UPDATE_PLAN, { owner, plan: findPlanAddress(owner, planId).address, ...events }, { args });
}

export const deletePlanInstruction = (owner: Address, planId: bigint): Instruction =>
  buildInstruction(SUBSCRIPTIONS_PROGRAM, DELETE_PLAN, { owner, plan: findPlanAddress(owner, planId).address });

/** Subscribes to exactly these terms, under the authority with exactly this id. The subscriber signs, and a sponsor if any. */
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

export interface SubscriptionParties {
  subscriber: Address;
  plan: Address;
}

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

export const cancelInstruction = ({ subscriber, plan }: SubscriptionParties): Instruction =>
  buildInstruction(SUBSCRIPTIONS_PROGRAM, CANCEL, {
    subscriber,
    plan,
    subscription: findSubscriptionAddress(plan, subscriber).address,
    ...events,
  });

export const resumeInstruction = ({ subscriber, plan }: SubscriptionParties, mint: Address): Instruction =>
  buildInstruction(SUBSCRIPTIONS_PROGRAM, RESUME, {
    subscriber,
    plan,
    subscription: findSubscriptionAddress(plan, subscriber).address,
    authority: findAuthorityAddress(subscriber, mint).address,
    ...events,
  });

/** Closes an ended subscription. The subscriber signs. `payer` is the rent payer if another party. */
export const revokeInstruction = ({ subscriber, plan }: SubscriptionParties, payer?: Address): Instruction =>
  buildInstruction(
    SUBSCRIPTIONS_PROGRAM,
    REVOKE,
    { signer: subscriber, subscription: findSubscriptionAddress(plan, subscriber).address, plan },
    { rest: receiver(payer) },
  );
