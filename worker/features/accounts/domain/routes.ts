import { createRoute, z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import type { SellerDomain } from '#platform/db/tables/office/domains.ts';
import { keyedPersonRoute, merchantErrors, merchantRoute, merchantWriteErrors } from '#platform/http/callers.ts';
import { answerLeased, OptionalIdempotencyHeader, sendStored } from '#platform/http/idempotency-key.ts';
import { given, jsonBody, ok, router, Timestamp } from '#platform/http/openapi.ts';
import { DOMAIN } from '#rules/states.ts';
import { deleteDomain, findDomain } from '../store.ts';
import { setDomain } from './domain.ts';

const DomainBody = z
  .object({
    domain: z.string(),
    status: z.enum(DOMAIN.states).openapi({ description: 'Shown to buyers while `verified`. `failed`: its file holds the token no more.' }),
    checked_at: Timestamp.optional(),
    token: z.string().openapi({ description: 'What `/.well-known/svc-merchant.json` there has to hold, as `{account_id, token}`.' }),
  })
  .openapi('SellerDomain');

const toDomainResource = ({ domain, status, checkedAt, token }: SellerDomain): z.infer<typeof DomainBody> => ({
  domain,
  status,
  ...given('checked_at', checkedAt === null ? null : iso(checkedAt)),
  token,
});

const read = createRoute({
  method: 'get',
  path: '/account/domain',
  operationId: 'getDomain',
  tags: ['Account'],
  summary: 'Get your domain',
  description:
    'The domain that buyers are shown beside your name while it is verified, and the token that proves it. 404 where you have named none.',
  ...merchantRoute('read'),
  responses: { ...ok(DomainBody), ...merchantErrors('not_found') },
});

const set = createRoute({
  method: 'put',
  path: '/account/domain',
  operationId: 'setDomain',
  tags: ['Account'],
  summary: 'Set your domain',
  description:
    'Put `{"account_id": "…", "token": "…"}` at `https://<domain>/.well-known/svc-merchant.json`, and call this again: it is looked at at once, ' +
    'and every day. The same domain keeps its token. At most one look in ten seconds.',
  ...keyedPersonRoute(),
  request: {
    headers: OptionalIdempotencyHeader,
    ...jsonBody(z.object({ domain: z.string().min(3).max(253) }).openapi('SetDomainRequest', { example: { domain: 'shop.example.com' } })),
  },
  responses: { ...ok(DomainBody), ...merchantWriteErrors('rate_limited') },
});

const remove = createRoute({
  method: 'delete',
  path: '/account/domain',
  operationId: 'deleteDomain',
  tags: ['Account'],
  summary: 'Remove your domain',
  description: 'Buyers are shown it no more. Removing none is fine.',
  ...keyedPersonRoute(),
  request: { headers: OptionalIdempotencyHeader },
  responses: { 204: { description: 'Removed' }, ...merchantWriteErrors() },
});

export const domainRoutes = router()
  .openapi(read, async (c) => {
    const { scope: ctx } = c.var;
    return c.json(toDomainResource((await findDomain(ctx.db, ctx.merchantId)) ?? raise('not_found')), 200);
  })
  .openapi(set, async (c) => {
    const { domain } = c.req.valid('json');
    const present = (set: SellerDomain) => ({ status: 200, body: toDomainResource(set) });
    return sendStored(c, await answerLeased(c, () => setDomain(c.var.scope, domain), present));
  })
  .openapi(remove, async (c) => {
    const { db, merchantId } = c.var.scope;
    return sendStored(
      c,
      await answerLeased(
        c,
        () => deleteDomain(db, merchantId),
        () => ({ status: 204 }),
      ),
    );
  });
