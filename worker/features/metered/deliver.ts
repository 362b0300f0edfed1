import { ApiError } from '#core/errors.ts';
import { MONEY_UNITS_MAX } from '#core/money.ts';
import { SECOND } from '#core/time.ts';
import { invalid } from '#features/products/terms.ts';
import type { Actor, Ctx } from '#platform/context.ts';
import { fingerprintsOf, type IdempotentRequest } from '#platform/db/idempotency-record.ts';
import type { Called } from '#rules/entitlement-rpc.ts';
import { isOver } from '#rules/metered/channel.ts';
import type { DeliveryAnswer, DeliveryRequest, MeteredSnapshot } from '#rules/metered/rpc.ts';
import type { ReserveProblem } from '#rules/metered/vouchers.ts';
import { callSession, isOpened, recallSession } from './session.ts';

/** Default life of a merchant's reservation. */
const RESERVED_SECONDS = 600;
/** Life of a client's announcement. */
const ANNOUNCED_SECONDS = 60;

interface AskedDelivery {
  deliveryId: string | null;
  /** Base units, or units at the session's price. */
  asked: { amount: bigint } | { units: number };
  lifeSeconds: number | null;
}

type Reserved = DeliveryAnswer & { ok: true };

function refusal(reason: ReserveProblem | 'conflict' | 'crowded'): ApiError {
  if (reason === 'channel-sealed') return new ApiError('channel_closed');
  if (reason === 'conflict') return new ApiError('idempotency_conflict');
  return new ApiError('state_conflict', { detail: REFUSED[reason], meta: { reason } });
}
const REFUSED = {
  'not-open': 'The session is not open. Its buyer opens it at authorize_url.',
  'delivery-conflict': 'The deliveryId was used with another amount. Send a new one.',
  'exceeds-deposit': 'The amount exceeds the rest of the deposit. The buyer can top it up.',
  'too-many-reservations': 'Too many deliveries are not committed. Commit some, or wait until they expire.',
  crowded: 'Too many announced deliveries are not committed. Commit some.',
} as const;

type Asked = Omit<DeliveryRequest, keyof Called>;

const askReserve = (ctx: Ctx, sessionId: string, request: Asked): Promise<Exclude<DeliveryAnswer, { reason: 'unknown' }>> =>
  callSession(ctx, sessionId, (object, caller) => object.reserve({ ...request, ...caller }));

async function reserve(ctx: Ctx, sessionId: string, request: Asked): Promise<Reserved> {
  const answer = await askReserve(ctx, sessionId, request);
  if (!answer.ok) throw refusal(answer.reason);
  return answer;
}

function amountOf({ unitPrice }: MeteredSnapshot, asked: AskedDelivery['asked']): bigint {
  if ('amount' in asked) return asked.amount;
  if (unitPrice === null) throw invalid('units', 'Expected amount: the session has no unit_price', 'no_unit_price');
  const amount = BigInt(unitPrice) * BigInt(asked.units);
  if (amount > MONEY_UNITS_MAX) throw invalid('units', 'Expected less than the maximum of a channel', 'too_big');
  return amount;
}

/**
 * Reserves an amount of the deposit for a merchant's delivery, until it is committed or expires. 404, 409 state_conflict (`not-open`,
 * `exceeds-deposit`, `delivery-conflict`), 410 channel_closed.
 */
export async function reserveDelivery(
  ctx: Ctx,
  actor: Actor,
  sessionId: string,
  request: IdempotentRequest,
  { deliveryId, asked, lifeSeconds }: AskedDelivery,
): Promise<Reserved> {
  const session = await recallSession(ctx, sessionId);
  if (session.merchantId !== actor.accountId || session.livemode !== actor.livemode) throw new ApiError('not_found');
  if (!isOpened(session)) throw refusal(isOver(session) ? 'channel-sealed' : 'not-open');
  const operation = { key: `deliver:${request.key}`, fingerprint: fingerprintsOf(ctx, request)[0] };
  const lifeMs = (lifeSeconds ?? RESERVED_SECONDS) * SECOND;
  return reserve(ctx, sessionId, { deliveryId, amount: amountOf(session, asked), lifeMs, holdsMoney: true, mayOust: false, operation });
}

/** Each throws beyond its limit. */
interface CountAnnounced {
  /** Counts an announcement that displaces another one, for the caller's address. */
  flood(): Promise<void>;
  /** Counts a use of the session, as a call of its merchant. */
  use(session: MeteredSnapshot): Promise<void>;
}

/** Announces a client's delivery, which reserves no money. Errors as of `reserveDelivery`, and of `count`. */
export async function announceDelivery(
  ctx: Ctx,
  sessionId: string,
  { deliveryId, amount }: { deliveryId: string | null; amount: bigint },
  count: CountAnnounced,
): Promise<Reserved> {
  const asked = { deliveryId, amount, lifeMs: ANNOUNCED_SECONDS * SECOND, holdsMoney: false, operation: null };
  const answer = await askReserve(ctx, sessionId, { ...asked, mayOust: false });
  if (!answer.ok && answer.reason === 'crowded') {
    await count.flood();
    return reserve(ctx, sessionId, { ...asked, mayOust: true });
  }
  if (!answer.ok) throw refusal(answer.reason);
  // A repeated announcement changes nothing, so it counts as a flood and not as a use.
  await (answer.replayed ? count.flood() : count.use(answer.snapshot));
  return answer;
}
