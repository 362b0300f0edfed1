import { randomBase62 } from '#core/encoding.ts';
import { ApiError } from '#core/errors.ts';
import { DAY, HOUR, SECOND } from '#core/time.ts';
import type { Scope, Shard } from '#platform/context.ts';
import { forEach } from '#platform/db/commit.ts';
import type { Swept } from '#platform/db/sweeps.ts';
import type { SellerDomain } from '#platform/db/tables/office/domains.ts';
import { readProof } from '#platform/providers/domain-proof.ts';
import { checkTarget } from '#platform/providers/target-url.ts';
import { DOMAIN } from '#rules/states.ts';
import { findDomain, saveDomain, saveDomainLook, takeDueDomains } from '../store.ts';

/** Between two looks that a merchant asks for. */
const REST_MS = 10 * SECOND;
/** A server that does not answer is asked again after so long, and believed to be away for good after so many days. */
const RETRY_MS = HOUR;
const PATIENCE_MS = 3 * DAY;
const DUE_MAX = 50;
const LANES = 5;

/**
 * Names the merchant's domain and looks at it at once: the same one again keeps its token. 422 for a name that is no public host,
 * 429 rate_limited for a second look within moments.
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
          nextLookAt: wallNow + DAY,
          createdAt: wallNow,
        };
  // Stored before the look, so that a merchant whose server is slow has the token all the same.
  await saveDomain(db, { ...named, checkedAt: wallNow });
  return lookAtDomain(ctx, named);
}

/** Looks at every domain once a day. */
export async function sweepDomains(ctx: Shard): Promise<Swept> {
  const due = await takeDueDomains(ctx.db, ctx.wallNow, ctx.wallNow + RETRY_MS, DUE_MAX);
  await forEach(ctx, due, (domain) => lookAtDomain(ctx, domain), LANES);
  return { taken: due.length, isFinished: due.length < DUE_MAX };
}

async function lookAtDomain(ctx: Shard, before: SellerDomain): Promise<SellerDomain> {
  const { domain, merchantId, token } = before;
  const after = judgeLook(before, await readProof(ctx, domain, { accountId: merchantId, token }), ctx.wallNow);
  await saveDomainLook(ctx.db, after);
  return after;
}

/** What a look means: a server that answers something else takes the proof back, one that is silent does so only after days. */
export function judgeLook(before: SellerDomain, seen: 'holds' | 'differs' | 'silent', now: number): SellerDomain {
  const looked = { ...before, checkedAt: now, nextLookAt: now + (seen === 'silent' ? RETRY_MS : DAY) };
  if (seen === 'holds') return { ...looked, status: DOMAIN.next(before.status, 'verify'), verifiedAt: now };
  const isLost = seen === 'differs' || now - (before.verifiedAt ?? 0) > PATIENCE_MS;
  return before.status === 'verified' && isLost ? { ...looked, status: DOMAIN.next(before.status, 'fail') } : looked;
}

function requirePublic({ baseUrl }: Scope, name: string): string {
  const domain = name.trim().toLowerCase();
  const target = checkTarget(`https://${domain}/`, { ownHosts: [new URL(baseUrl).hostname], allowLoopback: false });
  if (target.ok && target.value.hostname === domain && domain.includes('.')) return domain;
  const msg = 'Expected a public host, such as shop.example.com: without https://, a port or a path';
  throw new ApiError('validation_error', { problems: [{ loc: ['body', 'domain'], msg, type: 'not_a_domain' }] });
}
