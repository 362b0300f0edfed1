import { base58 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { AccountId, MeteredSessionId } from '#core/ids.ts';
import { spendFees } from '#features/settlements/fee-budget.ts';
import { heldKey } from '#platform/chain/fee-payer.ts';
import type { Shard } from '#platform/context.ts';
import { commit, isConstraint } from '#platform/db/commit.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import { poll } from '#platform/deadline.ts';
import type { OpenAction } from '#protocols/mpp/session.ts';
import { type Challenge, isOurs, readRequest } from '#protocols/mpp/wire.ts';
import { isOver, type OpenProblem } from '#rules/metered/channel.ts';
import type { BoundChannel, MeteredSnapshot, MeteredTerms } from '#rules/metered/rpc.ts';
import type { ChainAccount } from '#solana/chain.ts';
import {
  type AccountProblem,
  type ExpectedChannel,
  type OpeningProblem,
  type VerifiedOpening,
  verifyChannelAccount,
  verifyOpening,
} from '#solana/programs/payment-channels/opening.ts';
import { isSigningKey } from '#solana/signed/native-ed25519.ts';
import { readAccounts, readPayability } from '../channel/read.ts';
import { callSession, claimChannel, programOf, readSession, releaseLost } from '../session.ts';
import { findMeteredSession, holdsChannel, type NotedSession, noteOpening, sessionTermsOf, takeSession } from '../store.ts';

type PayoutProblem = 'payout-account-missing' | 'payer-account-missing';
type BroadcastProblem = 'simulation-failed' | 'channel-mismatch' | 'already-open';
type OpenRefusal =
  | OpenProblem
  | OpeningProblem
  | AccountProblem
  | PayoutProblem
  | BroadcastProblem
  | 'invalid-challenge'
  | 'payment-expired'
  | 'transaction-required';
type Refused = { ok: false; reason: OpenRefusal };
type Opened = { ok: true; session: MeteredSnapshot } | Refused;

/** A verified channel that may open a session. */
type FoundChannel = { ok: true; bound: BoundChannel; deposit: bigint; settled: bigint };

const refuse = (reason: OpenRefusal): Refused => ({ ok: false, reason });

/**
 * Opens a session with the channel that a credential names. The account on the chain decides. A repeated credential returns the session as
 * it is. 410 channel_closed, 429 rate_limited, 503 while the chain does not show the channel yet.
 */
export async function openSession(ctx: Shard, session: MeteredSnapshot, challenge: Challenge, action: OpenAction): Promise<Opened> {
  const { bound, sessionId, livemode } = session;
  if (!isOurs(challenge, ctx.config.CHALLENGE_KEYS!) || readRequest(challenge)?.externalId !== sessionId)
    return refuse('invalid-challenge');
  if (isOver(session)) throw new ApiError('channel_closed');
  if (bound !== null) {
    if (bound.channelId !== action.channelId) return refuse('already-open');
    if (bound.authorizedSigner !== action.authorizedSigner) return refuse('signer-mismatch');
    return isFromBeforeOpening(challenge, session) ? { ok: true, session } : refuse('already-open');
  }
  if (challenge.expires === undefined || Date.parse(challenge.expires) <= ctx.now) return refuse('payment-expired');
  if (!isSigningKey(base58.decode(action.authorizedSigner))) return refuse('signer-mismatch');
  const found = livemode ? await openOnChain(ctx, session, action) : simulateChannel(session, action);
  return found.ok ? bindChannel(ctx, session, found, challenge.id) : found;
}

/**
 * True if the challenge was issued before the session had a channel. Channel and signer are public and any caller gets a later challenge, so
 * only an earlier one proves the buyer.
 */
const isFromBeforeOpening = ({ expires }: Challenge, { expiresAt }: MeteredTerms): boolean =>
  expires !== undefined && Date.parse(expires) === expiresAt;

/** Binds the channel of an opening that was broadcast before its caller left. Returns false if the account is not that channel. */
export async function openFromChain(ctx: Shard, row: NotedSession, account: ChainAccount): Promise<boolean> {
  const terms = sessionTermsOf(row);
  const found = verifyFound(terms, row, account);
  return found.ok && (await bindChannel(ctx, terms, found, null)).ok;
}

/** Believes the credential: a sandbox channel holds no money and pays none out. */
function simulateChannel({ cap }: MeteredSnapshot, { channelId, payer, authorizedSigner, deposit }: OpenAction): FoundChannel | Refused {
  const locked = BigInt(deposit);
  if (locked > BigInt(cap)) return refuse('exceeds-cap');
  return { ok: true, bound: { channelId, payer: payer ?? null, authorizedSigner }, deposit: locked, settled: 0n };
}

async function openOnChain(ctx: Shard, session: MeteredSnapshot, action: OpenAction): Promise<FoundChannel | Refused> {
  const account = await readOpening(ctx, action);
  return account === null && action.mode === 'pull' ? createChannel(ctx, session, action) : acceptChannel(ctx, session, action, account);
}

/** Accepts a channel that is on the chain. */
async function acceptChannel(ctx: Shard, session: MeteredSnapshot, action: OpenAction, account: ChainAccount | null) {
  const found = verifyFound(session, action, account);
  if (!found.ok) return found;
  const problem = payoutProblemOf(await readPayability(ctx, session, found.bound.payer));
  return problem ? refuse(problem) : found;
}

/** Creates a channel with the buyer's transaction, which the session's operator co-signs. */
async function createChannel(ctx: Shard, session: MeteredSnapshot, action: OpenAction): Promise<FoundChannel | Refused> {
  const unpayable = payoutProblemOf(await readPayability(ctx, session, null));
  if (unpayable) return refuse(unpayable);
  if (action.transaction === undefined) return refuse('transaction-required');
  const verified = verifyOpening(action.transaction, expectedOf(session, action));
  if (!verified.ok) return verified;
  if (verified.value.channelId !== action.channelId) return refuse('channel-mismatch');
  const problem = await broadcastOpening(ctx, session, { ...verified.value, authorizedSigner: action.authorizedSigner });
  return problem ? refuse(problem) : verifyFound(session, action, await waitForChannel(ctx, action.channelId));
}

type Requested = Pick<OpenAction, 'channelId' | 'authorizedSigner'>;

const expectedOf = (session: MeteredTerms, { authorizedSigner }: Requested): ExpectedChannel => ({
  program: programOf(session),
  operator: session.operator,
  mint: session.mint,
  merchantWallet: session.merchantWallet,
  gracePeriodSeconds: session.gracePeriodSeconds,
  authorizedSigner,
  cap: BigInt(session.cap),
});

function verifyFound(session: MeteredTerms, requested: Requested, account: ChainAccount | null): FoundChannel | Refused {
  const { channelId, authorizedSigner } = requested;
  const verified = verifyChannelAccount(channelId, account, expectedOf(session, requested));
  if (!verified.ok) return verified;
  const { payer, deposit, settled } = verified.value;
  return { ok: true, bound: { channelId, payer, authorizedSigner }, deposit, settled };
}

/** The program would retain the share of a party without a token account. */
const payoutProblemOf = ({ isPayable, hasPayer }: { isPayable: boolean; hasPayer: boolean }): PayoutProblem | null => {
  if (!isPayable) return 'payout-account-missing';
  return hasPayer ? null : 'payer-account-missing';
};

const WAITS_MS = [250, 250, 400, 600, 900, 1300, 1800, 2500];
/** The node of a payer who pushed is rarely further ahead, and a stranger may name a channel that does not exist. */
const PUSHED_WAITS_MS = WAITS_MS.slice(0, 5);

const pollChannel = (ctx: Shard, channelId: string, waitsMs: readonly number[]): Promise<ChainAccount | null> =>
  poll(ctx, { waitsMs, patienceMs: ctx.config.SETTLE_PATIENCE_MS }, async () => (await readAccounts(ctx, [channelId]))[0] ?? null);

/** Reads the channel's account, and waits for one that was pushed: the payer's node may be ahead of ours. */
async function readOpening(ctx: Shard, { channelId, mode }: OpenAction): Promise<ChainAccount | null> {
  const [account = null] = await readAccounts(ctx, [channelId]);
  return account === null && mode === 'push' ? pollChannel(ctx, channelId, PUSHED_WAITS_MS) : account;
}

async function waitForChannel(ctx: Shard, channelId: string): Promise<ChainAccount> {
  const account = await pollChannel(ctx, channelId, WAITS_MS);
  if (account) return account;
  throw new ApiError('temporarily_unavailable', {
    detail: 'The opening transaction is not confirmed yet. Send the same credential again.',
    retryAfterSeconds: 2,
  });
}

type Opening = VerifiedOpening & { authorizedSigner: string };

/** Cost of an opening in fees: two signatures and, on the current program, the rent until it is reclaimed. */
const OPENING_FEES = 10;
/** Cost of another broadcast of the same channel: its rent is paid once. */
const REPEATED_FEES = 1;

/** Each broadcast spends the merchant's fees: a variant that loses still costs a network fee. */
async function broadcastOpening(ctx: Shard, session: MeteredSnapshot, opening: Opening): Promise<BroadcastProblem | null> {
  const wire = coSign(ctx, session, opening);
  const simulated = await ctx.chain.simulate(wire);
  if (simulated.kind === 'unavailable') throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  if (simulated.kind === 'failed') {
    ctx.note(`simulation: ${simulated.reason}`);
    return 'simulation-failed';
  }
  if (!(await claimChannel(ctx, session, opening.channelId))) return 'channel-mismatch';
  if (!(await noteAndSpend(ctx, session, opening))) {
    await releaseLost(ctx, session, opening.channelId);
    if (isOver(await readSession(ctx, session.sessionId))) throw new ApiError('channel_closed');
    return 'already-open';
  }
  const sent = await ctx.chain.sendTransaction(wire, { preflight: false });
  if (sent.kind !== 'sent') ctx.note(`broadcast: ${sent.reason}`);
  return null;
}

/** Throws 503 if the session's operator is no longer one of our keys. */
function coSign(ctx: Shard, { operator, sessionId }: MeteredTerms, { wire, messageBytes }: Opening): Uint8Array {
  const key = heldKey(ctx.config, 'CHANNEL_KEYS', operator);
  if (key === null) {
    ctx.note(`operator ${operator} is not in CHANNEL_KEYS: session ${sessionId} cannot be opened`);
    throw new ApiError('temporarily_unavailable', { retryAfterSeconds: 30 });
  }
  const signed = wire.slice();
  signed.set(key.sign(messageBytes), 1);
  return signed;
}

/**
 * Notes the channel in the session's row and spends the fees of the broadcast. Returns false if the session has another channel. Fees are
 * given back only if the batch was refused: after a lost answer the note may be stored.
 */
async function noteAndSpend(ctx: Shard, session: MeteredSnapshot, opening: Opening): Promise<boolean> {
  const { merchantId, livemode } = session;
  const spend = (fees: number) => spendFees(ctx, { merchantId: merchantId as AccountId, livemode, payerWallet: opening.payer }, fees);
  if (!(await holdsChannel(ctx.db, session, opening.channelId))) {
    const giveBack = await spend(OPENING_FEES);
    try {
      await commit(ctx, { events: [], writes: noteOpening(ctx, session, opening), result: null });
      return true;
    } catch (error) {
      if (!isConstraint(error)) throw error;
      await giveBack();
      if (!(await holdsChannel(ctx.db, session, opening.channelId))) return false;
    }
  }
  await spend(REPEATED_FEES);
  return true;
}

/**
 * Binds a channel to a session: claims it, takes the row, opens the object. The row comes before the object, because a session that was
 * never opened ends by its row alone. 410 channel_closed.
 */
async function bindChannel(
  ctx: Shard,
  session: Pick<MeteredTerms, 'sessionId' | 'livemode'>,
  { bound, deposit, settled }: FoundChannel,
  challengeId: string | null,
): Promise<Opened> {
  if (!(await claimChannel(ctx, session, bound.channelId))) return refuse('channel-mismatch');
  const row = await takeRow(ctx, session.sessionId, bound);
  if (typeof row === 'string') {
    await releaseLost(ctx, session, bound.channelId);
    if (row === 'channel-sealed') throw new ApiError('channel_closed');
    return refuse(row);
  }
  const opening = { ...bound, terms: sessionTermsOf(row), deposit, settled, challengeId };
  const answer = await callSession(ctx, session.sessionId, (object, caller) => object.open({ ...opening, ...caller }));
  if (answer.ok) return { ok: true, session: answer.snapshot };
  if (answer.reason === 'channel-sealed') throw new ApiError('channel_closed');
  await releaseLost(ctx, session, bound.channelId);
  return refuse(answer.reason);
}

async function takeRow(ctx: Shard, sessionId: string, bound: BoundChannel): Promise<MeteredSessionRow | OpenRefusal> {
  try {
    const row = await takeSession(ctx, sessionId, bound);
    if (row !== null) return row;
  } catch (error) {
    if (isConstraint(error)) return 'channel-mismatch';
    throw error;
  }
  const stored = await findMeteredSession(ctx.db, sessionId as MeteredSessionId);
  if (stored === null || isOver({ stage: stored.status })) return 'channel-sealed';
  if (stored.channelId === null) return 'payment-expired';
  return stored.channelId === bound.channelId ? stored : 'already-open';
}
