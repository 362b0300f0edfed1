import { beforeAll, describe, expect, it } from 'vitest';
import { operateAccount } from '#features/accounts/operator/operator.ts';
import { newCtx } from '#platform/context.ts';
import { exampleOf, isOpen, nameOf, pathOf, schemaOfBody, type Target, takes, targets } from '../support/clients/document.ts';
import { type Belongings, openTenant, readTraces, type Tenant } from '../support/people/tenant.ts';
import { mailConfig } from '../support/servers/mail.ts';
import { type Answer, type Merchant, World } from '../support/world.ts';

type Verdict = [status: number, code: string, reason?: string] | 'let in';

const UNAUTHORIZED: Verdict = [401, 'invalid_authorization'];
const NOT_FOUND: Verdict = [404, 'not_found'];
const DOORS = ['invalid_authorization', 'account_suspended', 'account_deleted', 'connector_secret_invalid', 'webhook_signature_failed'];

type Door = 'open' | 'buyer' | 'shared secret' | 'session' | 'person' | 'key' | 'viewer' | 'merchant';
function doorOf({ operation, path }: Target): Door {
  if (operation.security === undefined) return 'open';
  if (['connectorSecret', 'chainSignature', 'processorSignature', 'mailSignature'].some((scheme) => takes(operation, scheme)))
    return 'shared secret';
  if (takes(operation, 'buyer')) return 'buyer';
  const [key, bearer] = [takes(operation, 'apiKey'), takes(operation, 'bearer')];
  if (isOpen(operation)) return key ? 'viewer' : 'session';
  if (!key && !bearer) throw new Error(`nobody may call ${path}`);
  return key && bearer ? 'merchant' : key ? 'key' : 'person';
}

const CALLERS = [
  'nobody',
  'garbage for a key',
  'garbage for a token',
  'a revoked key',
  'a key without the permission',
  'a key of the other mode',
  'the owner in the other mode',
  'a key of another tenant',
  'a token of another tenant',
  'a key of a suspended account',
  'a token of a suspended account',
  'a key of a deleted account',
  'a token of a deleted account',
  'the owner’s key',
  'the owner',
] as const;
type Caller = (typeof CALLERS)[number];

const isKey = (caller: Caller): boolean => / key|for a key/.test(caller);
/** Routes where the service pays fees for others have no sandbox. */
const isLiveAlone = ({ method, path }: Target): boolean => method === 'POST' && path.startsWith('/v1/access/x402/facilitator/');
const isOfLiveMode = ({ path }: Target): boolean => /^\/v1\/(?:billing|account\/delivery\/claims)/.test(path);
/** Routes that a key without scopes does not read. */
const isOfLog = ({ path }: Target): boolean => path.startsWith('/v1/account/audit-log');
const isOfSandbox = ({ path }: Target): boolean => path.startsWith('/v1/testing/');
const SANDBOX_ONLY: Verdict = [403, 'invalid_authorization', 'sandbox_key_required'];
const isOfOtherMode = (caller: Caller): boolean => /other mode/.test(caller);
const knowsModes = ({ operation }: Target): boolean => operation.parameters?.some(({ name }) => name === 'mode') ?? false;
const isForeign = (caller: Caller): boolean => /another tenant|other mode/.test(caller);

const CREDENTIALS: Partial<Record<Caller, Verdict>> = {
  'garbage for a key': UNAUTHORIZED,
  'garbage for a token': UNAUTHORIZED,
  'a revoked key': UNAUTHORIZED,
  'a key of a suspended account': [403, 'account_suspended'],
  'a token of a suspended account': [403, 'account_suspended'],
  'a key of a deleted account': UNAUTHORIZED,
  'a token of a deleted account': [403, 'account_deleted'],
};

const isOfStaff = ({ path }: Target): boolean => /\/resolve$/.test(path);

