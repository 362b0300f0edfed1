import { ApiError, objectAway, raise, storyOf } from '#core/errors.ts';
import { type AccountId, isMeteredSessionId, type MeteredSessionId } from '#core/ids.ts';
import { Memory } from '#core/isolate/memory.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import { scopeOf } from '#platform/chain/scope.ts';
import type { Actor, Ctx, Scope } from '#platform/context.ts';
import { findAnywhere } from '#platform/db/directory.ts';
import { meteredObject } from '#platform/objects.ts';
import { isOver } from '#rules/metered/channel.ts';
import type { MeteredSessionRpc, MeteredSnapshot, MeteredTerms, OpenAnswer, ProgramGeneration } from '#rules/metered/rpc.ts';
import { CHANNEL_PROGRAMS, type ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { findMeteredSession, sessionSnapshotOf } from './store.ts';

/** The chain, the configuration and the clock a session goes by. */
export function scopeOfSession(ctx: Ctx, { merchantId, livemode, customer }: MeteredTerms): Promise<Scope> {
  const customerRef = customer !== null && 'customerRef' in customer ? customer.customerRef : null;
  return scopeOf(ctx, { merchantId: merchantId as AccountId, livemode, customerRef });
}

async function call<T>(ctx: Ctx, name: string, ask: (object: MeteredSessionRpc) => Promise<T>): Promise<T> {
  try {
    return await ask(meteredObject(ctx, name));
  } catch (error) {
    ctx.note(`object: ${storyOf(error)}`);
    throw objectAway(error);
  }
}

type Unknown = { ok: false; reason: 'unknown' };
const isUnknown = (answer: unknown): answer is Unknown => (answer as Unknown | null | undefined)?.reason === 'unknown';

/**
 * Asks the object of a session that was opened, which is named by the session's id alone, so that nothing has to be looked up. null where it
 * knows nothing, as of every session that was never opened. 404 for what is no id of a session; 503 where the object is out of reach, and the
 * call may be repeated.
 */
export async function askSession<T>(
  ctx: Ctx,
  sessionId: string,
  ask: (object: MeteredSessionRpc) => Promise<T | Unknown>,
): Promise<Exclude<T, Unknown> | null> {
  if (!isMeteredSessionId(sessionId)) throw new ApiError('not_found');
  const answer = await call(ctx, sessionId, ask);
  return isUnknown(answer) ? null : (answer as Exclude<T, Unknown>);
}

/** The same where the session has to be one that was opened. 404. */
export const callSession = async <T>(ctx: Ctx, sessionId: string, ask: (object: MeteredSessionRpc) => Promise<T | Unknown>) =>
  (await askSession<T>(ctx, sessionId, ask)) ?? raise('not_found');

/** A session as it is this moment: by its object, or by its row until it is opened. 404. */
export async function readSession(ctx: Ctx, sessionId: string): Promise<MeteredSnapshot> {
  const known = await askSession<MeteredSnapshot>(ctx, sessionId, (object) => object.read(calledBy(ctx)));
  if (known !== null) return known;
  const row = await findAnywhere(ctx, ({ db }) => findMeteredSession(db, sessionId as MeteredSessionId));
  return sessionSnapshotOf(row ?? raise('not_found'));
}

/** Opens a session; its row was taken for this channel. */
export const openObject = (ctx: Ctx, opening: Parameters<MeteredSessionRpc['open']>[0]): Promise<OpenAnswer> =>
  call(ctx, opening.terms.sessionId, (object) => object.open(opening));

/** Puts the next look at a session's channel off; null: nothing of it is left to look at. */
export const lookAgain = (ctx: Ctx, { sessionId }: Pick<MeteredTerms, 'sessionId'>, afterMs: number | null): Promise<void> =>
  call(ctx, sessionId, (object) => object.lookAgain({ afterMs }));

/** The same for its merchant alone: 404 for every other caller. */
export async function readOwnSession(ctx: Ctx, actor: Actor, sessionId: string): Promise<MeteredSnapshot> {
  const session = await readSession(ctx, sessionId);
  if (session.merchantId !== actor.accountId || session.livemode !== actor.livemode) throw new ApiError('not_found');
  return session;
}

/** What never changes of a session that has its channel. */
export type OpenedSession = MeteredSnapshot & { bound: NonNullable<MeteredSnapshot['bound']> };
export const isOpened = (session: MeteredSnapshot): session is OpenedSession => session.bound !== null;

const OPENED_MAX = 5_000;
const opened = new Memory<string, OpenedSession>(OPENED_MAX);

/** Terms and channel of a session, remembered once it has one: they never change. What it counts is by now as much or more. 404. */
export async function recallSession(ctx: Ctx, sessionId: string): Promise<MeteredSnapshot> {
  const known = opened.get(sessionId);
  if (known) return known;
  const session = await readSession(ctx, sessionId);
  rememberSession(session);
  return session;
}

export function rememberSession(session: MeteredSnapshot): void {
  if (isOpened(session)) opened.set(session.sessionId, session);
}

const sessionsByChannel = new Memory<string, string>(OPENED_MAX);

/**
 * The session of a channel, by an object that stands for its address. That of a live session is remembered. A sandbox, where anyone may name
 * an address, is asked only while no live session has it. 404.
 */
export async function sessionOfChannel(ctx: Ctx, channelId: string): Promise<string> {
  const known = sessionsByChannel.get(channelId);
  if (known !== undefined) return known;
  const live = await findClaim(ctx, { livemode: true }, channelId);
  if (live === null) return (await findClaim(ctx, { livemode: false }, channelId)) ?? raise('not_found');
  sessionsByChannel.set(channelId, live);
  return live;
}

/** The session that has claimed a channel in this mode; null: none has. */
const findClaim = (ctx: Ctx, mode: { livemode: boolean }, channelId: string): Promise<string | null> =>
  call(ctx, channelObjectName(mode, channelId), (object) => object.findSession());

/** Makes a channel this session's; false where it is another one's. A claim of the sandbox, where no channel exists, is none in live mode. */
export const claimChannel = async (ctx: Ctx, session: Pick<MeteredTerms, 'sessionId' | 'livemode'>, channelId: string): Promise<boolean> =>
  (await call(ctx, channelObjectName(session, channelId), (object) => object.claimChannel(session.sessionId))) === session.sessionId;

/** Takes a claim back, of a channel that never became the session's, or whose session is forgotten. Harmless for that of another session. */
export const releaseChannel = (ctx: Ctx, session: Pick<MeteredTerms, 'sessionId' | 'livemode'>, channelId: string): Promise<boolean> =>
  call(ctx, channelObjectName(session, channelId), (object) => object.releaseChannel(session.sessionId));

/**
 * Takes back the claim of a channel that can become the session's no more: it has another one, or is over. Until then another call may be
 * opening it with this very one, and two sessions of one channel would be paid by the same vouchers.
 */
export async function releaseLost(
  ctx: Ctx,
  { sessionId, livemode }: Pick<MeteredTerms, 'sessionId' | 'livemode'>,
  channelId: string,
): Promise<void> {
  const session = await readSession(ctx, sessionId);
  const isLost = session.bound === null ? isOver(session) : session.bound.channelId !== channelId;
  if (isLost) await releaseChannel(ctx, { sessionId, livemode }, channelId);
}

const channelObjectName = ({ livemode }: Pick<MeteredTerms, 'livemode'>, channelId: string): string =>
  `channel:${livemode ? 'live' : 'sandbox'}:${channelId}`;

export const programOf = ({ generation }: { generation: ProgramGeneration }): ChannelProgram => CHANNEL_PROGRAMS[generation];

/** The forms of a voucher that can be settled; in the sandbox nothing is, so either will do. */
export const voucherForms = (session: { livemode: boolean; generation: ProgramGeneration }): ChannelProgram[] =>
  session.livemode ? [programOf(session)] : [CHANNEL_PROGRAMS.current, CHANNEL_PROGRAMS.older];

export const shownOf = (session: MeteredSnapshot) => ({ ...session, program: programOf(session).address });
