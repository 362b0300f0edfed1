import { ApiError, assert, formatErrorChain, objectAway, raise } from '#core/errors.ts';
import { type AccountId, isMeteredSessionId, type MeteredSessionId } from '#core/ids.ts';
import { Memory } from '#core/isolate/memory.ts';
import { calledBy } from '#features/entitlements/entitlement.ts';
import { loadScope } from '#platform/chain/scope.ts';
import type { Actor, Ctx, Scope, Shard } from '#platform/context.ts';
import { commitProjection, forEach } from '#platform/db/commit.ts';
import { homeOf } from '#platform/db/directory.ts';
import { meteredObject } from '#platform/objects.ts';
import type { SignedVoucher } from '#protocols/mpp/session.ts';
import { presentVoucher } from '#protocols/mpp/voucher.ts';
import { type Called, projectedOf } from '#rules/entitlement-rpc.ts';
import { isOver } from '#rules/metered/channel.ts';
import type { MeteredProjection, MeteredSessionRpc, MeteredSnapshot, MeteredTerms, ProgramGeneration } from '#rules/metered/rpc.ts';
import { CHANNEL_PROGRAMS, type ChannelProgram } from '#solana/programs/payment-channels/channel.ts';
import { toMeteredResource } from './resource.ts';
import {
  deleteMeteredSessions,
  type ErasedSession,
  findMeteredSession,
  listEndedSessions,
  sessionSnapshotOf,
  updateSessionCopy,
} from './store.ts';

export { sessionSnapshotOf } from './store.ts';

/** Loads the chain, the configuration and the clock of a session. */
export function scopeOfSession(ctx: Ctx, { merchantId, livemode, customer }: MeteredTerms): Promise<Scope> {
  const customerRef = customer !== null && 'customerRef' in customer ? customer.customerRef : null;
  return loadScope(ctx, { merchantId: merchantId as AccountId, livemode, customerRef });
}

/** Terms and channel of an opened session never change. */
export type OpenedSession = MeteredSnapshot & { bound: NonNullable<MeteredSnapshot['bound']> };
export const isOpened = (session: MeteredSnapshot): session is OpenedSession => session.bound !== null;

type Ask<T> = (object: MeteredSessionRpc, caller: Called) => Promise<T>;

async function call<T>(ctx: Ctx, name: string, ask: Ask<T>, owner = name): Promise<T> {
  try {
    return await ask(meteredObject(ctx, name, owner), calledBy(ctx));
  } catch (error) {
    ctx.note(`object: ${formatErrorChain(error)}`);
    throw objectAway(error);
  }
}

type Unknown = { ok: false; reason: 'unknown' };
const isUnknown = (answer: unknown): answer is Unknown => (answer as Unknown | null | undefined)?.reason === 'unknown';

/**
 * Calls a session's object, which the session's id alone names. Returns null if the session was never opened. Throws 404 for a malformed id,
 * and 503 if the object does not answer. The call may then be repeated.
 */
export async function askSession<T>(ctx: Ctx, sessionId: string, ask: Ask<T | Unknown>): Promise<Exclude<T, Unknown> | null> {
  if (!isMeteredSessionId(sessionId)) throw new ApiError('not_found');
  const answer = await call(ctx, sessionId, ask);
  return isUnknown(answer) ? null : (answer as Exclude<T, Unknown>);
}

/** Same as `askSession`, but throws 404 if the session was never opened. */
export const callSession = async <T>(ctx: Ctx, sessionId: string, ask: Ask<T | Unknown>) =>
  (await askSession<T>(ctx, sessionId, ask)) ?? raise('not_found');

/** Reads a session from its object, or from its row until it is opened. 404. */
export async function readSession(ctx: Ctx, sessionId: string): Promise<MeteredSnapshot> {
  const known = await askSession<MeteredSnapshot>(ctx, sessionId, (object, caller) => object.read(caller));
  if (known !== null) return known;
  const row = await findMeteredSession(homeOf(ctx, sessionId).db, sessionId as MeteredSessionId);
  return sessionSnapshotOf(row ?? raise('not_found'));
}

/** Same as `readSession`, but throws 404 for every caller except its merchant. */
export async function readOwnSession(ctx: Ctx, actor: Actor, sessionId: string): Promise<MeteredSnapshot> {
  const session = await readSession(ctx, sessionId);
  if (session.merchantId !== actor.accountId || session.livemode !== actor.livemode) throw new ApiError('not_found');
  return session;
}

/** Schedules the object's next read of its channel. null cancels it: nothing of the channel is left. */
export const scheduleRead = (ctx: Ctx, { sessionId }: Pick<MeteredTerms, 'sessionId'>, afterMs: number | null): Promise<void> =>
  call(ctx, sessionId, (object) => object.checkAgain({ afterMs }));

const OPENED_MAX = 5_000;
const opened = new Memory<string, OpenedSession>(OPENED_MAX);

/** Same as `readSession`, but an opened session may come from memory with amounts that have grown since. 404. */
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

