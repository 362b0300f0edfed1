import { createMiddleware } from 'hono/factory';
import { sha256Hex } from '#core/crypto.ts';
import { utf8 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { Memory } from '#core/isolate/memory.ts';
import { DAY, SECOND, unixSeconds } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { admissionObject } from '#platform/objects.ts';
import type { AddressWindow, RateLimit } from '#rules/admission.ts';
import {
  ADDRESS_CEILINGS,
  type AddressCeiling,
  CEILINGS_OF,
  PASSWORD_TRIES,
  PUBLIC_BUCKETS,
  type PublicBucket,
  type PublicBucketName,
  SITE_BUCKETS,
  SITE_TIMES,
} from '#rules/plans.ts';
import type { AppEnv, RouteContext } from './openapi.ts';

/** Limit, what is left, and when all of it is free again (Unix seconds). */
export function rateHeaders(rate: RateLimit): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(rate.remaining),
    'X-RateLimit-Reset': String(unixSeconds(rate.resetAt + SECOND - 1)),
  };
}

const MANY_TRIES = 'Too many sign-in attempts for this account. Sign in from a known network, or reset the password by email.';

export function rateLimited(rate: RateLimit, now: number, detail?: string): ApiError {
  return new ApiError('rate_limited', {
    ...(detail && { detail }),
    retryAfterSeconds: (rate.resetAt - now) / SECOND,
    headers: rateHeaders(rate),
  });
}

type AskedWindow = AddressWindow & Pick<PublicBucket, 'isCount'>;

const REMEMBERED_MAX = 10_000;
/** Windows that are full, by address: until they are free again an address is refused here, without a call to its object. */
const full = new Memory<string, RateLimit>(REMEMBERED_MAX);

/** Counts a caller's address in all of these windows; 429 where one is full. */
const hitAddress = (c: RouteContext, windows: AskedWindow[]): Promise<RateLimit> => hitObject(c, callerOf(c).address, windows);

/** Counts in all of these windows with one call to their object; 429 where one is full, which counts in none. */
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

function refuseWhileFull(ctx: Ctx, place: string): void {
  const rate = full.get(place);
  if (!rate) return;
  if (ctx.wallNow < rate.resetAt) throw rateLimited(rate, ctx.wallNow);
  full.delete(place);
}

const windowOf = (name: string, { max, windowSeconds, isCount }: PublicBucket): AskedWindow => ({
  name,
  max,
  windowMs: windowSeconds * SECOND,
  ...(isCount ? { isCount } : {}),
});
const ceilingOf = (name: AddressCeiling): AskedWindow => windowOf(name, ADDRESS_CEILINGS[name]);

/** One more hit in a bucket and in the ceilings over it, or 429 where one of them is full. */
export async function hitBucket(c: RouteContext, name: PublicBucketName, subject: string): Promise<RateLimit> {
  // The subject is hashed, because it may be long, and an e-mail must not be readable in the name of an object.
  const own = windowOf(subject === '' ? name : `${name}:${sha256Hex(utf8(subject)).slice(0, 16)}`, PUBLIC_BUCKETS[name]);
  const ceiling = CEILINGS_OF[name];
  const rate = await hitAddress(c, [own, ...(ceiling ? [ceilingOf(ceiling)] : []), ceilingOf('all')]);
  const { site } = callerOf(c);
  if (site && SITE_BUCKETS.includes(name)) {
    const { max, windowSeconds } = ceiling ? ADDRESS_CEILINGS[ceiling] : PUBLIC_BUCKETS[name];
    await hitObject(c, `site ${site}`, [windowOf(ceiling ?? name, { max: max * SITE_TIMES, windowSeconds })]);
  }
  return rate;
}

/** One more call of this address, in the ceiling over everything it asks for alone; 429 where that is full. */
export async function hitCeiling(c: RouteContext): Promise<void> {
  await hitAddress(c, [ceilingOf('all')]);
}

/** 429 while this address is over the ceiling, as far as this isolate knows. Makes no call and counts nothing. */
export function requireCeilingLeft(c: RouteContext): void {
  const { name, max } = ceilingOf('all');
  refuseWhileFull(c.var.ctx, `${objectOf(callerOf(c).address)} ${name} ${scaled(c.var.ctx, max)}`);
}

