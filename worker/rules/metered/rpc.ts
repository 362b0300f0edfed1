import type { Customer } from '../balance.ts';
import type { Called, Projected } from '../entitlement-rpc.ts';
import type { AcceptedVoucher, ChannelStage, CommittedDelivery, MeteredChannel, OpenProblem, Reservation } from './channel.ts';
import type { CommitProblem, PresentedVoucher, ReserveProblem, VoucherProblem } from './vouchers.ts';

/** What the Worker and a metered session's object say to each other. Expected failures are answers; a rejected call is a fault. */

/** Generations of the channel program, by the names their own source gives them here. */
export type ProgramGeneration = 'current' | 'older';

/** What was agreed when the session was made, and never changes. Amounts are base units as decimal text. */
export interface MeteredTerms {
  sessionId: string;
  merchantId: string;
  livemode: boolean;
  productId: string;
  customer: Customer | null;
  cap: string;
  minVoucherDelta: string;
  /** Of one unit; null: deliveries name amounts. */
  unitPrice: string | null;
  idleSeconds: number;
  gracePeriodSeconds: number;
  generation: ProgramGeneration;
  /** Our key that pays the fees and is the channel's payee: another one could not seal it. */
  operator: string;
  merchantWallet: string;
  mint: string;
  /** Until when it can be opened. */
  expiresAt: number;
  createdAt: number;
}

/** The one channel of a session: set with its opening, and never changed. */
export interface BoundChannel {
  channelId: string;
  payer: string | null;
  authorizedSigner: string;
}

/** A session as it stands at one moment. */
export interface MeteredSnapshot extends MeteredTerms {
  stage: ChannelStage;
  bound: BoundChannel | null;
  deposit: string;
  cumulative: string;
  reserved: string;
  settled: string;
  /** When the highest voucher ends, epoch ms; null: there is none, or it never does. */
  voucherEndsAt: number | null;
  /** When it was last used; while nothing was, when it was opened. */
  usedAt: number;
  /** When it took no voucher any more. */
  closingAt: number | null;
  endedAt: number | null;
  /** Since when no look at the chain showed the channel; null: the last one did. */
  absentSince: number | null;
  version: number;
  /** Of the last change. */
  updatedAt: number;
}

/** A session that was never made, as far as its object knows: the caller loads it from the database once and asks again. */
type Unknown = { ok: false; reason: 'unknown' };

export interface DeliveryRequest extends Called {
  deliveryId: string | null;
  amount: bigint;
  /** For how long it is kept. */
  lifeMs: number;
  /** True where the merchant asks, whose key is in `operation`. */
  holdsMoney: boolean;
  /** Whether another announcement may give way, which is asked for only where many come and none is committed. */
  mayOust: boolean;
  operation: { key: string; fingerprint: string } | null;
}
/** `crowded`: another announcement would have to give way. Nothing is stored then. */
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

/** What the Worker knows of the object. The class in durable-objects/ implements it. */
export interface MeteredSessionRpc {
  /** Asking what was never opened leaves nothing behind. */
  read(called: Called): Promise<MeteredSnapshot | Unknown>;
  /**
   * Opens the session with the terms of its row, which its caller has taken for this channel. `challengeId`: of the challenge that was
   * answered; null where the chain alone tells of the opening.
   */
  open(
    opening: Called & BoundChannel & { terms: MeteredTerms; deposit: bigint; settled: bigint; challengeId: string | null },
  ): Promise<OpenAnswer>;
  /** True for the challenge that opened the session, and for a voucher above all that the chain has shown or that we were about to send there. */
  mayClose(proof: { challengeId: string | null; cumulative: bigint | null }): Promise<boolean>;
  reserve(request: DeliveryRequest): Promise<DeliveryAnswer>;
  commit(commit: Called & { deliveryId: string; voucher: PresentedVoucher }): Promise<CommitAnswer>;
  voucher(call: Called & { voucher: PresentedVoucher }): Promise<VoucherAnswer>;
  /** What the chain says of the channel. Late, doubled or out of order: harmless. */
  seen(seen: Called & { deposit: bigint; settled: bigint }): Promise<VoucherAnswer>;
  /** A look at the chain showed no channel. Answers since when none did. */
  noteAbsent(called: Called): Promise<{ ok: true; since: number } | Unknown>;
  /** No voucher is taken after it. Answers those to settle with; `voucher`: a last one that comes with it. */
  close(call: Called & { voucher: PresentedVoucher | null }): Promise<CloseAnswer>;
  /** Its channel is sealed, and nothing is left to pay out. */
  end(called: Called): Promise<VoucherAnswer>;
  /** Those to settle with, the highest first. From then on they count as public. */
  vouchers(called: Called): Promise<AcceptedVoucher[] | Unknown>;
  /** Puts the next look at its channel off, or brings it forward; null: there is nothing to look at any more. */
  lookAgain(call: { afterMs: number | null }): Promise<void>;
  published(projected: Projected): Promise<void>;

  /** Of the object that stands for a channel's address: claims it for a session, once and for ever. Answers whose it is. */
  claimChannel(sessionId: string): Promise<string>;
  /** Which session the address belongs to; null: none. */
  findSession(): Promise<string | null>;
  /** Of the same object: forgets the claim; false where it is not this session's. */
  releaseChannel(sessionId: string): Promise<boolean>;
  /** Forgets everything, for good. False, and nothing is forgotten, of a live session that is not over. */
  erase(): Promise<boolean>;
}

export type MeteredEventType = 'metered_session.opened' | 'metered_session.committed' | 'metered_session.closed';
/** What the object tells the database, by way of the queue, until it hears that the database holds it. */
export interface MeteredProjection {
  snapshot: MeteredSnapshot;
  events: { type: MeteredEventType; snapshot: MeteredSnapshot; requestId?: string | undefined }[];
}

/** Amounts as they are stored and sent. */
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
