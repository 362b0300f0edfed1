import { SECOND } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import { globalOf } from '#platform/db/directory.ts';
import type { PlatformLook } from '#platform/db/tables/office/placements.ts';
import { deskOf, missingForDelivery, paceOf } from '#platform/providers/messaging/platforms.ts';
import { PLATFORMS } from '#platform/providers/messaging/registry.ts';
import type { IdentityProvider } from '#rules/payment-terms.ts';
import { keepLook, listLooks, takeLook, UNDER_WAY } from './store.ts';

/** However many ask, and however often: a platform is asked once in so long. */
const LOOK_EVERY_MS = 10 * SECOND;
/** The first look is waited for that long, and looked for that often. */
const FIRST_LOOK_MS = 11 * SECOND;
const AGAIN_MS = 250;

/** What the operator's bot at a platform says of itself; the last answer where one was looked for a moment ago. */
export async function lookAt(ctx: Ctx, provider: IdentityProvider): Promise<Pick<PlatformLook, 'ok' | 'detail' | 'latencyMs'>> {
  const missing = missingForDelivery(ctx.config, provider);
  if (missing.length > 0) return { ok: false, detail: `Not configured: ${missing.join(', ')}.`, latencyMs: 0 };
  const { db } = globalOf(ctx);
  if (!(await takeLook(db, provider, ctx.wallNow, ctx.wallNow - LOOK_EVERY_MS))) {
    const last = await lastLook(ctx, provider);
    if (last) return last;
  }
  const startedMs = ctx.elapsedMs();
  const found = await PLATFORMS[provider].check(deskOf(ctx, paceOf(provider)));
  const look = { ...found, provider, latencyMs: ctx.elapsedMs() - startedMs, lookedAt: ctx.wallNow };
  await keepLook(db, look);
  return look;
}

/** What the last look showed; where the very first one is under way for another caller, what that comes to. */
async function lastLook(ctx: Ctx, provider: IdentityProvider): Promise<PlatformLook | undefined> {
  const { db } = globalOf(ctx);
  for (;;) {
    const last = (await listLooks(db)).find((look) => look.provider === provider);
    if (last?.detail !== UNDER_WAY || ctx.elapsedMs() > FIRST_LOOK_MS) return last;
    await scheduler.wait(AGAIN_MS);
  }
}
