import { type Address, address, createNoopSigner } from '@solana/kit';
import { getAddMemoInstruction } from '@solana-program/memo';
import { getTransferCheckedInstruction } from '@solana-program/token';
import type { SigningKey } from '#core/crypto.ts';
import { base58, base64url } from '#core/encoding.ts';
import { DECIMALS } from '#core/money.ts';
import { DAY, unixSeconds } from '#core/time.ts';
import { heldKey } from '#platform/chain/fee-payer.ts';
import type { Scope } from '#platform/context.ts';
import type { AcceptedVoucher } from '#rules/metered/channel.ts';
import { MEMO_PROGRAM } from '#solana/assets.ts';
import { associatedTokenAccount, type Lifetime } from '#solana/checkout-transaction.ts';
import { type Operator, signed } from '#solana/programs/own-transaction.ts';
import type { Channel } from '#solana/programs/payment-channels/channel.ts';
import { buildSeal, buildSettle, type Settling } from '#solana/programs/payment-channels/settlement.ts';
import { type OpenedSession, programOf } from '../session.ts';
import { readPayability } from './look.ts';

/** `last`: the channel is sealed, and what is left goes back to the buyer, as far as every party has an account to be paid to. */
export type SettlementStep = 'settle' | 'last';

/** What a channel has paid out by now, and what its program has accepted; in the sandbox what we settled there is both. */
export type Watermarks = Pick<Channel, 'settled' | 'payoutWatermark'>;

/** What is to be settled. `channel`: its account as it was just read; null in the sandbox. `vouchers`: the highest first. */
interface Settleable {
  channel: Channel | null;
  stands: Watermarks;
  vouchers: AcceptedVoucher[];
  step: SettlementStep;
}

/** A transaction of ours that would succeed now. `reached`: what is settled once it lands; `units`: what it pays out. */
export interface ReadySettlement {
  kind: 'prepared';
  wire: Uint8Array;
  lastValidBlockHeight: number;
  reached: bigint;
  units: bigint;
  nonce: string;
}
export type NotReady = { kind: 'nothing' | 'refused' | 'waiting' };

/**
 * Builds what a channel needs next. `nothing`: it needs none; `refused`: no form of it would succeed now; `waiting`: nothing can be paid out
 * until a party has its token account again. 503 rpc_unavailable.
 */
export async function prepareSettlement(ctx: Scope, session: OpenedSession, settleable: Settleable): Promise<ReadySettlement | NotReady> {
  const { channel, stands } = settleable;
  const vouchers = channel?.status === 'sealed' ? [] : settleable.vouchers.filter(({ cumulative }) => cumulative > stands.settled);
  const shape = await shapeOf(ctx, session, settleable, vouchers[0]?.cumulative ?? stands.settled);
  if (shape === null) return { kind: 'waiting' };
  const candidates = candidatesOf(ctx, vouchers, shape, settleable).map((candidate) => {
    const reached = candidate.voucher?.cumulative ?? stands.settled;
    return { ...candidate, reached, units: shape.pays ? reached - stands.payoutWatermark : 0n };
  });
  const useful = candidates.filter(({ voucher, units }) => units > 0n || (channel !== null && (shape.seals || voucher !== null)));
  if (useful.length === 0) return { kind: 'nothing' };
  const operator = heldKey(ctx.config, 'CHANNEL_KEYS', session.operator);
  if (operator === null) {
    ctx.note(`operator ${session.operator} is not in CHANNEL_KEYS: session ${session.sessionId} cannot be settled`);
    return { kind: 'refused' };
  }
  const prepared = await ctx.chain.prepare([]);
  if (prepared.kind === 'unavailable') {
    ctx.note(`rpc: ${prepared.reason}`);
    return { kind: 'refused' };
  }
  for (const candidate of useful) {
    const nonce = base64url.encode(crypto.getRandomValues(new Uint8Array(16)));
    const wire = await build(ctx, session, { ...candidate, ...shape, channel, nonce, operator }, prepared.lifetime);
    const simulated = await ctx.chain.simulate(wire);
    const { reached, units } = candidate;
    if (simulated.kind === 'passed')
      return { kind: 'prepared', wire, lastValidBlockHeight: simulated.lastValidBlockHeight, reached, units, nonce };
    ctx.note(`session ${session.sessionId}: ${shape.seals ? 'seal' : 'settle'} ${simulated.kind}: ${simulated.reason}`);
    if (simulated.kind === 'unavailable') break;
  }
  return { kind: 'refused' };
}

/** Whether it seals the channel, and whether it pays out. */
interface Shape {
  seals: boolean;
  pays: boolean;
}