const passwordsOf = (account: string): string => objectOf(`passwords ${account}`);
const signedInFrom = (c: RouteContext): string => `from:${sha256Hex(utf8(callerOf(c).address)).slice(0, 32)}`;

/** A password is about to be tried for an account, named by its e-mail or id, whether it exists or not; 429 after too many from strange addresses. */
export async function countPasswordTry(c: RouteContext, account: string): Promise<void> {
  const { ctx } = c.var;
  const { max, windowSeconds } = PASSWORD_TRIES;
  const tries = { name: 'tries', max: scaled(ctx, max), windowMs: windowSeconds * SECOND, unlessOpen: signedInFrom(c) };
  // Asked each time: what is full for a stranger is open to the owner beside them.
  const answer = await admissionObject(ctx, passwordsOf(account)).hit([tries], ctx.wallNow);
  if (!answer.allowed) throw rateLimited(answer.rate, ctx.wallNow, MANY_TRIES);
}

/** The owner signed in from this address, or read the account's e-mail there. */
export async function rememberSignIn(c: RouteContext, account: string): Promise<void> {
  const { ctx } = c.var;
  const known = { name: signedInFrom(c), max: Number.MAX_SAFE_INTEGER, windowMs: PASSWORD_TRIES.knownDays * DAY };
  await admissionObject(ctx, passwordsOf(account)).hit([known], ctx.wallNow);
}

/** For public routes without a bucket of their own. */
export const underCeiling = createMiddleware<AppEnv>(async (c, next) => {
  await hitCeiling(c);
  await next();
});

/** A credential of this address was refused: counted, and 429 from the twenty-first in a minute on. */
export async function countRefusedCredential(c: RouteContext): Promise<void> {
  await hitAddress(c, [ceilingOf('refused-credentials')]);
}

/** A signature that the chain does not show is about to be kept for this address: counted, and 429 from the 201st in an hour on. */
export async function countUnseenSignature(c: RouteContext): Promise<void> {
  await hitAddress(c, [ceilingOf('unseen-signatures')]);
}

/**
 * For routes that a secret in the body opens: a wrong one, which is 404, is a refused credential, and 429 once this address showed too many.
 * The right one passes always: its agent may share the address with the caller that guesses.
 */
export const countWrongSecrets = createMiddleware<AppEnv>(async (c, next) => {
  await next();
  if (c.error instanceof ApiError && c.error.code === 'not_found') await countRefusedCredential(c);
});

/** 429 while this address has shown too many bad credentials, as far as this isolate knows. Makes no call. */
export function requireRefusalsLeft(c: RouteContext): void {
  const { ctx } = c.var;
  const { max } = ADDRESS_CEILINGS['refused-credentials'];
  refuseWhileFull(ctx, `${objectOf(callerOf(c).address)} refused-credentials ${scaled(ctx, max)}`);
}

/** A bucket for callers without a credential; `subject` narrows it to what they ask for (a slug, an e-mail, a payment). */
export const publicBucket = (name: PublicBucketName, subject: Subject = () => '') =>
  createMiddleware<AppEnv>(async (c, next) => {
    await countCall(c, name, subject);
    await next();
  });

/** What callers of a bucket are told apart by, beside their address. */
export type Subject = (c: RouteContext) => string | Promise<string>;

/** One more call in a bucket, and how it stands in the answer's headers; 429. */
export async function countCall(c: RouteContext, name: PublicBucketName, subject: Subject): Promise<void> {
  const rate = await hitBucket(c, name, await subject(c));
  for (const [header, value] of Object.entries(rateHeaders(rate))) c.header(header, value);
}

/** All Workers of other zones call from this network; the platform says beside it which zone it is. */
const SHARED_BY_WORKERS = '2a06:98c0:3600:0';

interface CallerAddress {
  /** An IPv4 address, or the /64 of an IPv6 one: its callers own at least that. */
  address: string;
  /** The /48 of an IPv6 address; null: there is no wider network that one caller would own. */
  site: string | null;
}

/** Where a call comes from. Set by the platform, never by the caller. */
export function callerOf(c: RouteContext): CallerAddress {
  const address = c.req.header('CF-Connecting-IP') ?? 'local';
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
