import type { Customer } from '../balance.ts';
import type { Called, Projected } from '../entitlement-rpc.ts';
import type { AcceptedVoucher, ChannelStage, CommittedDelivery, MeteredChannel, OpenProblem, Reservation } from './channel.ts';
import type { CommitProblem, PresentedVoucher, ReserveProblem, VoucherProblem } from './vouchers.ts';

/** RPC between the Worker and a metered session's object. Expected failures are answers. A rejected call is a fault. */

export type ProgramGeneration = 'current' | 'older';

/** Terms fixed at the session's creation. Amounts are base units as decimal text. */
export interface MeteredTerms {
  sessionId: string;
  merchantId: string;
  livemode: boolean;
  productId: string;
  customer: Customer | null;
  cap: string;
  minVoucherDelta: string;
  /** Price of one unit. Null if deliveries name amounts. */
  unitPrice: string | null;
  idleSeconds: number;
  gracePeriodSeconds: number;
  generation: ProgramGeneration;
  /** Key of the service that pays fees and is the channel's payee: no other payee could seal it. */
  operator: string;
  merchantWallet: string;
  mint: string;
  expiresAt: number;
  createdAt: number;
}

export interface BoundChannel {
  channelId: string;
  payer: string | null;
  authorizedSigner: string;
}

export interface MeteredSnapshot extends MeteredTerms {
  stage: ChannelStage;
  bound: BoundChannel | null;
  deposit: string;
  cumulative: string;
  reserved: string;
  settled: string;
  voucherEndsAt: number | null;
  usedAt: number;
  closingAt: number | null;
  endedAt: number | null;
  absentSince: number | null;
  version: number;
  updatedAt: number;
}

/** The object has no session. The caller loads it from the database once and repeats the call. */
type Unknown = { ok: false; reason: 'unknown' };

export interface DeliveryRequest extends Called {
  deliveryId: string | null;
  amount: bigint;
  lifeMs: number;
  /** True if the merchant reserves, with its key in `operation`. */
  holdsMoney: boolean;
  /** Allows evicting another announcement. The caller counts such announcements as a flood of the address. */
  mayOust: boolean;
  operation: { key: string; fingerprint: string } | null;
}
/** `crowded`: another announcement would be evicted. Nothing is stored then. */
export type DeliveryAnswer =
  | { ok: true; replayed: boolean; delivery: Omit<Reservation, 'holdsMoney'>; snapshot: MeteredSnapshot }
  | { ok: false; reason: ReserveProblem | 'conflict' | 'crowded' }
  | Unknown;
export type CommitAnswer =
  | { ok: true; replayed: boolean; committed: CommittedDelivery; snapshot: MeteredSnapshot }
  | { ok: false; reason: CommitProblem }
  | Unknown;
export type VoucherAnswer = { ok: true; replayed: boolean; snapshot: MeteredSnapshot } | { ok: false; reason: VoucherProblem } | Unknown;
export type OpenAnswer = { ok: true; replayed: boolean; snapshot: MeteredSnapshot } | { ok: false; reason: OpenProblem };
export type CloseAnswer =
  | { ok: true; replayed: boolean; snapshot: MeteredSnapshot; vouchers: AcceptedVoucher[] }
  | { ok: false; reason: VoucherProblem }
  | Unknown;

export interface MeteredSessionRpc {
  /** A read of an unopened session stores nothing. */
  read(called: Called): Promise<MeteredSnapshot | Unknown>;
  /**
   * Opens the session with the terms of its row, which the caller has claimed for this channel. `challengeId` is null if only the chain
   * proves the opening.
   */
  open(
    opening: Called & BoundChannel & { terms: MeteredTerms; deposit: bigint; settled: bigint; challengeId: string | null },
  ): Promise<OpenAnswer>;
  /** True for the challenge that opened the session, and for a voucher above everything settled on chain or handed out for settlement. */
  mayClose(proof: { challengeId: string | null; cumulative: bigint | null }): Promise<boolean>;
  reserve(request: DeliveryRequest): Promise<DeliveryAnswer>;
  commit(commit: Called & { deliveryId: string; voucher: PresentedVoucher }): Promise<CommitAnswer>;
  voucher(call: Called & { voucher: PresentedVoucher }): Promise<VoucherAnswer>;
  /** Applies a chain reading of the channel. Safe if late, repeated or out of order. */
  seen(seen: Called & { deposit: bigint; settled: bigint }): Promise<VoucherAnswer>;
  /** Records a chain reading without the channel. Returns the start of the absence. */
  noteAbsent(called: Called): Promise<{ ok: true; since: number } | Unknown>;
  /** Closes the session to vouchers and returns those for settlement. `voucher` is an optional last one. */
  close(call: Called & { voucher: PresentedVoucher | null }): Promise<CloseAnswer>;
  end(called: Called): Promise<VoucherAnswer>;
  /** Vouchers for settlement, highest first. They count as public from then on. */
  vouchers(called: Called): Promise<AcceptedVoucher[] | Unknown>;
  /** Reschedules the next chain check. Null cancels it. */
  checkAgain(call: { afterMs: number | null }): Promise<void>;
  /** Replaces the customer by the one that an erasure names. */
  rename(call: Called & { customer: Customer }): Promise<{ ok: true } | Unknown>;
  published(projected: Projected): Promise<void>;

  /** On the object of a channel address: claims the address for a session, once and forever. Returns the owner. */
  claimChannel(sessionId: string): Promise<string>;
  findSession(): Promise<string | null>;
  /** On the object of a channel address: deletes the claim. False if another session owns it. */
  releaseChannel(sessionId: string): Promise<boolean>;
  /** Deletes everything permanently. Returns false, without a change, for a live session that is not over. */
  erase(): Promise<boolean>;
}

export type MeteredEventType = 'metered_session.opened' | 'metered_session.committed' | 'metered_session.closed';
/** Queue message of the object, repeated until the database acknowledges it. */
export interface MeteredProjection {
  snapshot: MeteredSnapshot;
  events: { type: MeteredEventType; snapshot: MeteredSnapshot; requestId?: string | undefined }[];
}

export const toStoredChannel = (channel: MeteredChannel) => ({
  ...channel,
  deposit: channel.deposit.toString(),
  cumulative: channel.cumulative.toString(),
  settled: channel.settled.toString(),
  vouchers: channel.vouchers.map((one) => ({ ...one, cumulative: one.cumulative.toString(), expiresAt: one.expiresAt.toString() })),
  pending: channel.pending.map((one) => ({ ...one, amount: one.amount.toString() })),
});
export type StoredChannel = ReturnType<typeof toStoredChannel>;

export const fromStoredChannel = (stored: StoredChannel): MeteredChannel => ({
  ...stored,
  deposit: BigInt(stored.deposit),
  cumulative: BigInt(stored.cumulative),
  settled: BigInt(stored.settled),
  vouchers: stored.vouchers.map((one) => ({ ...one, cumulative: BigInt(one.cumulative), expiresAt: BigInt(one.expiresAt) })),
  pending: stored.pending.map((one) => ({ ...one, amount: BigInt(one.amount) })),
});
