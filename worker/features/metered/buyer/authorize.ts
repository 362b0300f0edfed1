import { ApiError } from '#core/errors.ts';
import { LIFE } from '#core/limits.ts';
import { MINUTE } from '#core/time.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { SessionAction, type SignedVoucher } from '#protocols/mpp/session.ts';
import { presentVoucher } from '#protocols/mpp/voucher.ts';
import { formatReceipt, isOurs, type PaymentCredential, parseCredential } from '#protocols/mpp/wire.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import { decodeChannel } from '#solana/programs/payment-channels/channel.ts';
import { newSessionChallenge } from '../challenge.ts';
import { closeByBuyer } from '../close.ts';
import type { CommitReceipt } from '../resource.ts';
import { callSession, isOpened, type OpenedSession, programOf, readSession, scopeOfSession, voucherForms } from '../session.ts';
import { type CountUse, commitDelivery } from './commit.ts';
import { openSession } from './open.ts';

/** What a credential brought about: the session as it is now, or what a delivery was paid with; and the value of `Payment-Receipt`. */
type Authorized = { receipt: string } & ({ session: MeteredSnapshot } | { committed: CommitReceipt });

type Done = { ok: true; session: MeteredSnapshot } | { ok: true; committed: CommitReceipt } | { ok: false; reason: string };

/**
 * Opens, pays, tops up or closes a session, as the credential says: it is its own authority. 402 payment_required without one, and where
 * it is refused, with a fresh challenge and `meta.reason`. 404, 410 channel_closed, 429 rate_limited, 503.
 */
export async function authorizeSession(anywhere: Ctx, sessionId: string, header: string | undefined, count: CountUse): Promise<Authorized> {
  const session = await readSession(anywhere, sessionId);
  const ctx = await scopeOfSession(anywhere, session);
  const credential = header === undefined ? null : parseCredential(header);
  if (credential === null || !credential.ok)
    throw await paymentRequired(ctx, session, credential?.reason === 'malformed' ? 'malformed-credential' : null);
  const action = SessionAction.safeParse(credential.value.payload);
  if (!action.success) throw await paymentRequired(ctx, session, 'invalid-payload');
  const done = await act(ctx, session, { credential: credential.value, action: action.data, count });
  if (!done.ok) throw await paymentRequired(ctx, session, done.reason);
  return { ...done, receipt: receiptOf(ctx, session, credential.value, done) };
}

interface Asked {
  credential: PaymentCredential;
  action: SessionAction;
  count: CountUse;
}

async function act(ctx: Scope, session: MeteredSnapshot, { credential, action, count }: Asked): Promise<Done> {
  if (action.action === 'open') return openSession(ctx, session, credential, action);
  if (!isOpened(session)) return notOpen(session);
  switch (action.action) {
    case 'commit': {
      const committed = await commitDelivery(ctx, session.sessionId, action, count);
      return committed.ok ? { ok: true, committed: committed.receipt } : committed;
    }
    case 'voucher':
      return takeVoucher(ctx, session, action.voucher);
    case 'topUp':
      return topUp(ctx, session, action);
    case 'close': {
      const problem = await closeProblem(ctx, session, credential, action.voucher);
      return problem === null ? closeByBuyer(ctx, session, action) : { ok: false, reason: problem };
    }
  }
}

/**
 * A session is closed by its buyer alone, while the channel's address is public. The buyer's client echoes the challenge that it opened the
 * session with, which was told to no other caller; or it shows a voucher that its key signed, and that no transaction has made public or
 * is about to.
 */
async function closeProblem(
  ctx: Scope,
  session: OpenedSession,
  { challenge }: PaymentCredential,
  signed: SignedVoucher | undefined,
): Promise<string | null> {
  const mayClose = (proof: { challengeId?: string; cumulative?: bigint }) =>
    callSession(ctx, session.sessionId, (object) => object.mayClose({ challengeId: null, cumulative: null, ...proof }));
  if (isOurs(challenge, ctx.config.CHALLENGE_KEYS!) && (await mayClose({ challengeId: challenge.id }))) return null;
  if (signed === undefined) return 'voucher-required';
  const presented = await presentVoucher(signed, { ...session.bound, forms: voucherForms(session) });
  if (!presented.ok) return presented.reason;
  const { isSigned, cumulative } = presented.voucher;
  if (!isSigned) return 'invalid-signature';
  // Where it closes already, the same credential again changes nothing.
  return session.stage !== 'open' || (await mayClose({ cumulative })) ? null : 'voucher-required';
}