/** Access rule of a route. `isAddressed`: the path or the body names an object of the owner. */
function expectedOf(target: Target, caller: Caller, isAddressed: boolean): Verdict {
  const door = doorOf(target);
  if (door === 'open') return 'let in';
  if (door === 'buyer') return UNAUTHORIZED;
  if (door === 'shared secret')
    return [401, takes(target.operation, 'connectorSecret') ? 'connector_secret_invalid' : 'webhook_signature_failed'];
  if (target.path.endsWith('/start')) return isKey(caller) || caller === 'nobody' ? 'let in' : (CREDENTIALS[caller] ?? 'let in');
  if (door === 'session') return isKey(caller) || caller === 'nobody' ? UNAUTHORIZED : (CREDENTIALS[caller] ?? 'let in');
  if (caller === 'nobody') return door === 'viewer' ? 'let in' : UNAUTHORIZED;
  const refused = CREDENTIALS[caller];
  if (refused) return refused;
  if (door === 'person' && isKey(caller)) return [403, 'invalid_authorization', 'token_required'];
  if (caller === 'a key without the permission' && door !== 'viewer') return [403, 'invalid_authorization', 'permission'];
  if (isOfLog(target) && isKey(caller)) return [403, 'invalid_authorization', 'scope'];
  if (door === 'key' && !isKey(caller)) return [403, 'invalid_authorization', 'key_required'];
  if (isOfStaff(target)) return [403, 'invalid_authorization', 'staff_required'];
  // Sandbox routes accept sandbox keys and tokens with sandbox mode.
  if (isOfSandbox(target) && !isOfOtherMode(caller)) return SANDBOX_ONLY;
  if (isOfLiveMode(target) && caller === 'a key of the other mode') return [403, 'invalid_authorization', 'mode'];
  if (isOfOtherMode(caller)) {
    if (!knowsModes(target)) return 'let in';
    if (isLiveAlone(target)) return [409, 'setup_not_ready'];
    if (isKey(caller) && nameOf(target) === 'PATCH /v1/account/me') return [403, 'invalid_authorization', 'mode'];
  }
  // An identity session is named only in the body, where an unknown one is a validation error.
  if (isForeign(caller) && isAddressed && nameOf(target) === 'POST /v1/testing/identity') return [422, 'validation_error'];
  return isForeign(caller) && isAddressed ? NOT_FOUND : 'let in';
}

const NAMED = 'product_id payment_id receipt_id endpoint_id delivery_id entitlement_id consumption_id key_id ticket_id tx_sig'.split(' ');
const ANY: Belongings = Object.fromEntries(NAMED.map((name) => [name, `some-${name}`]));

function bodyOf({ operation }: Target, live: Belongings): string {
  const schema = schemaOfBody(operation);
  return schema ? JSON.stringify(exampleOf(schema, live)) : '';
}

function addresses(target: Target, live: Belongings): boolean {
  const sent = bodyOf(target, live);
  const isInPath = [...target.path.matchAll(/\{(\w+)\}/g)].some(([, name]) => live[name!] !== undefined);
  const ids = Object.entries(live).filter(([name]) => (/_id$/.test(name) && name !== 'delivery_id') || /^tx_sig/.test(name));
  return isInPath || ids.some(([, id]) => sent.includes(id));
}

