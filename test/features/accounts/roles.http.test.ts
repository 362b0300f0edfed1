import { beforeAll, describe, expect, it } from 'vitest';
import { ROLES, type Role } from '#rules/access/roles.ts';
import { openApi } from '../../support/clients/call.ts';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { permittedRoles } from '../../support/fixtures/role-matrix.ts';
import { addMember } from '../../support/people/team.ts';
import { type Merchant, World } from '../../support/world.ts';

const NOWHERE = '01900000-0000-7000-8000-000000000000';
const NAMED_IDS: Record<string, string> = { rail_id: 'x402_solana_usdc', slug: 'none', provider: 'google' };

/** Operations of persons about themselves: no role is needed. */
const OF_SELF = [
  'GET /v1/accounts',
  'POST /v1/auth/switch',
  'POST /v1/auth/logout',
  'GET /v1/account/sessions',
  'DELETE /v1/account/sessions',
  'DELETE /v1/account/sessions/{session_id}',
  'GET /v1/account/identities',
  'DELETE /v1/account/identities/{provider}',
  'POST /v1/account/email/verification',
  'PATCH /v1/account/me/security',
  'POST /v1/account/passkeys/options',
  'POST /v1/account/passkeys',
  'GET /v1/account/passkeys',
  'PATCH /v1/account/passkeys/{passkey_id}',
  'DELETE /v1/account/passkeys/{passkey_id}',
  'POST /v1/account/totp',
  'POST /v1/account/totp/confirm',
  'DELETE /v1/account/totp',
  'POST /v1/account/recovery-codes',
  'POST /v1/auth/step-up/options',
  'POST /v1/auth/step-up',
  'POST /v1/invitations/accept',
  'POST /v1/account/transfer/accept',
];

const operations = Object.entries(openApi.paths).flatMap(([path, methods]) =>
  Object.entries(methods)
    .filter(([, { security }]) => security?.some((way) => 'bearer' in way))
    .map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, method: method.toUpperCase(), path, operation })),
);

describe('roles at each operation', () => {
  const w = new World();
  let owner: Merchant;
  const tokens: Partial<Record<Role, string>> = {};

  beforeAll(async () => {
    owner = await w.merchant();
    // A sign-in of long ago, so that no allowed call deletes the account.
    tokens.owner = await tokenSignedIn(w, owner.userId, 60);
    for (const role of ROLES.slice(1) as Exclude<Role, 'owner'>[]) tokens[role] = (await addMember(w, owner, role, 60)).token;
  });

  const scoped = operations.flatMap(({ operation, ...one }) => {
    const isPlanSale = one.path.startsWith('/v1/access/x402/activate/');
    const scope = operation['x-scope'] ?? (isPlanSale ? 'billing:write' : null);
    return scope === null ? [] : [{ ...one, scope }];
  });

  it('each operation with a token is of a group, or about the person alone', () => {
    const open = operations.filter(({ name }) => !scoped.some((one) => one.name === name)).map(({ name }) => name);
    // The token in the body, or none: to sign in, and to link a provider to the person.
    const withoutAccount = ['POST /v1/auth/refresh', 'GET /v1/auth/oauth/{provider}/start'];
    expect(open.filter((name) => !withoutAccount.includes(name)).sort()).toEqual([...OF_SELF].sort());
    expect(scoped.length).toBeGreaterThan(90);
  });

  it.each(['live', 'sandbox'])(
    'each role may make the operations of its groups and no others in %s mode',
    async (mode) => {
      for (const { name, method, path, scope } of scoped) {
        const url = path.replace(/\{(\w+)\}/g, (_, id) => NAMED_IDS[id] ?? NOWHERE);
        const needs = permittedRoles(scope);
        for (const role of ROLES) {
          const answer = await w.call(method, `${url}?mode=${mode}`, {
            key: tokens[role]!,
            ...(method === 'GET' ? {} : { body: {} }),
            headers: { 'Idempotency-Key': crypto.randomUUID() },
          });
          const said = `${role} ${name}: ${answer.status} ${JSON.stringify(answer.body?.meta)}`;
          if (needs.includes(role)) expect(answer.body?.meta?.reason, said).not.toBe('role');
          else
            expect([answer.status, answer.body.code, answer.body.meta], said).toEqual([
              403,
              'invalid_authorization',
              { reason: 'role', role, needs },
            ]);
          expect(answer.status, said).not.toBe(401);
        }
      }
    },
    240_000,
  );

  it('a person reads the own sessions and providers in every role', async () => {
    for (const role of ROLES)
      for (const path of ['/v1/accounts', '/v1/account/sessions', '/v1/account/identities', '/v1/account/me'])
        expect((await w.call('GET', path, { key: tokens[role]! })).status, `${role} ${path}`).toBe(200);
  });
});
