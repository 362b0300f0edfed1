import {
  type Address,
  fixCodecSize,
  getAddressCodec,
  getArrayCodec,
  getBytesCodec,
  getI64Codec,
  getStructCodec,
  getU8Codec,
  getU64Codec,
  type ReadonlyUint8Array,
} from '@solana/kit';
import { utf8 } from '#core/encoding.ts';
import { err, ok, type Result } from '#core/errors.ts';
import { addressSeed, type DerivedAddress, findDerivedAddress, u64Seed } from '../derived-address.ts';

export const SUBSCRIPTIONS_PROGRAM = 'De1egAFMkMWZSN5rYXRj9CAdheBamobVNubTsi9avR44' as Address;
export const SUBSCRIPTIONS_EVENT_AUTHORITY = '3Hnj4BYoDgtpBuqXfiy7Y8cNa3jXaNd4oqgSXBzkMcH7' as Address;

/** The longest period of a plan: a year of 365 days. */
export const PERIOD_HOURS_MAX = 8_760n;
/** Slots of a plan for destinations, and for pullers. Empty ones hold the system program's address, 32 zero bytes. */
export const LISTED_MAX = 4;
export const METADATA_BYTES_MAX = 128;
const EMPTY = '11111111111111111111111111111111' as Address;

/** One user's account for one mint: the token program's delegate for every subscription of theirs. */
export interface SubscriptionAuthority {
  user: Address;
  mint: Address;
  /** Who gets the rent back. */
  payer: Address;
  bump: number;
  /** The slot it was made in: one that was closed and made again has another. */
  initId: bigint;
}

/** What a subscriber agrees to, and what the program compares before every collection. */
interface PlanTerms {
  amount: bigint;
  periodHours: bigint;
  /** When the plan was made, in seconds: one made again at the same address has another. */
  createdAt: bigint;
}

/** A merchant's plan. Terms, mint and destinations never change. */
export interface SubscriptionPlan extends PlanTerms {
  owner: Address;
  bump: number;
  status: 'sunset' | 'active';
  planId: bigint;
  mint: Address;
  /** The last second of the plan; 0 for no end. */
  endTs: bigint;
  /** Wallets collections may go to; none means any. */
  destinations: readonly Address[];
  /** Who may collect beside the owner. */
  pullers: readonly Address[];
  metadataUri: string;
}

/** One subscriber's subscription to one plan, with the terms as they were agreed. */
export interface Subscription extends PlanTerms {
  bump: number;
  subscriber: Address;
  plan: Address;
  /** Who gets the rent back. */
  payer: Address;
  /** That of the authority at the time of subscribing. */
  initId: bigint;
  amountPulledInPeriod: bigint;
  /** In seconds. Moves by whole periods, at collections alone. */
  currentPeriodStartTs: bigint;
  /** From this second on nothing is collected; 0 while it is not cancelled. */
  expiresAtTs: bigint;
}

export type SubscriptionAccountProblem = 'wrong_length' | 'wrong_discriminator' | 'wrong_version' | 'wrong_status';

export const ACCOUNT_KINDS = { authority: 0, plan: 1, subscription: 4 } as const;
const VERSION = 1;
const STATUSES = ['sunset', 'active'] as const;

const authorityCodec = getStructCodec([
  ['discriminator', getU8Codec()],
  ['user', getAddressCodec()],
  ['mint', getAddressCodec()],
  ['payer', getAddressCodec()],
  ['bump', getU8Codec()],
  ['initId', getI64Codec()],
]);

const listedCodec = getArrayCodec(getAddressCodec(), { size: LISTED_MAX });
const planCodec = getStructCodec([
  ['discriminator', getU8Codec()],
  ['owner', getAddressCodec()],
  ['bump', getU8Codec()],
  ['status', getU8Codec()],
  ['planId', getU64Codec()],
  ['mint', getAddressCodec()],
  ['amount', getU64Codec()],
  ['periodHours', getU64Codec()],
  ['createdAt', getI64Codec()],
  ['endTs', getI64Codec()],
  ['destinations', listedCodec],
  ['pullers', listedCodec],
  ['metadataUri', fixCodecSize(getBytesCodec(), METADATA_BYTES_MAX)],
]);

