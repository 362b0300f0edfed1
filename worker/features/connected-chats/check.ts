import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { PlatformCheck } from '#platform/db/tables/office/placements.ts';
import { deskOf, missingForDelivery, paceOf } from '#platform/providers/messaging/platforms.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';
import { claimPlatformCheck, listPlatformChecks, savePlatformCheck, UNDER_WAY } from './store.ts';

/** Minimum interval between checks of a platform, for all callers together. */
const POLL_EVERY_MS = 10 * SECOND;
const FIRST_CHECK_MS = 11 * SECOND;
const AGAIN_MS = 250;

/** Checks the operator's bot at a platform. Returns the last result if the platform was checked within the interval. */
export async function checkPlatform(ctx: Ctx, provider: IdentityProvider): Promise<Pick<PlatformCheck, 'ok' | 'detail' | 'latencyMs'>> {
  const missing = missingForDelivery(ctx.config, provider);
  if (missing.length > 0) return { ok: false, detail: `Not configured: ${missing.join(', ')}.`, latencyMs: 0 };
  const { db } = globalOf(ctx);
  if (!(await claimPlatformCheck(db, provider, ctx.wallNow, ctx.wallNow - POLL_EVERY_MS))) {
    const last = await lastCheck(ctx, provider);
    if (last) return last;
  }
  const startedMs = ctx.elapsedMs();
  const found = await PLATFORMS[provider].check(deskOf(ctx, paceOf(provider)));
  const check = { ...found, provider, latencyMs: ctx.elapsedMs() - startedMs, checkedAt: ctx.wallNow };
  await savePlatformCheck(db, check);
  return check;
}

/** Returns the last result. If the first check runs for another caller, waits for its result. */
async function lastCheck(ctx: Ctx, provider: IdentityProvider): Promise<PlatformCheck | undefined> {
  const { db } = globalOf(ctx);
  for (;;) {
    const last = (await listPlatformChecks(db)).find((check) => check.provider === provider);
    if (last?.detail !== UNDER_WAY || ctx.elapsedMs() > FIRST_CHECK_MS) return last;
    await scheduler.wait(AGAIN_MS);
  }
}
