import { createRoute, z } from '@hono/zod-openapi';
import { ApiError } from '#core/errors.ts';
import { commitWithAnswer, once } from '#platform/db/once.ts';
import { toWholePage } from '#platform/db/page.ts';
import { idempotentRoute, merchantBodyErrors, merchantErrors, merchantRoute } from '#platform/http/callers.ts';
import { IdempotencyHeader, idempotencyErrors, idempotentRequest, sendStored } from '#platform/http/idempotency-key.ts';
import { errors, jsonBody, ModeQuery, ok, pageOf, router } from '#platform/http/openapi.ts';
import { publicBucket } from '#platform/http/rate-limit.ts';
import { isRailId, RAIL_IDS } from '#rules/product-rails.ts';
import { listRailSettings, listRails, planRailSetting, RailBody, RailSettingBody, RailSettingUpdate } from './settings.ts';

const tags = ['Rails'];
const list = createRoute({
  method: 'get',
  path: '/access/rails',
  operationId: 'listRails',
  tags,
  summary: 'List rails',
  description: 'The ways of being paid, and how each is right now.',
  middleware: publicBucket('payload'),
  responses: { ...ok(pageOf(RailBody, 'RailPage')), ...errors('rate_limited') },
});
const settings = createRoute({
  method: 'get',
  path: '/access/rail-settings',
  operationId: 'listRailSettings',
  tags,
  summary: 'List rail settings',
  description: 'Your settings of every rail, and whether their payout accounts exist.',
  ...merchantRoute('read'),
  request: { query: z.object(ModeQuery) },
  responses: { ...ok(pageOf(RailSettingBody, 'RailSettingPage')), ...merchantErrors() },
});
const update = createRoute({
  method: 'put',
  path: '/access/rail-settings/{rail_id}',
  operationId: 'putRailSetting',
  tags,
  summary: 'Set a rail',
  description:
    'A key may name the first payout wallet of all, or one that is known already. In live mode any other needs a person who signed in within 15 minutes.',
  ...idempotentRoute(),
  request: {
    headers: IdempotencyHeader,
    params: z.object({ rail_id: z.string().openapi({ param: { name: 'rail_id', in: 'path' }, enum: RAIL_IDS }) }),
    query: z.object(ModeQuery),
    ...jsonBody(RailSettingUpdate),
  },
  responses: {
    ...ok(RailSettingBody),
    ...merchantBodyErrors(...idempotencyErrors, 'idempotency_race', 'invalid_wallet_address', 'not_found', 'plan_limit_reached'),
  },
});

export const railRoutes = router()
  .openapi(list, async (c) => {
    return c.json(toWholePage(await listRails(c.var.shard)), 200);
  })
  .openapi(settings, async (c) => {
    return c.json(toWholePage(await listRailSettings(c.var.scope)), 200);
  })
  .openapi(update, async (c) => {
    const { actor, scope: ctx } = c.var;
    const railId = c.req.valid('param').rail_id;
    if (!isRailId(railId)) throw new ApiError('not_found');
    const input = c.req.valid('json');
    const plan = () => planRailSetting(ctx, actor, railId, input);
    const answer = await once(
      ctx,
      await idempotentRequest(c),
      // Refused by the database, it is planned again: where another wallet was first, that says so.
      async (storeAnswer) => commitWithAnswer(ctx, await plan(), storeAnswer, () => plan().then(() => null)),
      (body) => ({ status: 200, body }),
    );
    return sendStored(c, answer);
  });