const subscriptionCodec = getStructCodec([
  ['discriminator', getU8Codec()],
  ['version', getU8Codec()],
  ['bump', getU8Codec()],
  ['subscriber', getAddressCodec()],
  ['plan', getAddressCodec()],
  ['payer', getAddressCodec()],
  ['initId', getI64Codec()],
  ['amount', getU64Codec()],
  ['periodHours', getU64Codec()],
  ['createdAt', getI64Codec()],
  ['amountPulledInPeriod', getU64Codec()],
  ['currentPeriodStartTs', getI64Codec()],
  ['expiresAtTs', getI64Codec()],
]);

export const AUTHORITY_BYTES = authorityCodec.fixedSize;
export const PLAN_BYTES = planCodec.fixedSize;
export const SUBSCRIPTION_BYTES = subscriptionCodec.fixedSize;

/** Reads the data of an account the program owns; the caller has checked the owner. */
export function decodeAuthority(data: ReadonlyUint8Array): Result<SubscriptionAuthority, SubscriptionAccountProblem> {
  if (data.length !== AUTHORITY_BYTES) return err('wrong_length');
  const { discriminator, ...authority } = authorityCodec.decode(data);
  return discriminator === ACCOUNT_KINDS.authority ? ok(authority) : err('wrong_discriminator');
}

export const encodeAuthority = (authority: SubscriptionAuthority): Uint8Array =>
  Uint8Array.from(authorityCodec.encode({ ...authority, discriminator: ACCOUNT_KINDS.authority }));

/** Reads the data of an account the program owns; the caller has checked the owner. Empty slots of both lists are left out. */
export function decodePlan(data: ReadonlyUint8Array): Result<SubscriptionPlan, SubscriptionAccountProblem> {
  if (data.length !== PLAN_BYTES) return err('wrong_length');
  const { discriminator, ...fields } = planCodec.decode(data);
  if (discriminator !== ACCOUNT_KINDS.plan) return err('wrong_discriminator');
  const status = STATUSES[fields.status];
  if (status === undefined) return err('wrong_status');
  const metadataUri = decodeMetadata(fields.metadataUri);
  return ok({ ...fields, status, destinations: withoutEmpty(fields.destinations), pullers: withoutEmpty(fields.pullers), metadataUri });
}

/** Lays a plan out as the program stores it. Its lists hold at most four addresses each, its metadata 128 bytes. */
export function encodePlan(plan: SubscriptionPlan): Uint8Array {
  const { destinations, pullers, metadataUri, status, ...fields } = plan;
  const lists = { destinations: fillSlots(destinations), pullers: fillSlots(pullers), metadataUri: encodeMetadata(metadataUri) };
  return Uint8Array.from(planCodec.encode({ ...fields, ...lists, status: STATUSES.indexOf(status), discriminator: ACCOUNT_KINDS.plan }));
}

/** Reads the data of an account the program owns; the caller has checked the owner. */
export function decodeSubscription(data: ReadonlyUint8Array): Result<Subscription, SubscriptionAccountProblem> {
  if (data.length !== SUBSCRIPTION_BYTES) return err('wrong_length');
  const { discriminator, version, ...subscription } = subscriptionCodec.decode(data);
  if (discriminator !== ACCOUNT_KINDS.subscription) return err('wrong_discriminator');
  return version === VERSION ? ok(subscription) : err('wrong_version');
}

export const encodeSubscription = (subscription: Subscription): Uint8Array =>
  Uint8Array.from(subscriptionCodec.encode({ ...subscription, version: VERSION, discriminator: ACCOUNT_KINDS.subscription }));

export const findAuthorityAddress = (user: Address, mint: Address): DerivedAddress =>
  findDerivedAddress(SUBSCRIPTIONS_PROGRAM, authoritySeeds(user, mint));

