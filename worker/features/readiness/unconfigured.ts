import { z } from '@hono/zod-openapi';
import { listProviders } from '#features/accounts/oauth/registry.ts';
import { listMissingKeys, type NamedKey } from '#platform/chain/named-keys.ts';
import type { Ctx } from '#platform/context.ts';
import { missingForMail } from '#platform/providers/mail/mail-providers.ts';
import { missingForProcessor } from '#platform/providers/processor.ts';

export const UnconfiguredBody = z.record(z.string(), z.array(z.string())).openapi('Unconfigured', {
  description:
    'Unconfigured parts of the deployment: `google`, `github`, `processor` and `mail`, each with the names of its missing variables and bindings; `keys`, with those that lack a key which open payments, channels or subscriptions name. Complete parts are absent. None of them blocks a sale.',
  example: { github: ['GITHUB_CLIENT_SECRET'], mail: ['MAIL_PROVIDER', 'MAIL_FROM'] },
});

/** Lists optional features with missing variables, by name. Names are public, values never appear. */
export function listUnconfigured(ctx: Ctx, named: readonly NamedKey[]): z.infer<typeof UnconfiguredBody> {
  const lacking: [string, string[]][] = [
    ...listProviders(ctx).map(({ provider, missing }): [string, string[]] => [provider, missing]),
    ['processor', missingForProcessor(ctx.config)],
    ['mail', missingForMail(ctx)],
    ['keys', [...new Set(listMissingKeys(ctx.config, named).map(({ variable }) => variable))]],
  ];
  return Object.fromEntries(lacking.filter(([, names]) => names.length > 0));
}