describe('documented routes for every kind of caller', () => {
  const w = new World({ RPC_WEBHOOK_SECRET: 'the-secret-of-the-chain-provider', ALLOW_INSECURE_WEBHOOKS: 'true', ...mailConfig() });
  let owner: Tenant;
  let other: Merchant;
  let revoked: string;
  let suspended: Merchant;
  let deleted: Merchant;
  let traces: Record<'live' | 'all', string[]>;

  beforeAll(async () => {
    owner = await openTenant(w, 'the-owner');
    [other, suspended, deleted] = await Promise.all([w.merchant(), w.merchant(), w.merchant()]);
    const gone = await w.call('POST', '/v1/keys', { key: owner.merchant.token, body: { name: 'gone' } });
    revoked = gone.body.raw_key;
    expect((await w.call('DELETE', `/v1/keys/${gone.body.key.id}`, { key: owner.merchant.token })).status).toBe(204);
    await w.env.DB.prepare('UPDATE persons SET email_verified = 1').run();
    const ctx = newCtx(w.env, { requestId: 'req_callers', defer: () => {} });
    await operateAccount(ctx, { account: suspended.userId, action: 'suspend' });
    expect((await w.call('DELETE', '/v1/account/account', { key: deleted.token })).status).toBe(200);
    const [live, sandbox] = await Promise.all((['live', 'sandbox'] as const).map((mode) => readTraces(owner, mode, false)));
    traces = { live: live!, all: [...live!, ...sandbox!] };
  });

  const makeCredential = async (target: Target, caller: Caller): Promise<string | null> => {
    const spare = async (of: Merchant) => (/\/account\/(?:account|payouts\/disown)$/.test(target.path) ? w.merchant() : of);
    const credentials: Record<Caller, () => Promise<string | null> | string | null> = {
      nobody: () => null,
      'garbage for a key': () => 'svc_garbage',
      'garbage for a token': () => 'garbage',
      'a revoked key': () => revoked,
      'a key without the permission': () => (target.method === 'GET' ? owner.executeKey : owner.readKey),
      'a key of the other mode': () => owner.merchant.sandboxKey,
      'the owner in the other mode': async () => (await spare(owner.merchant)).token,
      'a key of another tenant': () => other.key,
      'a token of another tenant': async () => (await spare(other)).token,
      'a key of a suspended account': () => suspended.key,
      'a token of a suspended account': () => suspended.token,
      'a key of a deleted account': () => deleted.key,
      'a token of a deleted account': () => deleted.token,
      'the owner’s key': () => owner.merchant.key,
      'the owner': async () => (await spare(owner.merchant)).token,
    };
    return credentials[caller]();
  };

  const send = async (target: Target, caller: Caller, { live }: Tenant) => {
    const raw = bodyOf(target, live);
    const isKeyed = target.operation.parameters?.some(({ name }) => name === 'Idempotency-Key');
    const headers = isKeyed ? { 'Idempotency-Key': crypto.randomUUID() } : undefined;
    const key = await makeCredential(target, caller);
    const path = pathOf(target, live);
    const inMode =
      caller === 'the owner in the other mode' && knowsModes(target) ? `${path}${path.includes('?') ? '&' : '?'}mode=sandbox` : path;
    return w.call(target.method, inMode, { key, headers, ...(raw ? { raw } : {}) });
  };

  const check = (target: Target, caller: Caller, { status, body }: Answer<{ code?: string; meta?: { reason?: string } }>) => {
    const expected = expectedOf(target, caller, addresses(target, owner.live));
    const said = `${caller}: ${status} ${JSON.stringify(body)}`;
    if (expected === 'let in') {
      expect(status, said).toBeLessThan(500);
      expect(DOORS, said).not.toContain(body?.code);
    } else expect([status, body.code, ...(expected[2] ? [body.meta?.reason] : [])], said).toEqual(expected);
    if (doorOf(target) === 'open' || doorOf(target) === 'viewer' || !isForeign(caller)) return;
    if (isOfOtherMode(caller) && !knowsModes(target)) return;
    // Both modes share the account and its wallet.
    const shared = [owner.merchant.email, owner.sandbox.payout_wallet];
    const hidden = isOfOtherMode(caller) ? traces.live.filter((trace) => !shared.includes(trace)) : traces.all;
    const sent = `${pathOf(target, owner.live)} ${bodyOf(target, owner.live)}`;
    expect(
      hidden.filter((trace) => said.includes(trace) && !sent.includes(trace)),
      said,
    ).toEqual([]);
  };

  it('documented routes use every kind of access that the document defines', () => {
    expect(new Set(targets.map(doorOf))).toEqual(
      new Set(['open', 'buyer', 'shared secret', 'session', 'person', 'key', 'viewer', 'merchant']),
    );
  });

  it.each(
    targets
      .filter((target) => /merchant|person|viewer/.test(doorOf(target)) && addresses(target, ANY))
      .filter((target) => !isOfStaff(target) && !isOfSandbox(target))
      .map((target) => [nameOf(target), target] as const),
  )('%s answers 404 to its owner if the named object does not exist', async (_name, target) => {
    const { status, body } = await send(target, 'the owner', { ...owner, live: {} });
    expect([status, body.code]).toEqual([404, 'not_found']);
  });

  it.each(targets.map((target) => [nameOf(target), target] as const))(
    '%s admits or refuses every kind of caller as documented',
    async (_name, target) => {
      const callers = /\/auth\/(?:register|login)$/.test(target.path) ? CALLERS.slice(0, 4) : CALLERS;
      const isRefused = (caller: Caller) => expectedOf(target, caller, addresses(target, owner.live)) !== 'let in';
      await Promise.all(callers.filter(isRefused).map(async (caller) => check(target, caller, await send(target, caller, owner))));
      for (const caller of callers) if (!isRefused(caller)) check(target, caller, await send(target, caller, owner));
    },
  );
});
