import { sha256Hex } from '#core/crypto.ts';
import type { AccountId } from '#core/ids.ts';
import type { Ctx, Shard } from '#platform/context.ts';
import type { Write } from '#platform/db/commit.ts';
import { fetchPicture } from '#platform/providers/picture.ts';
import { checkTarget, targetRules } from '#platform/providers/target-url.ts';
import { forgetLogo, type MerchantSettings, storeLogo } from './store.ts';

/** A logo as papers will show it: statements for the batch of the setting, and in words why there is none; null where one was kept, or none was asked for. */
export interface LogoReading {
  writes(ctx: Shard, accountId: AccountId): Write[];
  problem: string | null;
}

const UNCHANGED: LogoReading = { writes: () => [], problem: null };
const cleared = (problem: string | null): LogoReading => ({ writes: ({ db }, accountId) => [forgetLogo(db, accountId)], problem });

/**
 * Reads the logo that a patch of the settings names, every time it names one, so that saving the same address again brings the picture of
 * now. A receipt never waits for it: papers carry the bytes that are kept here. One that cannot be drawn is not kept, and its address is
 * saved all the same, because pages show it by themselves.
 */
export async function readLogo(ctx: Ctx, { checkout_logo_url: url }: MerchantSettings): Promise<LogoReading> {
  if (url === undefined) return UNCHANGED;
  if (url === '') return cleared(null);
  const target = checkTarget(url, targetRules(ctx));
  if (!target.ok) return cleared('its address is not a public https address on port 443 or 8443');
  const answer = await fetchPicture(ctx, url);
  if ('problem' in answer) return cleared(answer.problem);
  const { bytes } = answer;
  const { isDrawable } = await import('#papers/logo.ts');
  if (!(await isDrawable(bytes))) return cleared('it is no PNG or JPEG that can be drawn, of at most four million pixels');
  const logo = { url, sha256: sha256Hex(bytes), bytes };
  return { writes: ({ db }, merchantId) => [storeLogo(db, { merchantId, ...logo })], problem: null };
}
