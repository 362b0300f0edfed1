import { describe, expect, it } from 'vitest';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { withRivalAt } from '../../support/faults/faults.ts';
import { Authenticator } from '../../support/people/authenticator.ts';
import { beginPasskey } from '../../support/people/factors.ts';
import { acceptOffer, actingToken, addMember, newHeir, offer } from '../../support/people/team.ts';
import { testEnv } from '../../support/runner/env.ts';
import { emailedToken, MailWorld, tokenIn, verifyAddress } from '../../support/servers/mail.ts';
import type { Merchant, World } from '../../support/world.ts';

const w = new MailWorld({ ALLOW_INSECURE_WEBHOOKS: 'true' });
const PASSWORD = 'correct horse battery';
const TRIPS_MAX = 12;

/** Token of the newest link in the alerts to an address about a key. */
const linkTo = async (email: string) => {
  await w.post();
  const tokens = (await w.posted()).taken.filter(({ body }) => body.to[0] === email).map(tokenIn);
  return tokens.filter((token) => token.split('.')[2] === 'live_key').at(-1)!;
};

/** Merchant with a session that a thief has too. */
async function newOwner(): Promise<Merchant> {
  const owner = await w.merchant('growth');
  await verifyAddress(w, owner);
  return owner;
}
const madeKey = (token: string) => w.call('POST', '/v1/keys', { key: token, body: { name: 'thief' } });

interface Deed {
  /** Returns the call, begun as far as it needs earlier calls. */
  begin(owner: Merchant): Promise<{ method: string; path: string; body?: object; key?: string; idempotencyKey?: string }>;
  /** Query that counts what the call leaves. */
  left: string;
}

let made = 0;
const DEEDS: Record<string, Deed> = {
  'a passkey': {
    begin: async ({ token }) => {
      const { ceremony_id, options } = await beginPasskey(w, token);
      return { method: 'POST', path: 'account/passkeys', body: { ceremony_id, response: await new Authenticator().create(options) } };
    },
    left: 'SELECT count(*) AS n FROM passkeys WHERE person_id = ?',
  },
  'another email and password': {
    begin: async () => ({
      method: 'PATCH',
      path: 'account/me/security',
      body: { email: `thief-of-call-${++made}@example.com`, new_password: 'battery staple 9', current_password: PASSWORD },
    }),
    left: "SELECT count(*) AS n FROM persons WHERE id = ? AND email LIKE 'thief-%'",
  },
  'a live key': {
    begin: async () => ({ method: 'POST', path: 'keys', body: { name: 'late' } }),
    left: "SELECT count(*) AS n FROM api_keys WHERE merchant_id = ? AND name = 'late' AND revoked_at IS NULL",
  },
  'an endpoint': {
    begin: async () => ({ method: 'POST', path: 'webhooks/endpoints', body: { url: `${testEnv.TEST_RECEIVER_URL}/ok/late-${++made}` } }),
    left: "SELECT count(*) AS n FROM webhook_endpoints WHERE merchant_id = ? AND status = 'enabled'",
  },
  'a payout wallet of a rail': {
    begin: async () => ({
      method: 'PUT',
      path: 'access/rail-settings/solana_usdc',
      body: { payout_wallet: (await w.chain.wallet(0n)).address },
      idempotencyKey: crypto.randomUUID(),
    }),
    left: 'SELECT count(*) AS n FROM rail_settings WHERE merchant_id = ? AND payout_wallet IS NOT NULL',
  },
  'an invitation': {
    begin: async () => ({
      method: 'POST',
      path: 'account/invitations',
      body: { email: `friend-${++made}@example.com`, role: 'developer' },
    }),
    left: "SELECT count(*) AS n FROM invitations WHERE account_id = ? AND status = 'pending'",
  },
};

const count = async (query: string, id: string) =>
  (await testEnv.DB.prepare(query.replace('?', `unhex('${id.replaceAll('-', '')}')`)).first<{ n: number }>())!.n;

const send = (owner: Merchant, call: Awaited<ReturnType<Deed['begin']>>, env: World['env'] = w.env) =>
  w.call(call.method, `/v1/${call.path}`, {
    key: call.key ?? owner.token,
    body: call.body,
    env,
    headers: call.idempotencyKey ? { 'Idempotency-Key': call.idempotencyKey } : {},
  });

