import { z } from '@hono/zod-openapi';
import { raise } from '#core/errors.ts';
import { iso } from '#core/time.ts';
import type { Ctx } from '#platform/context.ts';
import type { SellerDomain } from '#platform/db/tables/office/domains.ts';
import { given, Timestamp } from '#platform/http/openapi.ts';
import { routes } from '#platform/http/route.ts';
import { didOf } from '#protocols/x402/offer-receipt.ts';
import { DOMAIN } from '#rules/states.ts';
import { removeDomain, setDomain } from './domain.ts';
import { findDomain } from './store.ts';

const DomainBody = z
  .object({
    domain: z.string().describe('Host name of yours in lower case, such as `shop.example.com`, without `https://`, port or path.'),
    status: z
      .enum(DOMAIN.states)
      .describe('Status of the domain. Buyers see the domain while it is `verified`. `failed`: the file does not contain the token.'),
    checked_at: Timestamp.optional(),
    token: z.string().describe('Token that `/.well-known/svc-merchant.json` must contain, as `{account_id, token}`.'),
    controller_record: z
      .object({
        type: z.literal('TXT'),
        name: z.string(),
        value: z.string(),
      })
      .describe(
        'DNS record by which you declare that this service signs x402 offers and receipts for your domain. Optional, and not checked.',
      ),
  })
  .openapi('SellerDomain');

const toDomainResource = ({ baseUrl }: Ctx, { domain, status, checkedAt, token }: SellerDomain): z.infer<typeof DomainBody> => ({
  domain,
  status,
  ...given('checked_at', checkedAt === null ? null : iso(checkedAt)),
  token,
  controller_record: { type: 'TXT', name: `_controllers.${domain}`, value: `v=1;controller=${didOf(baseUrl)}` },
});

export const domainRoutes = routes('Account', 'webhooks')
  .read({
    path: 'GET /account/domain',
    id: 'getDomain',
    sdk: 'account.getDomain',
    summary: 'Get your domain',
    description:
      'Returns the domain that buyers see next to your name while it is verified, and the token that proves it. 404 if no domain is set.',
    query: z.object({}),
    returns: DomainBody,
    codes: ['not_found'],
    answer: async ({ scope }) => toDomainResource(scope, (await findDomain(scope.db, scope.merchantId)) ?? raise('not_found')),
  })
  .person({
    path: 'PUT /account/domain',
    id: 'setDomain',
    sdk: 'account.setDomain',
    summary: 'Set your domain',
    description:
      'Sets your domain. Publish `{"account_id": "…", "token": "…"}` at `https://<domain>/.well-known/svc-merchant.json` and call this again.',
    body: z
      .object({
        domain: z
          .string()
          .min(3)
          .max(253)
          .describe('Host name of yours in lower case, such as `shop.example.com`, without `https://`, port or path.'),
      })
      .openapi('SetDomainRequest', { example: { domain: 'shop.example.com' } }),
    returns: DomainBody,
    codes: ['rate_limited'],
    leased: ({ scope, body: { domain } }) => setDomain(scope, domain),
    audit: ['domain.set'],
    present: (domain, { scope }) => toDomainResource(scope, domain),
  })
  .person({
    path: 'DELETE /account/domain',
    id: 'deleteDomain',
    sdk: 'account.deleteDomain',
    summary: 'Remove your domain',
    description: 'Removes your domain. Buyers no longer see it. Succeeds if no domain is set.',
    returns: { 204: { description: 'Removed' } },
    leased: ({ scope }) => removeDomain(scope),
    audit: ['domain.removed'],
    present: () => undefined,
  });
