import type { Ctx } from '../context.ts';
import { MINUTE } from '../core/time.ts';

/**
 * How many requests of a merchant's server opened with the same payment, by message. A server verifies, serves, and settles
 * then; so a payment sent many times at once passes all those verifications, and only its settlement can tell that it buys one
 * answer. Held by the isolate, as the reference holds its own: what it does not see is caught by the claim while that is at work.
 */
const REMEMBERED_MS = 10 * MINUTE;
const REMEMBERED_MAX = 10_000;
const opened = new Map<string, { count: number; at: number }>();

export function noteOpened({ now }: Ctx, messageHash: string): void {
  const known = opened.get(messageHash);
  if (opened.size >= REMEMBERED_MAX) opened.clear();
  opened.set(messageHash, { count: known && now - known.at < REMEMBERED_MS ? known.count + 1 : 1, at: now });
}

/** More than one request waits for what this payment bought: none but the one that settled it may have it. */
export function isContested({ now }: Ctx, messageHash: string): boolean {
  const known = opened.get(messageHash);
  return known !== undefined && known.count > 1 && now - known.at < REMEMBERED_MS;
}

/** Nobody got anything for it yet: its buyer may come back. */
export const forgetOpened = (messageHash: string): boolean => opened.delete(messageHash);
