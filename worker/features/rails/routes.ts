import { z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import { commitWithAnswer } from '#platform/db/once.ts';
import { toSinglePage } from '#platform/db/page.ts';
import { pageOf } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { isRailId, RAIL_IDS } from '#rules/product-rails.ts';
import { listRailSettings, listRails, planRailSetting, RailBody, RailSettingBody, RailSettingUpdate } from './settings.ts';

export const railRoutes = routes('Rails', 'payouts')
  .public({
    path: 'GET /access/rails',
    id: 'listRails',
    sdk: 'rails.list',
    summary: 'List rails',
    description: 'Lists the payment rails and their current status.',
    bucket: 'payload',
    returns: pageOf(RailBody, 'RailPage'),
    answer: async ({ shard }) => toSinglePage(await listRails(shard)),
  })
  .read({
    path: 'GET /access/rail-settings',
    id: 'listRailSettings',
    sdk: 'railSettings.list',
    summary: 'List rail settings',
    description: 'Lists your settings of every rail, and whether the payout accounts exist.',
    returns: pageOf(RailSettingBody, 'RailSettingPage'),
    answer: async ({ scope }) => toSinglePage(await listRailSettings(scope)),
  })
  .write({
    path: 'PUT /access/rail-settings/{rail_id}',
    id: 'putRailSetting',
    sdk: 'railSettings.update',
    agent: { confirm: true },
    summary: 'Update a rail setting',
    description:
      'Updates your setting of a rail. In live mode a payout wallet that is neither the first nor a known one requires a person who signed in within the last 15 minutes.',
    key: 'required',
    params: z.object({
      rail_id: z
        .string()
        .openapi({ param: { name: 'rail_id', in: 'path' }, enum: RAIL_IDS })
        .describe('Payment rail.'),
    }),
    body: RailSettingUpdate,
    returns: RailSettingBody,
    codes: ['invalid_wallet_address', 'not_found', 'plan_limit_reached'],
    check: ({ params: { rail_id: railId } }) => (isRailId(railId) ? railId : raise('not_found')),
    once: async ({ scope, actor, checked: railId, body }, storeAnswer) => {
      const plan = () => planRailSetting(scope, actor, railId, body);
      // After an aborted batch the change is planned again, which throws if another wallet was first.
      return commitWithAnswer(scope, await plan(), storeAnswer, () => plan().then(() => null));
    },
    audit: {
      action: 'rail.updated',
      subject: 'rail',
      fields: ({ rail_id: id, enabled, payout_wallet, origins }) => ({ id, enabled, payout_wallet, origins }),
    },
    present: (body) => body,
  });