function notOpen({ stage }: MeteredSnapshot): Done {
  if (stage !== 'created') throw new ApiError('channel_closed');
  return { ok: false, reason: 'not-open' };
}

/** 402 with a challenge of this moment. One that is over asks for nothing any more: 410 channel_closed. */
async function paymentRequired(ctx: Ctx, session: MeteredSnapshot, reason: string | null): Promise<ApiError> {
  if (['closed', 'expired', 'failed'].includes(session.stage)) return new ApiError('channel_closed');
  // Of a session that has its channel this is never a challenge that could have opened it: with that its buyer is served again, and closes it.
  const { bound, expiresAt: openable } = session;
  const expiresAt = bound === null ? openable : Math.max(openable, ctx.now + LIFE.channelOpenMinutes * MINUTE) + 1;
  const challenge = await newSessionChallenge(ctx, { ...session, expiresAt });
  return new ApiError('payment_required', {
    detail: reason === null ? 'Open this session: answer the challenge in WWW-Authenticate.' : 'The credential was refused.',
    headers: { 'WWW-Authenticate': challenge.header },
    meta: { ...(reason === null ? {} : { reason }), session_id: session.sessionId, challenge },
  });
}

async function takeVoucher(ctx: Ctx, session: OpenedSession, signed: SignedVoucher): Promise<Done> {
  const presented = await presentVoucher(signed, { ...session.bound, forms: voucherForms(session) });
  if (!presented.ok) return presented;
  const call = { voucher: presented.voucher, ...calledBy(ctx) };
  const answer = await callSession(ctx, session.sessionId, (object) => object.voucher(call));
  if (answer.ok) return { ok: true, session: answer.snapshot };
  if (answer.reason === 'channel-sealed') throw new ApiError('channel_closed');
  return answer;
}

function receiptOf(ctx: Ctx, session: MeteredSnapshot, { challenge }: PaymentCredential, done: Done & { ok: true }): string {
  const now = 'session' in done ? done.session : session;
  const facts = {
    intent: 'session',
    challengeId: challenge.id,
    externalId: now.sessionId,
    reference: now.bound?.channelId ?? now.sessionId,
    acceptedCumulative: 'committed' in done ? done.committed.cumulative : now.cumulative,
    at: ctx.now,
  };
  return formatReceipt(facts);
}

type ToppedUp = { ok: true; session: MeteredSnapshot } | { ok: false; reason: string };

/**
 * The buyer has added to the channel's deposit by themselves. What it is by now, the channel's account says, and never the credential: more
 * than that is refused. In the sandbox there is no account to ask. 410 channel_closed, 503 rpc_unavailable.
 */
async function topUp(ctx: Ctx, session: OpenedSession, action: { channelId: string; newDeposit: string }): Promise<ToppedUp> {
  if (action.channelId !== session.bound.channelId) return { ok: false, reason: 'channel-mismatch' };
  if (session.stage === 'closing') return { ok: false, reason: 'channel-close-pending' };
  if (session.stage !== 'open') throw new ApiError('channel_closed');
  const claimed = BigInt(action.newDeposit);
  if (claimed > BigInt(session.cap)) return { ok: false, reason: 'exceeds-cap' };
  // It is known already: no node is asked for what a caller may say without a proof.
  if (claimed <= BigInt(session.deposit)) return { ok: true, session };
  const seen = session.livemode ? await depositOf(ctx, session) : { deposit: claimed, settled: BigInt(session.settled) };
  if (seen === null || seen.deposit < claimed) return { ok: false, reason: 'exceeds-deposit' };
  const answer = await callSession(ctx, session.sessionId, (object) => object.seen({ ...seen, ...calledBy(ctx) }));
  return answer.ok ? { ok: true, session: answer.snapshot } : { ok: false, reason: answer.reason };
}

async function depositOf(ctx: Ctx, session: OpenedSession): Promise<{ deposit: bigint; settled: bigint } | null> {
  const program = programOf(session);
  const read = await ctx.chain.readAccounts([session.bound.channelId]);
  if (read.kind === 'unavailable') {
    ctx.note(`rpc: ${read.reason}`);
    throw new ApiError('rpc_unavailable', { retryAfterSeconds: 2 });
  }
  const [account] = read.accounts;
  const decoded = account && account.owner === program.address ? decodeChannel(program, account.data) : null;
  return decoded?.ok ? { deposit: decoded.value.deposit, settled: decoded.value.settled } : null;
}