/** A merchant who could not be paid before the seal is paid after this time, and what the buyer had no account for is forfeited. */
const PAYER_AWAY_MS = DAY;

/**
 * Pays out only where every share reaches its owner, because what finds no account is forfeited. While a channel is open its distribution
 * pays the merchant alone, so one whose buyer has no account is distributed first and then sealed, and the refund waits for the account.
 * null: nothing more can be done for now.
 */
async function shapeOf(ctx: Scope, session: OpenedSession, { channel, step }: Settleable, reached: bigint): Promise<Shape | null> {
  if (channel === null) return { seals: step === 'last', pays: true };
  const { isPayable, hasPayer } = await readPayability(ctx, session, channel.payer);
  if (!isPayable) ctx.note(`session ${session.sessionId}: a payee has no usable token account, so its channel is not paid out`);
  if (step === 'settle') return { seals: false, pays: isPayable };
  if (isPayable && (hasPayer || channel.settled === channel.deposit)) return { seals: true, pays: true };
  if (!hasPayer) ctx.note(`session ${session.sessionId}: the payer has no usable token account, so its refund waits`);
  const isOwed = isPayable && reached > channel.payoutWatermark;
  if (isOwed && channel.status === 'open') return { seals: false, pays: true };
  if (channel.status !== 'sealed') return { seals: true, pays: false };
  return isOwed && ctx.now >= (session.closingAt ?? session.usedAt) + PAYER_AWAY_MS ? { seals: true, pays: true } : null;
}

interface Candidate {
  voucher: AcceptedVoucher | null;
  isGraceOver: boolean;
}

/**
 * What is tried, the best first. A lower voucher, or none, is only tried where the one before has ended; and the seal that takes no voucher
 * last, which the program itself refuses until the grace period is over, so that our clock decides nothing of it.
 */
function candidatesOf(ctx: Scope, vouchers: AcceptedVoucher[], { seals }: Shape, { channel }: Settleable): Candidate[] {
  const lasting = vouchers.findIndex(({ expiresAt }) => expiresAt === 0n || expiresAt > BigInt(unixSeconds(ctx.now)));
  const tried = lasting === -1 ? [...vouchers, null] : vouchers.slice(0, lasting + 1);
  const candidates = tried.map((voucher) => ({ voucher, isGraceOver: false }));
  return seals && channel?.status === 'closing' ? [...candidates, { voucher: null, isGraceOver: true }] : candidates;
}

interface Building extends Candidate, Shape {
  channel: Channel | null;
  units: bigint;
  nonce: string;
  operator: SigningKey;
}

async function build(ctx: Scope, session: OpenedSession, building: Building, lifetime: Lifetime): Promise<Uint8Array> {
  const { channel, voucher, units, nonce, operator, seals, pays, isGraceOver } = building;
  const { bound, merchantWallet, mint } = session;
  const memo = `svc:${nonce}`;
  if (channel === null) return buildStandIn({ channelId: bound.channelId, merchantWallet, mint, units, memo }, lifetime, operator);
  const settling: Settling = {
    program: programOf(session),
    channelId: bound.channelId,
    channel,
    merchantWallet,
    network: ctx.config.NETWORK,
    voucher: voucher && { ...voucher, signature: base58.decode(voucher.signature) },
    memo: units > 0n ? memo : null,
  };
  return seals ? buildSeal({ ...settling, isGraceOver }, lifetime, operator, pays) : buildSettle(settling, lifetime, operator, pays);
}

/**
 * What stands for the distribution of a channel in the sandbox, where no program runs: the same money by a plain transfer from the
 * channel's escrow, so that whatever judges, records and watches a settlement is the code of live ones. Signed; the wire form.
 */
async function buildStandIn(
  {
    channelId,
    merchantWallet,
    mint,
    units,
    memo,
  }: { channelId: string; merchantWallet: string; mint: string; units: bigint; memo: string },
  lifetime: Lifetime,
  operator: Operator,
): Promise<Uint8Array> {
  const [source, destination] = await Promise.all([channelId, merchantWallet].map((owner) => associatedTokenAccount(owner, mint)));
  const transfer = getTransferCheckedInstruction({
    source: address(source!),
    mint: address(mint),
    destination: address(destination!),
    authority: createNoopSigner(base58.encode(operator.publicKey) as Address),
    amount: units,
    decimals: DECIMALS.USDC,
  });
  return signed([transfer, getAddMemoInstruction({ memo }, { programAddress: MEMO_PROGRAM as Address })], lifetime, operator);
}
