import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { RateLimit } from '../admission.ts';
import { sha256Hex } from '../core/crypto.ts';
import { utf8 } from '../core/encoding.ts';
import { ApiError } from '../core/errors.ts';
import { SECOND, unixSeconds } from '../core/time.ts';
import { PUBLIC_BUCKETS, type PublicBucketName } from '../plans.ts';
import type { AppEnv } from './openapi.ts';

/** Limit, what is left, and when all of it is free again (Unix seconds). */
export function rateHeaders(rate: RateLimit): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(rate.limit),
    'X-RateLimit-Remaining': String(rate.remaining),
    'X-RateLimit-Reset': String(unixSeconds(rate.resetAt + SECOND - 1)),
  };
}

export function rateLimited(rate: RateLimit, now: number): ApiError {
  return new ApiError('rate_limited', { retryAfterSeconds: (rate.resetAt - now) / SECOND, headers: rateHeaders(rate) });
}

/** One more hit in a bucket, or 429 where it is full. */
export async function hitBucket(c: Context<AppEnv>, name: PublicBucketName, subject: string): Promise<RateLimit> {
  const { max, windowSeconds } = PUBLIC_BUCKETS[name];
  const { ctx } = c.var;
  const object = ctx.env.ADMISSION.getByName(`ip:${name}:${sha256Hex(utf8(`${callerAddress(c)}\0${subject}`)).slice(0, 32)}`);
  const limit = Math.max(1, Math.floor(max * ctx.config.RATE_MULTIPLIER));
  const { allowed, rate } = await object.hit({ max: limit, windowMs: windowSeconds * SECOND, now: ctx.now });
  if (!allowed) throw rateLimited(rate, ctx.now);
  return rate;
}

/** A bucket for callers without a credential; `subject` narrows it to what they ask for (a slug, an e-mail, a payment). */
export const publicBucket = (name: PublicBucketName, subject: (c: Context<AppEnv>) => string | Promise<string> = () => '') =>
  createMiddleware<AppEnv>(async (c, next) => {
    const rate = await hitBucket(c, name, await subject(c));
    for (const [header, value] of Object.entries(rateHeaders(rate))) c.header(header, value);
    await next();
  });

/** IPv6 callers own at least a /64, so they are counted by it. Set by the platform, never by the caller. */
function callerAddress(c: Context<AppEnv>): string {
  const address = c.req.header('CF-Connecting-IP') ?? 'local';
  if (!address.includes(':')) return address;
  const [head = '', tail = ''] = address.split('::');
  const groups = head.split(':').filter(Boolean);
  const trailing = tail.split(':').filter(Boolean);
  const zeros = Array.from({ length: Math.max(0, 8 - groups.length - trailing.length) }, () => '0');
  return [...groups, ...(address.includes('::') ? zeros : []), ...trailing].slice(0, 4).join(':');
}
