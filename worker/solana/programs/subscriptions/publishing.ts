import type { Address } from '@solana/kit';
import { sha256 } from '#core/crypto.ts';
import { canonicalJson, utf8 } from '#core/encoding.ts';
import { TOKEN_PROGRAM } from '../../assets.ts';
import { buildUnsigned, type Lifetime } from '../../checkout-transaction.ts';
import { createPlanInstruction, type NewPlan } from './instructions.ts';
import { findPlanAddress, METADATA_BYTES_MAX, PERIOD_HOURS_MAX, type SubscriptionPlan } from './subscription.ts';

export interface ProductPlan {
  productId: string;
  mint: Address;
  amount: bigint;
  periodDays: number;
  merchant: Address;
  puller: Address;
  page: string;
}

export interface DraftPlan {
  address: Address;
  plan: NewPlan;
}

const HOURS_A_DAY = 24n;

/**
 * Plan for these terms. The id is derived from the terms: other terms are another plan at another address, and equal terms are the existing
 * one. The plan pays only the merchant, only the service collects, and it has no end.
 */
export function draftPlan({ productId, mint, amount, periodDays, merchant, puller, page }: ProductPlan): DraftPlan {
  const periodHours = BigInt(periodDays) * HOURS_A_DAY;
  const identity = canonicalJson([productId, mint, amount.toString(), periodHours.toString(), merchant, puller]);
  const digest = sha256(utf8(identity));
  const planId = new DataView(digest.buffer, digest.byteOffset).getBigUint64(0, true);
  const metadataUri = utf8(page).length > METADATA_BYTES_MAX ? '' : page;
  const terms = { mint, amount, periodHours, endTs: 0n, destinations: [merchant], pullers: [puller], metadataUri };
  return { address: findPlanAddress(merchant, planId).address, plan: { owner: merchant, planId, ...terms } };
}

export const isPeriod = (days: number | null): days is number =>
  days !== null && days >= 1 && BigInt(days) * HOURS_A_DAY <= PERIOD_HOURS_MAX;

type PlanDifference = 'owner' | 'plan_id' | 'mint' | 'amount' | 'period_hours' | 'end' | 'destinations' | 'pullers' | 'metadata';

/** Lists the fields of a plan on chain that differ from the expected ones, except status and creation time. */
export function findDifferences(plan: SubscriptionPlan, wanted: NewPlan): PlanDifference[] {
  const same = (a: readonly Address[], b: readonly Address[]) => a.length === b.length && a.every((listed, index) => listed === b[index]);
  const differs: [PlanDifference, boolean][] = [
    ['owner', plan.owner !== wanted.owner],
    ['plan_id', plan.planId !== wanted.planId],
    ['mint', plan.mint !== wanted.mint],
    ['amount', plan.amount !== wanted.amount],
    ['period_hours', plan.periodHours !== wanted.periodHours],
    ['end', plan.endTs !== wanted.endTs],
    ['destinations', !same(plan.destinations, wanted.destinations)],
    ['pullers', !same(plan.pullers, wanted.pullers)],
    ['metadata', plan.metadataUri !== wanted.metadataUri],
  ];
  return differs.filter(([, isOther]) => isOther).map(([field]) => field);
}

/** Builds the transaction with which the merchant's wallet publishes a plan at its own expense: v0, base64 wire form, unsigned. */
export const buildPlanTransaction = ({ plan }: DraftPlan, lifetime: Lifetime): string =>
  buildUnsigned(plan.owner, [createPlanInstruction(plan, TOKEN_PROGRAM as Address)], lifetime);
