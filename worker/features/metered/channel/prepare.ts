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
import { readPayability } from './read.ts';

/** `last`: seals the channel and refunds the rest to the buyer, if every party has a token account. */
export type SettlementStep = 'settle' | 'last';

/** Amounts that the program has accepted and paid out. In the sandbox both are the settled total. */
export type Watermarks = Pick<Channel, 'settled' | 'payoutWatermark'>;

/** `channel`: null in the sandbox. `vouchers`: the highest first. */
interface Settleable {
  channel: Channel | null;
  watermarks: Watermarks;
  vouchers: AcceptedVoucher[];
  step: SettlementStep;
}

/** `settlesTo`: total that the voucher settles. `units`: what the settlement pays out. */
export interface ReadySettlement {
  kind: 'prepared';
  wire: Uint8Array;
  lastValidBlockHeight: number;
  settlesTo: bigint;
  units: bigint;
  nonce: string;
}
export type NotReady = { kind: 'nothing' | 'refused' | 'waiting' };

/**
 * Builds the next transaction of a channel. `nothing`: none is needed. `refused`: none passes simulation. `waiting`: a party lacks its token
 * account. 503 rpc_unavailable.
 */
export async function prepareSettlement(ctx: Scope, session: OpenedSession, settleable: Settleable): Promise<ReadySettlement | NotReady> {
  const { channel, watermarks } = settleable;
  const vouchers = channel?.status === 'sealed' ? [] : settleable.vouchers.filter(({ cumulative }) => cumulative > watermarks.settled);
  const shape = await chooseShape(ctx, session, settleable, vouchers[0]?.cumulative ?? watermarks.settled);
  if (shape === null) return { kind: 'waiting' };
  const candidates = listCandidates(ctx.now, vouchers, shape, settleable).map((candidate) => {
    const settlesTo = candidate.voucher?.cumulative ?? watermarks.settled;
    return { ...candidate, settlesTo, units: shape.pays ? settlesTo - watermarks.payoutWatermark : 0n };
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
  const { NETWORK: network } = ctx.config;
  for (const candidate of useful) {
    const nonce = base64url.encode(crypto.getRandomValues(new Uint8Array(16)));
    const wire = await buildTransaction(session, { ...candidate, ...shape, network, channel, nonce, operator }, prepared.lifetime);
    const simulated = await ctx.chain.simulate(wire);
    const { settlesTo, units } = candidate;
    if (simulated.kind === 'passed')
      return { kind: 'prepared', wire, lastValidBlockHeight: simulated.lastValidBlockHeight, settlesTo, units, nonce };
    ctx.note(`session ${session.sessionId}: ${shape.seals ? 'seal' : 'settle'} ${simulated.kind}: ${simulated.reason}`);
    if (simulated.kind === 'unavailable') break;
  }
  return { kind: 'refused' };
}

interface Shape {
  seals: boolean;
  pays: boolean;
}

/** Time after which a sealed channel is distributed although the buyer has no account and forfeits the refund. */
const PAYER_AWAY_MS = DAY;

/**
 * Decides whether to seal and to pay out. A share without an account is forfeited. An open channel pays the merchant alone, so it is
 * distributed before the seal if the buyer has no account. Returns null if the channel has to wait.
 */
async function chooseShape(ctx: Scope, session: OpenedSession, { channel, step }: Settleable, settlesTo: bigint): Promise<Shape | null> {
  if (channel === null) return { seals: step === 'last', pays: true };
  const { isPayable, hasPayer } = await readPayability(ctx, session, channel.payer);
  if (!isPayable) ctx.note(`session ${session.sessionId}: a payee has no usable token account, so the channel cannot be paid out`);
  if (step === 'settle') return { seals: false, pays: isPayable };
  if (isPayable && (hasPayer || channel.settled === channel.deposit)) return { seals: true, pays: true };
  if (!hasPayer) ctx.note(`session ${session.sessionId}: the payer has no usable token account, so its refund waits`);
  const isOwed = isPayable && settlesTo > channel.payoutWatermark;
  if (isOwed && channel.status === 'open') return { seals: false, pays: true };
  if (channel.status !== 'sealed') return { seals: true, pays: false };
  return isOwed && ctx.now >= (session.closingAt ?? session.usedAt) + PAYER_AWAY_MS ? { seals: true, pays: true } : null;
}

interface Candidate {
  voucher: AcceptedVoucher | null;
  isGraceOver: boolean;
}

/**
 * Lists the transactions to try, the best first. A lower voucher is tried only if the one before has ended. A seal without a voucher comes
 * last: the program refuses it until the grace period is over, so our clock does not decide.
 */
function listCandidates(now: number, vouchers: AcceptedVoucher[], { seals }: Shape, { channel }: Settleable): Candidate[] {
  const lasting = vouchers.findIndex(({ expiresAt }) => expiresAt === 0n || expiresAt > BigInt(unixSeconds(now)));
  const tried = lasting === -1 ? [...vouchers, null] : vouchers.slice(0, lasting + 1);
  const candidates = tried.map((voucher) => ({ voucher, isGraceOver: false }));
  return seals && channel?.status === 'closing' ? [...candidates, { voucher: null, isGraceOver: true }] : candidates;
}

interface Building extends Candidate, Shape {
  network: Settling['network'];
  channel: Channel | null;
  units: bigint;
  nonce: string;
  operator: SigningKey;
}

async function buildTransaction(session: OpenedSession, building: Building, lifetime: Lifetime): Promise<Uint8Array> {
  const { network, channel, voucher, units, nonce, operator, seals, pays, isGraceOver } = building;
  const { bound, merchantWallet, mint } = session;
  const memo = `svc:${nonce}`;
  if (channel === null) return buildSimulated({ channelId: bound.channelId, merchantWallet, mint, units, memo }, lifetime, operator);
  const settling: Settling = {
    program: programOf(session),
    channelId: bound.channelId,
    channel,
    merchantWallet,
    network,
    voucher: voucher && { ...voucher, signature: base58.decode(voucher.signature) },
    memo: units > 0n ? memo : null,
  };
  return seals ? buildSeal({ ...settling, isGraceOver }, lifetime, operator, pays) : buildSettle(settling, lifetime, operator, pays);
}

interface SimulatedPayout {
  channelId: string;
  merchantWallet: string;
  mint: string;
  units: bigint;
  memo: string;
}

/** Builds a plain transfer from the channel's escrow, which replaces the distribution in the sandbox: no program runs there. */
async function buildSimulated(
  { channelId, merchantWallet, mint, units, memo }: SimulatedPayout,
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
