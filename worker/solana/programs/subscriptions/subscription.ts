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

export const PERIOD_HOURS_MAX = 8_760n;
/** Slots of a plan for destinations and for pullers. Empty slots hold the system program's address, 32 zero bytes. */
export const LISTED_MAX = 4;
export const METADATA_BYTES_MAX = 128;
const EMPTY = '11111111111111111111111111111111' as Address;

/** Account of one user for one mint: the token delegate for all the user's subscriptions. */
export interface SubscriptionAuthority {
  user: Address;
  mint: Address;
  /** Receiver of the rent. */
  payer: Address;
  bump: number;
  /** Creation slot. A recreated authority has another. */
  initId: bigint;
}

/** Terms that a subscriber consents to and the program compares before every collection. */
interface PlanTerms {
  amount: bigint;
  periodHours: bigint;
  /** Creation time of the plan in seconds. A plan recreated at the same address has another. */
  createdAt: bigint;
}

/** Plan of a merchant. Terms, mint and destinations never change. */
export interface SubscriptionPlan extends PlanTerms {
  owner: Address;
  bump: number;
  status: 'sunset' | 'active';
  planId: bigint;
  mint: Address;
  /** Last second of the plan. 0 means no end. */
  endTs: bigint;
  /** Wallets that collections may pay. Empty means any. */
  destinations: readonly Address[];
  pullers: readonly Address[];
  metadataUri: string;
}

export interface Subscription extends PlanTerms {
  bump: number;
  subscriber: Address;
  plan: Address;
  /** Receiver of the rent. */
  payer: Address;
  initId: bigint;
  amountPulledInPeriod: bigint;
  /** Seconds. Advances by full periods, only with collections. */
  currentPeriodStartTs: bigint;
  /** Second from which nothing is collected. 0 unless cancelled. */
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

/** Decodes an account owned by the program. The caller has checked the owner. */
export function decodeAuthority(data: ReadonlyUint8Array): Result<SubscriptionAuthority, SubscriptionAccountProblem> {
  if (data.length !== AUTHORITY_BYTES) return err('wrong_length');
  const { discriminator, ...authority } = authorityCodec.decode(data);
  return discriminator === ACCOUNT_KINDS.authority ? ok(authority) : err('wrong_discriminator');
}

export const encodeAuthority = (authority: SubscriptionAuthority): Uint8Array =>
  Uint8Array.from(authorityCodec.encode({ ...authority, discriminator: ACCOUNT_KINDS.authority }));

/** Decodes an account owned by the program, without empty list slots. The caller has checked the owner. */
export function decodePlan(data: ReadonlyUint8Array): Result<SubscriptionPlan, SubscriptionAccountProblem> {
  if (data.length !== PLAN_BYTES) return err('wrong_length');
  const { discriminator, ...fields } = planCodec.decode(data);
  if (discriminator !== ACCOUNT_KINDS.plan) return err('wrong_discriminator');
  const status = STATUSES[fields.status];
  if (status === undefined) return err('wrong_status');
  const metadataUri = decodeMetadata(fields.metadataUri);
  return ok({ ...fields, status, destinations: withoutEmpty(fields.destinations), pullers: withoutEmpty(fields.pullers), metadataUri });
}

/** Encodes a plan in the program's layout. Each list holds at most four addresses, the metadata 128 bytes. */
export function encodePlan(plan: SubscriptionPlan): Uint8Array {
  const { destinations, pullers, metadataUri, status, ...fields } = plan;
  const lists = { destinations: fillSlots(destinations), pullers: fillSlots(pullers), metadataUri: encodeMetadata(metadataUri) };
  return Uint8Array.from(planCodec.encode({ ...fields, ...lists, status: STATUSES.indexOf(status), discriminator: ACCOUNT_KINDS.plan }));
}

/** Decodes an account owned by the program. The caller has checked the owner. */
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

export const sameTerms = (a: PlanTerms, b: PlanTerms): boolean =>
  a.amount === b.amount && a.periodHours === b.periodHours && a.createdAt === b.createdAt;

export const fillSlots = (listed: readonly Address[]): Address[] => [...listed, ...Array<Address>(LISTED_MAX - listed.length).fill(EMPTY)];

export const withoutEmpty = (slots: readonly Address[]): Address[] => slots.filter((listed) => listed !== EMPTY);

export function encodeMetadata(text: string): Uint8Array {
  const bytes = new Uint8Array(METADATA_BYTES_MAX);
  bytes.set(utf8(text));
  return bytes;
}

export const decodeMetadata = (bytes: ReadonlyUint8Array): string => new TextDecoder().decode(Uint8Array.from(bytes)).replace(/\0+$/, '');

export interface Period {
  startTs: bigint;
  /** First second after the period. If the plan ends within it, the plan's last second. */
  endTs: bigint;
  amountPulled: bigint;
}

type Clocked = Pick<Subscription, 'periodHours' | 'currentPeriodStartTs' | 'amountPulledInPeriod'>;

export const periodSeconds = (periodHours: bigint): bigint => periodHours * 3_600n;

/**
 * Period of a collection at `now`, which is not before the current period's start. Periods have a fixed number of hours from the
 * subscription's start. Skipped ones are never collected later. The period with the plan's last second is the last. (subscriptions program
 * 0.4.0)
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
 * Second from which a subscription cancelled at `now` is over: the end of its period, at most the second after the plan's end. At once if
 * the plan was deleted or changed (`plan` null).
 */
export function cancellationEnd(subscription: Clocked, plan: Pick<SubscriptionPlan, 'endTs'> | null, now: bigint): bigint {
  if (plan === null) return now;
  const length = periodSeconds(subscription.periodHours);
  const elapsed = now - subscription.currentPeriodStartTs;
  const end = subscription.currentPeriodStartTs + (elapsed / length + 1n) * length;
  return plan.endTs !== 0n && plan.endTs + 1n < end ? plan.endTs + 1n : end;
}
