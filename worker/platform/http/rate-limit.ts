import { createMiddleware } from 'hono/factory';
import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { SECOND, unixSeconds } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { admissionObject } from '#platform/objects.ts';
import { type Origin, USER_AGENT_MAX } from '#rules/access/sessions.ts';
import type { AddressWindow, RateLimit } from '#rules/admission.ts';
import {
  ADDRESS_CEILINGS,
  type AddressCeiling,
  CEILINGS_OF,
  LISTING_REFRESHES,
  PUBLIC_BUCKETS,
  type PublicBucket,
  type PublicBucketName,
  SITE_BUCKETS,
  SITE_TIMES,
} from '#rules/plans.ts';
import type { AppEnv, RouteContext } from './openapi.ts';

/** Limit, remaining calls, and reset time (Unix seconds). */
export function rateHeaders(rate: RateLimit): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(rate.remaining),
    'X-RateLimit-Reset': String(unixSeconds(rate.resetAt + SECOND - 1)),
  };
}

export function rateLimited(rate: RateLimit, now: number, detail?: string): ApiError {
  return new ApiError('rate_limited', {
    ...(detail && { detail }),
    retryAfterSeconds: (rate.resetAt - now) / SECOND,
    headers: rateHeaders(rate),
  });
}

type AskedWindow = AddressWindow & Pick<PublicBucket, 'isCount'>;

const REMEMBERED_MAX = 10_000;
/** Full windows by address. Until the reset an address is refused here, without a call to its object. */
const full = new Memory<string, RateLimit>(REMEMBERED_MAX);

/** Counts the caller's address in all windows. Throws 429 if one is full. */
const hitAddress = (c: RouteContext, windows: AskedWindow[]): Promise<RateLimit> => hitObject(c, callerOf(c).address, windows);

/** Counts in all windows with one object call. Throws 429 if one is full, and then counts in none. */
async function hitObject(c: RouteContext, caller: string, windows: AskedWindow[]): Promise<RateLimit> {
  const { ctx } = c.var;
  const object = objectOf(caller);
  const asked = windows.map(({ isCount, ...one }) => ({
    ...one,
    max: isCount ? one.max : scaled(ctx, one.max),
  }));
  for (const { name, max } of asked) refuseWhileFull(ctx, `${object} ${name} ${max}`);
  const answer = await admissionObject(ctx, object).hit(asked, ctx.wallNow);
  if (answer.allowed) return answer.rate;
  full.set(`${object} ${answer.full} ${answer.rate.limit}`, answer.rate);
  throw rateLimited(answer.rate, ctx.wallNow);
}

const scaled = (ctx: Ctx, max: number): number => Math.max(1, Math.floor(max * ctx.config.RATE_MULTIPLIER));

const objectOf = (caller: string): string => `address:${sha256Hex(utf8(caller)).slice(0, 32)}`;

function refuseWhileFull(ctx: Ctx, key: string): void {
  const rate = full.get(key);
  if (!rate) return;
  if (ctx.wallNow < rate.resetAt) throw rateLimited(rate, ctx.wallNow);
  full.delete(key);
}

const windowOf = (name: string, { max, windowSeconds, isCount }: PublicBucket): AskedWindow => ({
  name,
  max,
  windowMs: windowSeconds * SECOND,
  ...(isCount ? { isCount } : {}),
});
const ceilingOf = (name: AddressCeiling): AskedWindow => windowOf(name, ADDRESS_CEILINGS[name]);

/** Window of a subject in a bucket. Hashed, because a subject may be long, and an email address must not be readable in an object. */
const ownWindow = (name: PublicBucketName, subject: string): AskedWindow =>
  windowOf(subject === '' ? name : `${name}:${sha256Hex(utf8(subject)).slice(0, 16)}`, PUBLIC_BUCKETS[name]);

/** Caller whom the limits that strangers share do not hold up. */
export interface KnownCaller {
  /** False for a caller who cannot be known. Makes no call for a refused caller twice a minute. */
  isPossible(c: RouteContext): Promise<boolean>;
  /** Reads whether the caller is known, if that is not certain. */
  isKnown?(c: RouteContext): Promise<boolean>;
  /** Subject of the limit of its own. Empty: the ceiling of the address alone. */
  own: Subject;
  /** Makes the caller known after a sign-in. */
  learn?(c: RouteContext): Promise<void>;
}

/** Counts a call of a known caller, once the shared limits are full. Throws the refusal for other callers. */
async function hitOwn(c: RouteContext, name: PublicBucketName, known: KnownCaller, refused: unknown): Promise<RateLimit> {
  if (!(refused instanceof ApiError) || refused.code !== 'rate_limited' || !(await known.isPossible(c))) throw refused;
  // Counted before `isKnown`, so that refused strangers cause as many reads as other calls.
  const rate = await hitAddress(c, [ceilingOf('all')]);
  if (known.isKnown && !(await known.isKnown(c))) throw refused;
  const subject = await known.own(c);
  if (subject === '') return rate;
  const own = ownWindow(name, subject);
  // Known is the network, in which guesses could come from many addresses.
  const { site } = callerOf(c);
  if (site) await hitObject(c, `site ${site}`, [{ ...own, max: own.max * SITE_TIMES }]);
  return hitAddress(c, [own]);
}

/** Counts a call in a bucket and its ceilings. Throws 429 if one of them is full. */
export async function hitBucket(c: RouteContext, name: PublicBucketName, subject: string): Promise<RateLimit> {
  const own = ownWindow(name, subject);
  const ceiling = CEILINGS_OF[name];
  const rate = await hitAddress(c, [own, ...(ceiling ? [ceilingOf(ceiling)] : []), ceilingOf('all')]);
  const { site } = callerOf(c);
  if (site && SITE_BUCKETS.includes(name)) {
    const { max, windowSeconds } = ceiling ? ADDRESS_CEILINGS[ceiling] : PUBLIC_BUCKETS[name];
    await hitObject(c, `site ${site}`, [windowOf(ceiling ?? name, { max: max * SITE_TIMES, windowSeconds })]);
  }
  return rate;
}

