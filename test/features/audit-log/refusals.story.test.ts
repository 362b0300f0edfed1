import { beforeAll, describe, expect, it } from 'vitest';
import { DAY } from '#core/time.ts';
import { addApp } from '../../support/people/factors.ts';
import { OPERATOR_SECRET, openStaff } from '../../support/people/staff.ts';
import { addMember } from '../../support/people/team.ts';
import { setNoon, setTime } from '../../support/runner/clock.ts';
import { type Merchant, World } from '../../support/world.ts';

const w = new World({ OPERATOR_SECRET });
const LOG = '/v1/account/audit-log?per_page=100';
const read = async (key: string, query = '') => (await w.call('GET', `${LOG}${query}`, { key })).body.items;
const REFUSED = '&action=access.refused';

describe('entries of refusals', () => {
  let ada: Merchant;
  beforeAll(async () => {
    setNoon();
    ada = await w.merchant();
  });
  const newKey = async (limits: object) =>
    (await w.call('POST', '/v1/keys', { key: ada.token, body: { name: 'narrow', ...limits } })).body as {
      raw_key: string;
      key: { id: string };
    };

  it('a refusal for role names member, role and operation in the log of the account', async () => {
    const bob = await addMember(w, ada, 'viewer');
    const answer = await w.call('POST', '/v1/products', { key: bob.token, body: {} });
    expect(answer.status).toBe(403);
    expect((await read(ada.token, REFUSED))[0]).toMatchObject({
      actor: { kind: 'person', id: bob.userId, role: 'viewer' },
      subject: { type: 'operation', id: 'POST /v1/products' },
      outcome: 'refused',
      reason: 'role',
      after: { needs: ['owner', 'admin', 'developer'] },
      request_id: answer.headers.get('X-Svc-Request-Id'),
    });
    expect(await read(bob.own.token, REFUSED)).toEqual([]);
  });

  it('refusals for scope and address name the key', async () => {
    const narrow = await newKey({ scopes: ['log:read'] });
    await w.call('GET', '/v1/products', { key: narrow.raw_key });
    const fixed = await newKey({ allowed_ips: ['203.0.113.0/24'] });
    await w.call('GET', '/v1/products', { key: fixed.raw_key, headers: { 'CF-Connecting-IP': '198.51.100.1' } });
    const [second, first] = await read(ada.token, REFUSED);
    expect(first).toMatchObject({
      actor: { kind: 'key', id: narrow.key.id, name: 'narrow' },
      reason: 'scope',
      after: { needs: 'products:read' },
    });
    expect(second).toMatchObject({ actor: { kind: 'key', id: fixed.key.id }, reason: 'ip_not_allowed', ip: '198.51.100.1' });
  });

  it('a refusal of a consume by the short way has an entry too', async () => {
    const fixed = await newKey({ scopes: ['products:read'] });
    const answer = await w.call('POST', '/v1/access/entitlements/consume', {
      key: fixed.raw_key,
      headers: { 'Idempotency-Key': crypto.randomUUID() },
      body: { product_id: crypto.randomUUID(), customer: { customer_ref: 'bea' }, units: 1 },
    });
    expect(answer.status).toBe(403);
    expect((await read(ada.token, REFUSED))[0]).toMatchObject({
      actor: { kind: 'key', id: fixed.key.id },
      subject: { id: 'POST /v1/access/entitlements/consume' },
    });
  });

  it('a refusal for step-up has an entry, one for another reason none', async () => {
    const bob = await w.merchant();
    await addApp(w, bob.token);
    setTime(Date.now() + DAY / 2);
    const refused = await w.call('POST', '/v1/account/recovery-codes', { key: bob.token });
    expect(refused.body.meta.reason).toBe('step_up_required');
    await w.call('GET', '/v1/account/members', { key: bob.key });
    expect(await read(bob.token, REFUSED)).toMatchObject([
      { actor: { id: bob.userId }, reason: 'step_up_required', subject: { id: 'POST /v1/account/recovery-codes' } },
    ]);
    setNoon();
  });

  it('a day has at most a hundred entries of refusals', async () => {
    const other = await w.merchant();
    const { body } = await w.call('POST', '/v1/keys', { key: other.token, body: { name: 'narrow', scopes: ['log:read'] } });
    for (let i = 0; i < 104; i++) await w.call('GET', '/v1/products', { key: body.raw_key });
    expect((await w.call('GET', `${LOG}${REFUSED}`, { key: other.token })).body.total).toBe(100);
  }, 60_000);
});

describe('acts of staff', () => {
  it('the log of the ticket’s account has the first read of each in an hour and each answer', async () => {
    setNoon();
    const ada = await w.merchant();
    const opened = await w.call('POST', '/v1/support/tickets', {
      key: ada.token,
      body: { subject: 'Where is it?', body: 'It is not here.', category: 'other' },
    });
    const path = `/v1/support/tickets/${opened.body.ticket_id}`;
    const staff = await openStaff(w);
    for (const _ of [1, 2]) expect((await w.call('GET', path, { key: staff.token })).status).toBe(200);
    await w.call('GET', path, { key: ada.token });
    await w.call('POST', `${path}/message`, { key: staff.token, body: { body: 'It is there.' } });
    const entries = await read(ada.token, `&subject_id=${opened.body.ticket_id}`);
    expect(entries.map(({ action, actor }: { action: string; actor: object }) => [action, actor])).toEqual([
      ['ticket.answered', { kind: 'staff', id: staff.userId, name: expect.any(String) }],
      ['ticket.read', { kind: 'staff', id: staff.userId, name: expect.any(String) }],
      ['ticket.opened', { kind: 'person', id: ada.userId, name: expect.any(String), role: 'owner' }],
    ]);
    const second = await openStaff(w);
    for (const _ of [1, 2]) await w.call('GET', path, { key: second.token });
    setTime(Date.now() + 61 * 60_000);
    await w.call('GET', path, { key: staff.token });
    const readers = (await read(ada.token, '&action=ticket.read')).map(({ actor }: { actor: { id: string } }) => actor.id);
    expect(readers).toEqual([staff.userId, second.userId, staff.userId]);
  });
});
