import { z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import type { SellerDomain } from '#platform/db/tables/office/domains.ts';
import { given, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
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

export const domainRoutes = routes('Account')
  .read({
    path: 'GET /account/domain',
    id: 'getDomain',
    summary: 'Get your domain',
    description:
      'The domain that buyers are shown beside your name while it is verified, and the token that proves it. 404 where you have named none.',
    query: z.object({}),
    returns: DomainBody,
    codes: ['not_found'],
    answer: async ({ scope }) => toDomainResource((await findDomain(scope.db, scope.merchantId)) ?? raise('not_found')),
  })
  .person({
    path: 'PUT /account/domain',
    id: 'setDomain',
    summary: 'Set your domain',
    description:
      'Put `{"account_id": "…", "token": "…"}` at `https://<domain>/.well-known/svc-merchant.json`, and call this again: it is looked at at once, ' +
      'and every day. The same domain keeps its token. At most one look in ten seconds.',
    body: z.object({ domain: z.string().min(3).max(253) }).openapi('SetDomainRequest', { example: { domain: 'shop.example.com' } }),
    returns: DomainBody,
    codes: ['rate_limited'],
    leased: ({ scope, body: { domain } }) => setDomain(scope, domain),
    present: toDomainResource,
  })
  .person({
    path: 'DELETE /account/domain',
    id: 'deleteDomain',
    summary: 'Remove your domain',
    description: 'Buyers are shown it no more. Removing none is fine.',
    returns: { 204: { description: 'Removed' } },
    leased: ({ scope: { db, merchantId } }) => deleteDomain(db, merchantId),
    present: () => undefined,
  });