type Claimant = Pick<MeteredTerms, 'sessionId' | 'livemode'>;

const channelObjectName = ({ livemode }: Pick<MeteredTerms, 'livemode'>, channelId: string): string =>
  `channel:${livemode ? 'live' : 'sandbox'}:${channelId}`;

const findClaim = (ctx: Ctx, mode: { livemode: boolean }, channelId: string): Promise<string | null> =>
  call(ctx, channelObjectName(mode, channelId), (object) => object.findSession());

const sessionsByChannel = new Memory<string, string>(OPENED_MAX);

/**
 * Finds the session that claimed a channel. A live claim wins and is remembered: in the sandbox anyone may name an address. Throws 404 if
 * no session claimed it.
 */
export async function sessionOfChannel(ctx: Ctx, channelId: string): Promise<string> {
  const known = sessionsByChannel.get(channelId);
  if (known !== undefined) return known;
  const live = await findClaim(ctx, { livemode: true }, channelId);
  if (live === null) return (await findClaim(ctx, { livemode: false }, channelId)) ?? raise('not_found');
  sessionsByChannel.set(channelId, live);
  return live;
}

/** Claims a channel for a session. Returns false if another session of the same mode has it. */
export const claimChannel = async (ctx: Ctx, session: Claimant, channelId: string): Promise<boolean> =>
  (await call(ctx, channelObjectName(session, channelId), (object) => object.claimChannel(session.sessionId), session.sessionId)) ===
  session.sessionId;

/** Releases a channel. Changes nothing if another session has claimed it. */
export const releaseChannel = (ctx: Ctx, session: Claimant, channelId: string): Promise<boolean> =>
  call(ctx, channelObjectName(session, channelId), (object) => object.releaseChannel(session.sessionId), session.sessionId);

/**
 * Releases a channel that can no longer become the session's, which has another one or is over. Released earlier, two sessions could open
 * with one channel and be paid by the same vouchers.
 */
export async function releaseLost(ctx: Ctx, claimant: Claimant, channelId: string): Promise<void> {
  const session = await readSession(ctx, claimant.sessionId);
  const isLost = session.bound === null ? isOver(session) : session.bound.channelId !== channelId;
  if (isLost) await releaseChannel(ctx, claimant, channelId);
}

export const programOf = ({ generation }: { generation: ProgramGeneration }): ChannelProgram => CHANNEL_PROGRAMS[generation];

/** Verifies a voucher against the session's channel. The sandbox settles nothing, so it accepts the vouchers of either program. */
export const presentTo = (session: OpenedSession, voucher: SignedVoucher): ReturnType<typeof presentVoucher> => {
  const forms = session.livemode ? [programOf(session)] : [CHANNEL_PROGRAMS.current, CHANNEL_PROGRAMS.older];
  return presentVoucher(voucher, { ...session.bound, forms });
};

export const withProgram = (session: MeteredSnapshot) => ({ ...session, program: programOf(session).address });

/** Stores an object's snapshot and events, and acknowledges them to the object. */
export async function projectMeteredSession(ctx: Shard, projection: MeteredProjection): Promise<void> {
  const { snapshot } = projection;
  await commitProjection(
    ctx,
    { kind: 'projectMeteredSession', projection },
    {
      copy: updateSessionCopy(ctx, snapshot),
      describe: (described) => ({
        subject: { type: 'metered_session', id: described.sessionId, version: described.version },
        object: toMeteredResource(ctx, withProgram(described)),
      }),
    },
  );
  await askSession<void>(ctx, snapshot.sessionId, (object) => object.published({ ...projectedOf(projection), requestId: ctx.cause }));
}

/** Erases a session's object and releases its channel. Harmless repeated. The caller deletes the row afterwards. */
export async function eraseMeteredSession(ctx: Ctx, { id, livemode, channelId }: ErasedSession): Promise<void> {
  // A session that was never opened has no object.
  if (channelId === null) return;
  const session = await askSession<MeteredSnapshot>(ctx, id, (object, caller) => object.read(caller));
  // The row's channel may be one that was noted and never bound.
  for (const channel of new Set([session?.bound?.channelId ?? channelId, channelId]))
    await releaseChannel(ctx, { sessionId: id, livemode }, channel);
  assert(await askSession<boolean>(ctx, id, (object) => object.erase()), 'a session with an end in its row has ended');
}

/** Objects called at once. */
const LANES = 6;

/** Erases up to `limit` sessions that ended before `before`. Returns how many rows were read, including those that failed. */
export async function forgetEndedSessions(ctx: Shard, before: number, limit: number): Promise<number> {
  const erased: MeteredSessionId[] = [];
  const forget = async (session: ErasedSession) => {
    await eraseMeteredSession(ctx, session);
    erased.push(session.id);
  };
  const seen = await forEach(ctx, await listEndedSessions(ctx.db, before, limit), forget, LANES);
  await deleteMeteredSessions(ctx.db, erased);
  return seen;
}
