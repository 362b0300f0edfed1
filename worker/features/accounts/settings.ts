import { z } from '@hono/zod-openapi';
import { HttpsUrl, ShownName } from '#platform/http/bodies/own-fields.ts';
import type { MerchantSettings } from './store.ts';

const orCleared = <S extends z.ZodType<string>>(schema: S) => z.union([z.literal(''), schema]).optional();

const text = (max: number) => orCleared(ShownName(max));
const httpsUrl = orCleared(HttpsUrl);
const colour = orCleared(z.string().regex(/^#[0-9a-fA-F]{6}$/, 'Expected a color such as #1a2b3c'));

export const MerchantSettingsPatch = z
  .object({
    checkout_brand_name: text(80).describe('Brand name on the checkout page, in addition to the account name.'),
    checkout_logo_url: httpsUrl.describe('https URL of a PNG or JPEG of at most 200 KB.'),
    checkout_hero_image_url: httpsUrl,
    checkout_success_button_label: text(40),
    checkout_accent_hex: colour.describe('Color of buttons, such as `#1a2b3c`. The contrast is adjusted for legibility.'),
    default_redirect_url: httpsUrl.describe('Default URL for buyers after payment, if the product sets none.'),
    default_support_url: httpsUrl,
  })
  .openapi('MerchantSettingsPatch', { example: { checkout_brand_name: 'Ada’s weather', checkout_accent_hex: '#1a2b3c' } });

export const SETTING_NAMES = Object.keys(MerchantSettingsPatch.shape) as (keyof MerchantSettings)[];

export function mergeSettings(
  settings: MerchantSettings,
  patch: MerchantSettings,
): { settings: MerchantSettings; changed: (keyof MerchantSettings)[] } {
  const changed = SETTING_NAMES.filter((name) => patch[name] !== undefined && patch[name] !== (settings[name] ?? ''));
  const merged = Object.entries({ ...settings, ...patch }).filter(([, value]) => value !== undefined && value !== '');
  return { settings: Object.fromEntries(merged), changed };
}
