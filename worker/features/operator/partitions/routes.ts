import { z } from '@hono/zod-openapi';
import { operatorOnly } from '#features/accounts/operator/operator-only.ts';
import { routes } from '#platform/http/route.ts';

const facts = z.record(z.string(), z.unknown());
const partition = z.string().regex(/^[0-9a-f]{3}$/);
const database = z.string().regex(/^DB(?:_\d+)?$/);

const load = () => import('./move.ts');

export const partitionRoutes = routes()
  .public({
    path: 'GET /v1/operator/partitions',
    bucket: 'operator',
    guards: [operatorOnly],
    returns: z.object({ items: z.array(facts) }),
    codes: ['not_found'],
    answer: async ({ ctx }) => ({ items: await (await load()).listPartitions(ctx) }),
  })
  .public({
    path: 'GET /v1/operator/databases',
    bucket: 'operator',
    guards: [operatorOnly],
    returns: z.object({ items: z.array(facts) }),
    codes: ['not_found'],
    answer: async ({ ctx }) => {
      const { listDatabases } = await import('./list-databases.ts');
      return { items: (await listDatabases(ctx)).map((one) => ({ ...one })) };
    },
  })
  .public({
    path: 'POST /v1/operator/partitions/move',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ partition, to: database }),
    returns: facts,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ ctx, body }) => ({ ...(await (await load()).movePartition(ctx, body)) }),
  })
  .public({
    path: 'POST /v1/operator/partitions/cancel',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ partition }),
    returns: facts,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ ctx, body }) => ({ ...(await (await load()).cancelMove(ctx, body.partition)) }),
  })
  .public({
    path: 'POST /v1/operator/partitions/close',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ database }),
    returns: facts,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ ctx, body }) => ({ ...(await (await load()).closeDatabase(ctx, { ...body, isOpen: false })) }),
  })
  .public({
    path: 'POST /v1/operator/partitions/open',
    bucket: 'operator',
    guards: [operatorOnly],
    body: z.object({ database }),
    returns: facts,
    codes: ['not_found', 'state_conflict'],
    answer: async ({ ctx, body }) => ({ ...(await (await load()).closeDatabase(ctx, { ...body, isOpen: true })) }),
  });
