import { expect, it } from 'vitest';
import { sweepUntilBelieved } from '../../support/faults/finality.ts';
import { MembersWorld } from '../../support/people/members.ts';

it('a dropped purchase returns its delivery to the first person and removes the second', async () => {
  const w = new MembersWorld();
  const ada = await w.merchant();
  await w.claim(ada, 'telegram', '-1008801');
  const club = await w.club(ada, { provider: 'telegram', chat_id: '-1008801' }, { grace_hours: 0 });
  const buyer = (await w.chain.wallet()) as never;
  const first = await w.join(club, '881', { buyer });
  await w.settleDown();
  const second = await w.join(club, '882', { buyer });
  await w.settleDown();
  const member = () => w.member(ada, first.payment.payment_id);
  const held = await member();
  expect(held.delivery).toMatchObject({ status: 'delivered', identity: { provider_user_id: '882' } });
  await w.happens('telegram', { event: 'uses', link: held.delivery.invite_url, user: '882' });
  await w.chain.fault({ kind: 'vanish', signature: second.signature });
  await sweepUntilBelieved(w);
  await w.settleDown();
  const after = await member();
  expect([after.status, after.last_payment_id, after.delivery.status, after.delivery.identity.provider_user_id]).toEqual([
    'active',
    first.payment.payment_id,
    'delivered',
    '881',
  ]);
  expect((await w.telegram()).chats.find(({ id }) => id === '-1008801')!.members).toEqual([]);
  expect((await w.telegram()).messages.filter(({ to }) => to === '881')).toHaveLength(2);
});
