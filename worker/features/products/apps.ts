import { z } from '@hono/zod-openapi';
import { type AppId, newId } from '#core/ids.ts';
import { iso } from '#core/time.ts';
import type { Scope } from '#platform/context.ts';
import type { Change } from '#platform/db/commit.ts';
import type { AccessApp } from '#platform/db/tables/products.ts';
import { ShownName } from '#platform/http/bodies/own-fields.ts';
import { given, Timestamp } from '#platform/http/openapi.ts';
import { insertApp } from './store.ts';

export const CreateAppRequest = z
  .object({
    name: ShownName(160),
    homepage_url: z
      .url({ protocol: /^https$/, hostname: z.regexes.domain })
      .max(2048)
      .optional()
      .describe('https URL of the application’s home page.'),
  })
  .openapi('CreateAppRequest', { example: { name: 'Weather for agents', homepage_url: 'https://weather.example.com' } });

export const AppBody = z
  .object({
    access_app_id: z.uuid().describe('Identifier of the application that the product belongs to.'),
    name: z.string(),
    homepage_url: z.string().optional().describe('https URL of the application’s home page.'),
    created_at: Timestamp,
  })
  .openapi('AccessApp');

export const toAppResource = (app: AccessApp): z.infer<typeof AppBody> => ({
  access_app_id: app.id,
  name: app.name,
  ...given('homepage_url', app.homepageUrl),
  created_at: iso(app.createdAt),
});

export function planApp(ctx: Scope, input: z.infer<typeof CreateAppRequest>): Change<AccessApp> {
  const app: AccessApp = {
    id: newId<AppId>(ctx.now, ctx.merchantId),
    merchantId: ctx.merchantId,
    livemode: ctx.livemode,
    name: input.name,
    homepageUrl: input.homepage_url ?? null,
    createdAt: ctx.now,
  };
  return { events: [], writes: [insertApp(ctx.db, app)], result: app };
}
