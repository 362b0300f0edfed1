import { beforeAll, describe, expect, it } from 'vitest';
import { OPERATOR_SECRET } from '../../support/people/staff.ts';
import { type Body, type Merchant, World } from '../../support/world.ts';

const ALICE = 'the secret of alice who operates here';
const BERT = 'the secret of bert with a colon: inside';
const w = new World({ OPERATOR_SECRET, OPERATOR_SECRETS: `alice:${ALICE},bert:${BERT}` });
const LOG = '/v1/account/audit-log?per_page=100';
const read = async (key: string, query = ''): Promise<Body[]> => (await w.call('GET', `${LOG}${query}`, { key })).body.items;
const operate = (secret: string, path: string, body: object, reason?: string) =>
  w.call('POST', `/v1/operator/${path}`, {
    headers: { 'X-Svc-Operator-Secret': secret, ...(reason && { 'X-Svc-Operator-Reason': encodeURIComponent(reason) }) },
    body,
  });
const list = async (query = ''): Promise<Body[]> =>
  (await w.call('GET', `/v1/operator/audit-log${query}`, { headers: { 'X-Svc-Operator-Secret': BERT } })).body.items;

describe('acts of operators (F13: acts of operators and staff without a trace)', () => {
  let ada: Merchant;
  beforeAll(async () => {
    ada = await w.merchant();
  });

  it('the log of the account names the operator and the reason, and a repeated act has no second entry', async () => {
    for (const _ of [1, 2]) await operate(ALICE, 'accounts', { account: ada.userId, action: 'staff' }, 'joins the team – today');
    await operate(BERT, 'accounts', { account: ada.userId, action: 'unstaff' });
    await operate(OPERATOR_SECRET, 'accounts', { account: ada.userId, action: 'staff' });
    const entries = await read(ada.token, '&actor_kind=operator');
    expect(entries.map(({ action, actor, reason }) => [action, actor, reason])).toEqual([
      ['account.staff_given', { kind: 'operator', name: 'operator' }, undefined],
      ['account.staff_taken', { kind: 'operator', name: 'bert' }, undefined],
      ['account.staff_given', { kind: 'operator', name: 'alice' }, 'joins the team – today'],
    ]);
  });

  it('a suspension and its end have entries', async () => {
    const bob = await w.merchant();
    await operate(ALICE, 'accounts', { account: bob.userId, action: 'suspend' }, 'fraud');
    await operate(ALICE, 'accounts', { account: bob.userId, action: 'resume' });
    const entries = await list(`?account=${bob.userId}`);
    expect(entries.slice(0, 2)).toMatchObject([
      { action: 'account.resumed', account_id: bob.userId, actor: { name: 'alice' } },
      { action: 'account.suspended', reason: 'fraud', subject: { type: 'account', id: bob.userId } },
    ]);
    expect(entries.some(({ action }) => action === 'account.created')).toBe(true);
  });

  it('a switched product has an entry in the log of its merchant, a switched rail in that of the service', async () => {
    const product = await w.product(ada);
    await operate(BERT, 'switches', { subject: `product:${product.product_id}`, to: 'off' }, 'reported');
    expect(await read(ada.token, `&subject_id=${product.product_id}&actor_kind=operator`)).toMatchObject([
      { action: 'product.switched', actor: { kind: 'operator', name: 'bert' }, after: { to: 'off' }, reason: 'reported' },
    ]);
    for (const to of ['off', 'on']) await operate(ALICE, 'switches', { subject: 'rail:x402_solana_usdc', to });
    const acts = (await list()).filter(({ action }) => action === 'operator.acted');
    expect(acts.map(({ after, subject }) => [subject.id, after])).toEqual([
      ['POST /v1/operator/switches', { subject: 'rail:x402_solana_usdc', to: 'on' }],
      ['POST /v1/operator/switches', { subject: 'rail:x402_solana_usdc', to: 'off' }],
    ]);
    expect(await read(ada.token, '&action=operator.acted')).toEqual([]);
  });

  it('the list has the acts of all operators and staff, newest first, and none of a refused call or a read', async () => {
    const before = (await list()).length;
    expect((await operate('no secret of anybody, but long enough', 'switches', { subject: 'mail', to: 'off' })).status).toBe(404);
    expect((await operate(ALICE, 'switches', { subject: 'rail:unknown', to: 'off' })).status).toBe(404);
    expect((await operate(ALICE, 'accounts/search', {})).status).toBe(200);
    const entries = await list();
    expect(entries.length).toBe(before);
    expect(entries.every(({ actor }) => ['operator', 'staff'].includes(actor.kind))).toBe(true);
    const times = entries.map(({ at }) => Date.parse(at));
    expect(times).toEqual(times.toSorted((a, b) => b - a));
    expect(await list(`?before=${encodeURIComponent(entries.at(-1)!.at)}`)).toEqual([]);
    expect((await w.call('GET', '/v1/operator/audit-log', { key: ada.token })).status).toBe(404);
  });
});