/** Counts a call in a bucket, or one of a known caller in a limit of its own. Throws 429 if that is full. */
export const hitBucketOrOwn = async (c: RouteContext, name: PublicBucketName, subject: string, known: KnownCaller): Promise<RateLimit> =>
  hitBucket(c, name, subject).catch((refused: unknown) => hitOwn(c, name, known, refused));

/** Counts a call in the address's overall ceiling only. Throws 429 if full. */
export async function hitCeiling(c: RouteContext): Promise<void> {
  await hitAddress(c, [ceilingOf('all')]);
}

/** Throws 429 if this isolate knows that the address is over the ceiling. Makes no call and counts nothing. */
export function requireCeilingLeft(c: RouteContext): void {
  const { name, max } = ceilingOf('all');
  refuseWhileFull(c.var.ctx, `${objectOf(callerOf(c).address)} ${name} ${scaled(c.var.ctx, max)}`);
}

/** Counts that an account has its listings called again. Throws 429 from the eleventh in an hour. */
export async function countRefresh(c: RouteContext, account: string): Promise<void> {
  const { max, windowSeconds } = LISTING_REFRESHES;
  await hitObject(c, `listings ${account}`, [{ name: 'refreshes', max, windowMs: windowSeconds * SECOND, isCount: true }]);
}

export const underCeiling = createMiddleware<AppEnv>(async (c, next) => {
  await hitCeiling(c);
  await next();
});

/** Counts a refused credential of this address. Throws 429 from the twenty-first in a minute. */
export async function countRefusedCredential(c: RouteContext): Promise<void> {
  await hitAddress(c, [ceilingOf('refused-credentials')]);
}

/** Counts a signature that the chain does not show, before it is stored. Throws 429 from the 201st in an hour. */
export async function countUnseenSignature(c: RouteContext): Promise<void> {
  await hitAddress(c, [ceilingOf('unseen-signatures')]);
}

/**
 * For routes authorized by a secret in the body. A wrong secret (404) counts as a refused credential and gives 429 after too many. The
 * right secret always passes, because its agent may share the address with an attacker.
 */
export const countWrongSecrets = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  if (c.error instanceof ApiError && c.error.code === 'not_found') await countRefusedCredential(c);
});

/** Throws 429 if this isolate knows that the address sent too many bad credentials. Makes no call. */
export function requireRefusalsLeft(c: RouteContext): void {
  const { ctx } = c.var;
  const { max } = ADDRESS_CEILINGS['refused-credentials'];
  refuseWhileFull(ctx, `${objectOf(callerOf(c).address)} refused-credentials ${scaled(ctx, max)}`);
}

export const publicBucket = (name: PublicBucketName, subject: Subject = () => '', known?: KnownCaller) =>
  createMiddleware<AppEnv>(async (c, next) => {
    await countCall(c, name, subject, known);
    await next();
    if (isProven(c)) await known?.learn?.(c);
  });

/** True after a sign-in, or its first half. */
const isProven = ({ res, error }: { res: Response; error: Error | undefined }): boolean =>
  res.ok || (error instanceof ApiError && error.code === 'factor_required');

/** Key that separates callers of a bucket, in addition to their address. */
export type Subject = (c: RouteContext) => string | Promise<string>;

/** Counts a call in a bucket and sets the rate headers. Throws 429 if full. */
export async function countCall(c: RouteContext, name: PublicBucketName, subject: Subject, known?: KnownCaller): Promise<void> {
  const own = await subject(c);
  const rate = await (known ? hitBucketOrOwn(c, name, own, known) : hitBucket(c, name, own));
  for (const [header, value] of Object.entries(rateHeaders(rate))) c.header(header, value);
}

/** All Workers of other zones call from this network. A platform header names the zone. */
const SHARED_BY_WORKERS = '2a06:98c0:3600:0';

interface CallerAddress {
  /** IPv4 address, or the /64 of an IPv6 address, which belongs to one caller. */
  address: string;
  /** The /48 of an IPv6 address, null for IPv4. */
  site: string | null;
}

/** Address of the caller. The platform sets the header, so the caller cannot forge it. */
export const ipOf = ({ req }: Pick<RouteContext, 'req'>): string | null => req.header('CF-Connecting-IP') ?? null;

/** Address, country and browser of a caller. */
export function callerOrigin(c: RouteContext): Origin {
  const { country } = (c.req.raw.cf ?? {}) as { country?: unknown };
  return {
    ip: ipOf(c) ?? '127.0.0.1',
    country: typeof country === 'string' ? country : null,
    userAgent: (c.req.header('User-Agent') ?? '').slice(0, USER_AGENT_MAX),
  };
}

/** Origin of a call, set by the platform and not forgeable by the caller. */
export function callerOf(c: RouteContext): CallerAddress {
  const address = ipOf(c) ?? 'local';
  if (!address.includes(':')) return { address, site: null };
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const trailing = tail.split(':').filter(Boolean);
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - trailing.length) }, () => '0');
  const all = [...groups, ...(address.includes('::') ? zeros : []), ...trailing];
  const network = all.slice(0, 4).join(':');
  if (network === SHARED_BY_WORKERS) return { address: `${network} ${c.req.header('CF-Worker') ?? ''}`, site: null };
  return { address: network, site: all.slice(0, 3).join(':') };
}
