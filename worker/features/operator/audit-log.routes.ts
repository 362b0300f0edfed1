import { z } from '@hono/zod-openapi';
import type { AccountId } from '#core/ids.ts';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { toEntryResource } from '#features/audit-log/entry.ts';
import { listForOperators } from '#features/audit-log/store.ts';
import { homeOf } from '#platform/db/directory.ts';
import { readEach } from '#platform/db/each-database.ts';
import { routes } from '#platform/http/route.ts';

const SHOWN_MAX = 100;

export const auditLogOperatorRoutes = routes().public({
  path: 'GET /v1/operator/audit-log',
  bucket: 'operator',
  guards: [operatorOnly],
  query: { account: z.uuid().optional(), before: z.iso.datetime({ offset: true }).optional() },
  returns: z.object({ items: z.array(z.record(z.string(), z.unknown())) }),
  codes: ['not_found'],
  answer: async ({ ctx, query: { account, before } }) => {
    const until = before === undefined ? Number.MAX_SAFE_INTEGER : Date.parse(before);
    const accountId = account as AccountId | undefined;
    const list = accountId
      ? await listForOperators(homeOf(ctx, accountId).db, accountId, until, SHOWN_MAX)
      : (await readEach(ctx, ({ db }) => listForOperators(db, undefined, until, SHOWN_MAX))).found.flat().sort((a, b) => b.at - a.at);
    return { items: list.slice(0, SHOWN_MAX).map((entry) => ({ account_id: entry.merchantId, ...toEntryResource(entry) })) };
  },
});