export const findPlanAddress = (owner: Address, planId: bigint): DerivedAddress =>
  findDerivedAddress(SUBSCRIPTIONS_PROGRAM, planSeeds(owner, planId));

export const findSubscriptionAddress = (plan: Address, subscriber: Address): DerivedAddress =>
  findDerivedAddress(SUBSCRIPTIONS_PROGRAM, [utf8('subscription'), addressSeed(plan), addressSeed(subscriber)]);

const authoritySeeds = (user: Address, mint: Address) => [utf8('SubscriptionAuthority'), addressSeed(user), addressSeed(mint)];
export const planSeeds = (owner: Address, planId: bigint) => [utf8('plan'), addressSeed(owner), u64Seed(planId)];

/** True where two sets of terms are the same: the program collects only then. */
export const sameTerms = (a: PlanTerms, b: PlanTerms): boolean =>
  a.amount === b.amount && a.periodHours === b.periodHours && a.createdAt === b.createdAt;

/** Fills a list up to its four slots. */
export const fillSlots = (listed: readonly Address[]): Address[] => [...listed, ...Array<Address>(LISTED_MAX - listed.length).fill(EMPTY)];

/** The addresses of a list that are not empty slots. */
export const withoutEmpty = (slots: readonly Address[]): Address[] => slots.filter((listed) => listed !== EMPTY);

/** Text as its 128 bytes, zeros after it. */
export function encodeMetadata(text: string): Uint8Array {
  const bytes = new Uint8Array(METADATA_BYTES_MAX);
  bytes.set(utf8(text));
  return bytes;
}

/** The text of 128 bytes, without the zeros after it. */
export const decodeMetadata = (bytes: ReadonlyUint8Array): string => new TextDecoder().decode(Uint8Array.from(bytes)).replace(/\0+$/, '');

/** A period of a subscription, in seconds; what was already collected in it. */
export interface Period {
  startTs: bigint;
  /** The first second after it; of a plan that ends before, the plan's last second. */
  endTs: bigint;
  amountPulled: bigint;
}

type Clocked = Pick<Subscription, 'periodHours' | 'currentPeriodStartTs' | 'amountPulledInPeriod'>;

export const periodSeconds = (periodHours: bigint): bigint => periodHours * 3_600n;

/**
 * The period a collection at `now` would belong to. Periods follow each other from the subscription's start by a fixed number of
 * hours; those without a collection are passed over and never collected later. Of a plan with an end, the period that contains
 * its last second is the last. (subscriptions program 0.4.0) `now` is not before the current period's start.
 */
export function periodAt(subscription: Clocked, plan: Pick<SubscriptionPlan, 'endTs'>, now: bigint): Period {
  const length = periodSeconds(subscription.periodHours);
  const latest = plan.endTs !== 0n && plan.endTs - 1n < now ? plan.endTs - 1n : now;
  const passed = (latest - subscription.currentPeriodStartTs) / length;
  const startTs = passed > 0n ? subscription.currentPeriodStartTs + passed * length : subscription.currentPeriodStartTs;
  const endTs = plan.endTs !== 0n && startTs + length > plan.endTs ? plan.endTs : startTs + length;
  return { startTs, endTs, amountPulled: passed > 0n ? 0n : subscription.amountPulledInPeriod };
}

/**
 * From which second on a subscription cancelled at `now` is over: the end of the period that `now` lies in, but not later than
 * the second after the plan's end. Where the plan is gone or has other terms it is over at once; `plan` is null then.
 */
export function cancellationEnd(subscription: Clocked, plan: Pick<SubscriptionPlan, 'endTs'> | null, now: bigint): bigint {
  if (plan === null) return now;
  const length = periodSeconds(subscription.periodHours);
  const elapsed = now - subscription.currentPeriodStartTs;
  const end = subscription.currentPeriodStartTs + (elapsed / length + 1n) * length;
  return plan.endTs !== 0n && plan.endTs + 1n < end ? plan.endTs + 1n : end;
}