describe('a call that was admitted before the account was taken back', () => {
  const dispute = async (token: string, env: World['env'] = w.env) => {
    const undone = await w.call('POST', '/v1/account/not-me', { body: { token }, env });
    expect([undone.status, JSON.stringify(undone.body)]).toEqual([200, expect.any(String)]);
  };

  for (const [name, { begin, left }] of Object.entries(DEEDS)) {
    it(`leaves no trace of ${name} if the owner’s link is used while it is under way, at whichever step`, async () => {
      let refused = 0;
      for (let trip = 1; trip <= TRIPS_MAX; trip++) {
        const owner = await newOwner();
        expect((await madeKey(owner.token)).status).toBe(201);
        const token = await linkTo(owner.email);
        const call = await begin(owner);
        const { env, hasRun } = withRivalAt(w.env, trip, () => dispute(token));
        const { status, body } = await send(owner, call, env);
        if (status === 401) expect(body.meta).toEqual({ reason: 'session_ended' });
        if (!hasRun()) break;
        if (status === 401) refused++;
        expect([trip, await count(left, owner.userId)]).toEqual([trip, 0]);
      }
      expect(refused).toBeGreaterThan(0);
    });

    it(`leaves no trace of ${name} if it is made while the owner’s link is used, at whichever step`, async () => {
      let trips = 0;
      for (let trip = 1; trip <= 40; trip++) {
        const owner = await newOwner();
        expect((await madeKey(owner.token)).status).toBe(201);
        const token = await linkTo(owner.email);
        const call = await begin(owner);
        const { env, hasRun } = withRivalAt(w.env, trip, () => send(owner, call));
        await dispute(token, env);
        if (!hasRun()) break;
        trips++;
        expect([trip, await count(left, owner.userId)]).toEqual([trip, 0]);
      }
      expect(trips).toBeGreaterThan(3);
    });
  }

  it('leaves no trace of a passkey if a reset ends all other access while it is under way', async () => {
    const { begin, left } = DEEDS['a passkey']!;
    for (let trip = 1; trip <= TRIPS_MAX; trip++) {
      const owner = await newOwner();
      const reset = { token: await emailedToken(w, owner.userId, 'reset'), new_password: 'battery staple 9', end_others: true };
      const call = await begin(owner);
      const end = async () => expect((await w.call('POST', '/v1/auth/password/reset', { body: reset })).status).toBe(200);
      const { env, hasRun } = withRivalAt(w.env, trip, end);
      await send(owner, call, env);
      if (!hasRun()) break;
      expect([trip, await count(left, owner.userId)]).toEqual([trip, 0]);
    }
  });

  it('leaves no endpoint in another account of the person if it is made while the owner’s link is used', async () => {
    for (let trip = 1, hasRun = true; hasRun; trip++) {
      const { owner: other, heir } = await newHeir(w);
      expect([(await offer(w, other, heir)).status, (await acceptOffer(w, heir)).status]).toEqual([202, 200]);
      const person = { ...heir.own, token: await tokenSignedIn(w, heir.userId, 0) };
      expect((await madeKey(person.token)).status).toBe(201);
      const token = await linkTo(person.email);
      const acting = await actingToken(w, person, other);
      const call = await DEEDS['an endpoint']!.begin(other);
      const rival = withRivalAt(w.env, trip, () => send(other, { ...call, key: acting }));
      await dispute(token, rival.env);
      hasRun = rival.hasRun();
      expect([trip, await count(DEEDS['an endpoint']!.left, other.userId)]).toEqual([trip, 0]);
    }
  });

  it('leaves no endpoint of a member who is removed with their endpoints while it is under way', async () => {
    const { begin, left } = DEEDS['an endpoint']!;
    let refused = 0;
    for (let trip = 1; trip <= TRIPS_MAX; trip++) {
      const owner = await newOwner();
      const dev = await addMember(w, owner, 'developer');
      const call = { ...(await begin(owner)), key: dev.token };
      const remove = async () => {
        const removed = await w.call('DELETE', `/v1/account/members/${dev.userId}?with=endpoints`, { key: owner.token });
        expect(removed.status).toBe(204);
      };
      const { env, hasRun } = withRivalAt(w.env, trip, remove);
      const { status, body } = await send(owner, call, env);
      if (!hasRun()) break;
      if (status === 401) expect(body.meta).toEqual({ reason: 'not_a_member' });
      if (status === 401) refused++;
      expect([trip, await count(left, owner.userId)]).toEqual([trip, 0]);
    }
    expect(refused).toBeGreaterThan(0);
  });

  it('leaves no endpoint of a key that is revoked with its endpoints while it is under way', async () => {
    const { begin, left } = DEEDS['an endpoint']!;
    let refused = 0;
    for (let trip = 1; trip <= TRIPS_MAX; trip++) {
      const owner = await newOwner();
      const { key, raw_key } = (await madeKey(owner.token)).body;
      const call = { ...(await begin(owner)), key: raw_key };
      const revoke = async () =>
        expect((await w.call('DELETE', `/v1/keys/${key.id}?with=endpoints`, { key: owner.token })).status).toBe(204);
      const { env, hasRun } = withRivalAt(w.env, trip, revoke);
      const { status } = await send(owner, call, env);
      if (!hasRun()) break;
      if (status === 401) refused++;
      expect([trip, await count(left, owner.userId)]).toEqual([trip, 0]);
    }
    expect(refused).toBeGreaterThan(0);
  });
});

describe('a transfer under way', () => {
  for (const slower of ['acceptance', 'deletion'] as const)
    it(`an acceptance and the deletion of the heir at once leave no account with a deleted owner: the ${slower} is slower`, async () => {
      let owner = await newOwner();
      for (let trip = 1, hasRun = true; hasRun; trip++) {
        const { heir: other } = await newHeir(w, 'developer', owner);
        expect((await offer(w, owner, other)).status).toBe(202);
        const [own, acting] = [await tokenSignedIn(w, other.userId, 0), await actingToken(w, other.own, owner)];
        const acceptIn = (env = w.env) => w.call('POST', '/v1/account/transfer/accept', { key: acting, env });
        const endIn = (env = w.env) => w.call('DELETE', '/v1/account/account', { key: own, env });
        const [slow, fast] = slower === 'acceptance' ? [acceptIn, endIn] : [endIn, acceptIn];
        let first = 0;
        const rival = withRivalAt(w.env, trip, async () => {
          first = (await fast()).status;
        });
        const second = (await slow(rival.env)).status;
        hasRun = rival.hasRun();
        expect([trip, [first, second].filter((status) => status === 200).length]).toEqual([trip, 1]);
        const accepted = (slower === 'acceptance' ? second : first) === 200;
        if (!accepted) continue;
        owner = await newOwner();
      }
    });
});
