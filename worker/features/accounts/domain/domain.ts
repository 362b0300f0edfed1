import { randomBase62 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { DAY, HOUR, SECOND } from '#core/time.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { recordAction } from '#platform/db/audit/record-action.ts';
import { forEach } from '#platform/db/commit.ts';
import { emptyOrBound, type Swept } from '#platform/db/sweeps.ts';
import type { SellerDomain } from '#platform/db/tables/office/domains.ts';
import { readProof } from '#platform/providers/domain-proof.ts';
import { checkTarget } from '#platform/providers/target-url.ts';
import { DOMAIN } from '#rules/states.ts';
import { deleteDomain, findDomain, isDomainGone, saveDomain, saveDomainCheck, takeDueDomains } from './store.ts';

const REST_MS = 10 * SECOND;
/** Retry interval for a server that does not answer, and the time after which the server counts as gone. */
const RETRY_MS = HOUR;
const PATIENCE_MS = 3 * DAY;
const DUE_MAX = 50;
const LANES = 5;

/**
 * Sets the merchant's domain and checks it at once. The same name retains its token. Throws 422 for a name that is no public host, 429
 * rate_limited for a second check within seconds.
 */
export async function setDomain(ctx: Scope, name: string): Promise<SellerDomain> {
  const domain = requirePublic(ctx, name);
  const { db, wallNow, merchantId } = ctx;
  const known = await findDomain(db, merchantId);
  const restedAt = (known?.checkedAt ?? 0) + REST_MS;
  if (wallNow < restedAt) throw new ApiError('rate_limited', { retryAfterSeconds: Math.ceil((restedAt - wallNow) / SECOND) });
  const named: SellerDomain =
    known?.domain === domain
      ? known
      : {
          merchantId,
          domain,
          token: `dom_${randomBase62(32)}`,
          status: 'pending',
          checkedAt: null,
          verifiedAt: null,
          nextCheckAt: wallNow + DAY,
          createdAt: wallNow,
        };
  // Stored before the check, so that a merchant with a slow server has the token anyway.
  const subject = { type: 'domain', id: domain } as const;
  const entry = recordAction(ctx, ctx, { action: 'domain.set', subject, before: { domain: known?.domain ?? null }, after: { domain } });
  await db.batch([saveDomain(db, { ...named, checkedAt: wallNow }), ...(known?.domain === domain ? [] : [entry])]);
  return checkDomain(ctx, named);
}

/** Removes the merchant's domain. Idempotent. */
export async function removeDomain(ctx: Scope): Promise<void> {
  const known = await findDomain(ctx.db, ctx.merchantId);
  if (!known) return;
  const { domain } = known;
  const entry = { action: 'domain.removed', subject: { type: 'domain', id: domain }, before: { domain }, after: { domain: null } } as const;
  // The entry precedes the effect in the batch, so that of concurrent calls one records it.
  await ctx.db.batch([recordAction(ctx, ctx, entry, isDomainGone(ctx.merchantId)), deleteDomain(ctx.db, ctx.merchantId)]);
}

export async function sweepDomains(ctx: Shard): Promise<Swept> {
  const due = await takeDueDomains(ctx.db, ctx.wallNow, ctx.wallNow + RETRY_MS, DUE_MAX);
  const taken = await forEach(ctx, due, (domain) => checkDomain(ctx, domain), LANES);
  return { taken, end: emptyOrBound(due.length < DUE_MAX) };
}

async function checkDomain(ctx: Shard, before: SellerDomain): Promise<SellerDomain> {
  const { domain, merchantId, token } = before;
  const after = judgeReading(before, await readProof(ctx, domain, { accountId: merchantId, token }), ctx.wallNow);
  await saveDomainCheck(ctx.db, after);
  return after;
}

/** Judges a reading: a server with a different answer loses the verification at once, a silent one only after days. */
export function judgeReading(before: SellerDomain, seen: 'holds' | 'differs' | 'silent', now: number): SellerDomain {
  const checked = { ...before, checkedAt: now, nextCheckAt: now + (seen === 'silent' ? RETRY_MS : DAY) };
  if (seen === 'holds') return { ...checked, status: DOMAIN.next(before.status, 'verify'), verifiedAt: now };
  const isLost = seen === 'differs' || now - (before.verifiedAt ?? 0) > PATIENCE_MS;
  return before.status === 'verified' && isLost ? { ...checked, status: DOMAIN.next(before.status, 'fail') } : checked;
}

function requirePublic({ baseUrl }: Scope, name: string): string {
  const domain = name.trim().toLowerCase();
  const target = checkTarget(`https://${domain}/`, { ownHosts: [new URL(baseUrl).hostname], allowLoopback: false });
  if (target.ok && target.value.hostname === domain && domain.includes('.')) return domain;
  const msg = 'Expected a public host, such as shop.example.com: without https://, a port or a path';
  throw new ApiError('validation_error', { problems: [{ loc: ['body', 'domain'], msg, type: 'not_a_domain' }] });
}
