import { base58 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import type { MeteredSessionId } from '#core/ids.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Shard } from '#platform/context.ts';
import { isConstraint } from '#platform/db/commit.ts';
import type { MeteredSessionRow } from '#platform/db/tables/settlements.ts';
import type { OpenAction } from '#protocols/mpp/session.ts';
import { type Challenge, isOurs, type PaymentCredential, readRequest } from '#protocols/mpp/wire.ts';
import { isOver, type OpenProblem } from '#rules/metered/channel.ts';
import type { BoundChannel, MeteredSnapshot, MeteredTerms } from '#rules/metered/rpc.ts';
import type { ChainAccount } from '#solana/chain.ts';
import {
  type AccountProblem,
  type ExpectedChannel,
  type OpeningProblem,
  verifyChannelAccount,
  verifyOpening,
} from '#solana/programs/payment-channels/opening.ts';
import { isSigningKey } from '#solana/signed/native-ed25519.ts';
import { readAccounts, readPayability } from '../channel/look.ts';
import { claimChannel, openObject, programOf, releaseLost } from '../session.ts';
import { findMeteredSession, type NotedSession, sessionTermsOf, takeSession } from '../store.ts';
import { type BroadcastRefusal, broadcastOpening } from './broadcast.ts';

const refuse = (reason: OpenRefusal): Opened => ({ ok: false, reason });

/**
 * Opens a session with the channel that a credential brings. The same one again is answered with the session as it is. Everything is
 * judged before our key signs anything, and what counts in the end is the account on the chain. 410 channel_closed, 429 rate_limited,
 * 503 where the chain cannot tell yet: the same credential may be sent again.
 */
export async function openSession(
  ctx: Shard,
  session: MeteredSnapshot,
  { challenge }: PaymentCredential,
  action: OpenAction,
): Promise<Opened> {
  const { bound, sessionId, livemode } = session;
  if (!isOurs(challenge, ctx.config.CHALLENGE_KEYS!) || readRequest(challenge)?.externalId !== sessionId)
    return refuse('invalid-challenge');
  if (isOver(session)) throw new ApiError('channel_closed');
  if (bound !== null && bound.channelId !== action.channelId) return refuse('already-open');
  if (bound !== null && bound.authorizedSigner !== action.authorizedSigner) return refuse('signer-mismatch');
  if (bound !== null) return isOfOpening(session, challenge) ? { ok: true, session } : refuse('already-open');
  if (challenge.expires === undefined || Date.parse(challenge.expires) <= ctx.now) return refuse('payment-expired');
  if (!isSigningKey(base58.decode(action.authorizedSigner))) return refuse('signer-mismatch');
  const found = livemode ? await openOnChain(ctx, session, action) : simulate(session, action);
  if (!found.ok) return found;
  return bindChannel(ctx, session, found, challenge.id);
}

/**
 * Was this challenge told before the session had its channel? Channel and signer stand on the chain, and every caller who asks for the
 * session is told a challenge: only one from before the opening proves its buyer, at whose cost a resource serves.
 */
const isOfOpening = ({ expiresAt }: MeteredTerms, { expires }: Challenge): boolean =>
  expires !== undefined && Date.parse(expires) === expiresAt;

/** An opening that we sent and whose caller went away: its channel, as the chain shows it. False where that is not what was asked for. */
export async function openFromChain(ctx: Shard, row: NotedSession, account: ChainAccount): Promise<boolean> {
  const terms = sessionTermsOf(row);
  const found = foundIn(row, account, expectedOf(terms, row));
  return found.ok && (await bindChannel(ctx, terms, found, null)).ok;
}

type Found = FoundChannel | { ok: false; reason: OpenRefusal };

/** In the sandbox a channel is what its opener says: there is no money behind it, and none is paid out. */
function simulate({ cap }: MeteredSnapshot, { channelId, payer, authorizedSigner, deposit }: OpenAction): Found {
  const locked = BigInt(deposit);
  if (locked > BigInt(cap)) return { ok: false, reason: 'exceeds-cap' };
  return { ok: true, bound: { channelId, payer: payer ?? null, authorizedSigner }, deposit: locked, settled: 0n };
}

const expectedOf = (session: MeteredTerms, { authorizedSigner }: Pick<OpenAction, 'authorizedSigner'>): ExpectedChannel => ({
  program: programOf(session),
  operator: session.operator,
  mint: session.mint,
  merchantWallet: session.merchantWallet,
  gracePeriodSeconds: session.gracePeriodSeconds,
  authorizedSigner,
  cap: BigInt(session.cap),
});

/** The channel as it stands on the chain; in mode `pull` it is sent there first. */
async function openOnChain(ctx: Shard, session: MeteredSnapshot, action: OpenAction): Promise<Found> {
  const expected = expectedOf(session, action);
  const known = await lookForChannel(ctx, action);
  const standing = known || action.mode === 'push' ? foundIn(action, known, expected) : null;
  if (standing && !standing.ok) return standing;
  const { isPayable, hasPayer } = await readPayability(ctx, session, standing?.bound.payer);
  if (!isPayable) return { ok: false, reason: 'payout-account-missing' };
  // What is left at the end goes back there; without it the program would keep it.
  if (!hasPayer) return { ok: false, reason: 'payer-account-missing' };
  if (standing) return standing;
  if (action.transaction === undefined) return { ok: false, reason: 'transaction-required' };
  const verified = verifyOpening(action.transaction, expected);
  if (!verified.ok) return verified;
  if (verified.value.channelId !== action.channelId) return { ok: false, reason: 'channel-mismatch' };
  const refused = await broadcastOpening(ctx, session, { ...verified.value, authorizedSigner: action.authorizedSigner });
  if (refused) return { ok: false, reason: refused };
  return foundIn(action, await waitForChannel(ctx, action.channelId), expected);
}

function foundIn(
  { channelId, authorizedSigner }: Pick<OpenAction, 'channelId' | 'authorizedSigner'>,
  account: ChainAccount | null,
  expected: ExpectedChannel,
): Found {
  const verified = verifyChannelAccount(channelId, account, expected);
  if (!verified.ok) return verified;
  const { payer, deposit, settled } = verified.value;
  return { ok: true, bound: { channelId, payer, authorizedSigner }, deposit, settled };
}

const LOOKS_MS = [250, 250, 400, 600, 900, 1300, 1800, 2500];
/** Of one that was pushed: the node that its payer asked is hardly ever further ahead of ours, and a stranger may name what exists nowhere. */
const PUSHED_LOOKS_MS = LOOKS_MS.slice(0, 5);

/** Looks again after each of these times, while there is patience. null: it is not there. */
async function waitForAccount(ctx: Shard, channelId: string, looksMs: readonly number[]): Promise<ChainAccount | null> {
  let waited = 0;
  for (const wait of looksMs) {
    waited += wait;
    if (waited > ctx.config.SETTLE_PATIENCE_MS || ctx.leftMs() <= wait) break;
    await new Promise((resolve) => setTimeout(resolve, wait));
    const [account] = await readAccounts(ctx, [channelId]);
    if (account) return account;
  }
  return null;
}

/** What stands at the channel's address. One that its payer pushed was confirmed to them by another node, which ours may be behind. */
async function lookForChannel(ctx: Shard, { channelId, mode }: OpenAction): Promise<ChainAccount | null> {
  const [account = null] = await readAccounts(ctx, [channelId]);
  return account === null && mode === 'push' ? waitForAccount(ctx, channelId, PUSHED_LOOKS_MS) : account;
}

/** The account once it is there. 503 where it is not yet: the same credential may be sent again, and is followed up. */
async function waitForChannel(ctx: Shard, channelId: string): Promise<ChainAccount> {
  const account = await waitForAccount(ctx, channelId, LOOKS_MS);
  if (account) return account;
  throw new ApiError('temporarily_unavailable', {
    detail: 'The opening was sent and is not confirmed yet. Send the same credential again.',
    retryAfterSeconds: 2,
  });
}

type OpenRefusal =
  | OpenProblem
  | OpeningProblem
  | AccountProblem
  | 'invalid-challenge'
  | 'payment-expired'
  | 'transaction-required'
  | 'payout-account-missing'
  | 'payer-account-missing'
  | BroadcastRefusal;
type Opened = { ok: true; session: MeteredSnapshot } | { ok: false; reason: OpenRefusal };

/** A channel that may open a session. */
interface FoundChannel {
  ok: true;
  bound: BoundChannel;
  deposit: bigint;
  settled: bigint;
}

/**
 * Makes a channel the session's own, counted by its object. The row is taken first: a session that was never opened ends by its row alone,
 * and one that ended first opens no more. 410 channel_closed.
 */
async function bindChannel(
  ctx: Shard,
  session: Pick<MeteredTerms, 'sessionId' | 'livemode'>,
  { bound, deposit, settled }: FoundChannel,
  challengeId: string | null,
): Promise<Opened> {
  if (!(await claimChannel(ctx, session, bound.channelId))) return { ok: false, reason: 'channel-mismatch' };
  const row = await takeRow(ctx, session.sessionId, bound);
  if (typeof row === 'string') {
    await releaseLost(ctx, session, bound.channelId);
    if (row === 'channel-sealed') throw new ApiError('channel_closed');
    return { ok: false, reason: row };
  }
  const answer = await openObject(ctx, { ...bound, terms: sessionTermsOf(row), deposit, settled, challengeId, ...calledBy(ctx) });
  if (answer.ok) return { ok: true, session: answer.snapshot };
  if (answer.reason === 'channel-sealed') throw new ApiError('channel_closed');
  await releaseLost(ctx, session, bound.channelId);
  return { ok: false, reason: answer.reason };
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
