import { ApiError } from '#core/errors.ts';
import { LIFE } from '#core/limits.ts';
import { MINUTE } from '#core/time.ts';
import type { Ctx, Scope } from '#platform/context.ts';
import { SessionAction } from '#protocols/mpp/session.ts';
import { formatReceipt, type PaymentCredential, parseCredential } from '#protocols/mpp/wire.ts';
import type { MeteredSnapshot } from '#rules/metered/rpc.ts';
import { newSessionChallenge } from '../challenge.ts';
import type { CommitReceipt } from '../resource.ts';
import { isOpened, readSession, scopeOfSession } from '../session.ts';
import { closeByBuyer } from './close.ts';
import { type CountUse, commitDelivery, takeVoucher } from './commit.ts';
import { openSession } from './open.ts';
import { topUp } from './top-up.ts';

type Done = { ok: true; session: MeteredSnapshot } | { ok: true; committed: CommitReceipt };
type Refused = { ok: false; reason: string };

/** Result of a credential, with the value of `Payment-Receipt`. */
type Authorized = Done & { receipt: string };

/**
 * Does what a credential asks for: opens, pays, tops up or closes a session. The credential is its own authority. Throws 402 with a fresh
 * challenge without one, and with `meta.reason` if it is refused. 404, 410 channel_closed, 429 rate_limited, 503.
 */
export async function authorizeSession(anywhere: Ctx, sessionId: string, header: string | undefined, count: CountUse): Promise<Authorized> {
  const session = await readSession(anywhere, sessionId);
  const ctx = await scopeOfSession(anywhere, session);
  const requested = readCredential(header);
  if (!requested.ok) throw await newPaymentRequired(ctx, session, requested.reason);
  const done = await act(ctx, session, requested, count);
  if (!done.ok) throw await newPaymentRequired(ctx, session, done.reason);
  return { ...done, receipt: receiptOf(session, requested.credential, done, ctx.now) };
}

type Requested = { ok: true; credential: PaymentCredential; action: SessionAction };

function readCredential(header: string | undefined): Requested | { ok: false; reason: string | null } {
  const credential = header === undefined ? null : parseCredential(header);
  if (credential === null || !credential.ok)
    return { ok: false, reason: credential?.reason === 'malformed' ? 'malformed-credential' : null };
  const action = SessionAction.safeParse(credential.value.payload);
  return action.success ? { ok: true, credential: credential.value, action: action.data } : { ok: false, reason: 'invalid-payload' };
}

async function act(ctx: Scope, session: MeteredSnapshot, { credential, action }: Requested, count: CountUse): Promise<Done | Refused> {
  if (action.action === 'open') return openSession(ctx, session, credential.challenge, action);
  if (!isOpened(session)) {
    if (session.stage !== 'created') throw new ApiError('channel_closed');
    return { ok: false, reason: 'not-open' };
  }
  switch (action.action) {
    case 'commit':
      return commitDelivery(ctx, session, action, count);
    case 'voucher':
      return takeVoucher(ctx, session, action.voucher);
    case 'topUp':
      return topUp(ctx, session, action);
    case 'close':
      return closeByBuyer(ctx, session, credential.challenge, action);
  }
}

/** Creates a 402 with a fresh challenge, or 410 channel_closed if the session is over. */
async function newPaymentRequired(ctx: Ctx, session: MeteredSnapshot, reason: string | null): Promise<ApiError> {
  if (['closed', 'expired', 'failed'].includes(session.stage)) return new ApiError('channel_closed');
  // An opened session never issues a challenge with its opening's expiry: that one proves the buyer.
  const { bound, expiresAt: openable } = session;
  const expiresAt = bound === null ? openable : Math.max(openable, ctx.now + LIFE.channelOpenMinutes * MINUTE) + 1;
  const challenge = await newSessionChallenge(ctx, { ...session, expiresAt });
  return new ApiError('payment_required', {
    detail:
      reason === null
        ? 'The session is not open. Answer the challenge in WWW-Authenticate.'
        : 'The credential was refused. Answer the new challenge in WWW-Authenticate.',
    headers: { 'WWW-Authenticate': challenge.header },
    meta: { ...(reason === null ? {} : { reason }), session_id: session.sessionId, challenge },
  });
}

function receiptOf(session: MeteredSnapshot, { challenge }: PaymentCredential, done: Done, at: number): string {
  const current = 'session' in done ? done.session : session;
  return formatReceipt({
    intent: 'session',
    challengeId: challenge.id,
    externalId: current.sessionId,
    reference: current.bound?.channelId ?? current.sessionId,
    acceptedCumulative: 'committed' in done ? done.committed.cumulative : current.cumulative,
    at,
  });
}
