import { beforeAll, describe, expect, it } from 'vitest';
import { tokenSignedIn } from '../../support/clients/session.ts';
import { withRivalAt } from '../../support/faults/faults.ts';
import { bindDatabases, openOnly } from '../../support/fixtures/databases.ts';
import { acceptOffer, actingToken, join, newHeir, offer } from '../../support/people/team.ts';
import { MailWorld, verifyAddress } from '../../support/servers/mail.ts';
import type { Body, Merchant } from '../../support/world.ts';

describe('a transfer to a person of another database', () => {
  const w = new MailWorld();
  const DATABASES = ['DB', 'DB_2'] as const;
  beforeAll(() => bindDatabases(w, 'DB_2'));

  async function newOwner(): Promise<Merchant> {
    openOnly(w, 'DB');
    const owner = await w.merchant('growth');
    await verifyAddress(w, owner);
    return owner;
  }

  /** Member of the second database to whom the account is offered. */
  async function offered(owner: Merchant) {
    openOnly(w, 'DB_2');
    const { heir } = await newHeir(w, 'developer', owner);
    openOnly(w, ...DATABASES);
    expect((await offer(w, owner, heir)).status).toBe(202);
    return heir;
  }
  const close = (key: string, env = w.env) => w.call('DELETE', '/v1/account/account', { key, env });
  const accept = (key: string, env = w.env) => w.call('POST', '/v1/account/transfer/accept', { key, env });
  const refusalOf = ({ status, body }: { status: number; body: Body }) => [status, body.code, body.meta?.reason];

  for (const slower of ['acceptance', 'deletion'] as const)
    it(`an acceptance and the deletion of the heir at once leave no account with a deleted owner: the ${slower} is slower`, async () => {
      let owner = await newOwner();
      for (let trip = 1, hasRun = true; hasRun; trip++) {
        const heir = await offered(owner);
        const [own, acting] = [await tokenSignedIn(w, heir.userId, 0), await actingToken(w, heir.own, owner)];
        const calls = [(env = w.env) => accept(acting, env), (env = w.env) => close(own, env)] as const;
        const [slow, fast] = slower === 'acceptance' ? calls : ([calls[1], calls[0]] as const);
        let first = 0;
        const rival = withRivalAt(w.env, trip, async () => {
          first = (await fast()).status;
        });
        const second = (await slow(rival.env)).status;
        hasRun = rival.hasRun();
        if (!hasRun) break;
        expect([trip, [first, second].filter((status) => status === 200).length]).toEqual([trip, 1]);
        if ((slower === 'acceptance' ? second : first) === 200) owner = await newOwner();
      }
    });

  it('a deletion of a person who owns another account is refused, and leaves every offer open', async () => {
    const [first, second] = [await newOwner(), await newOwner()];
    const heir = await offered(first);
    expect((await acceptOffer(w, heir)).status).toBe(200);
    await join(w, second, heir, 'developer');
    expect((await offer(w, second, heir)).status).toBe(202);
    expect(refusalOf(await close(await tokenSignedIn(w, heir.userId, 0)))).toEqual([409, 'state_conflict', 'owns_others']);
    expect((await w.call('GET', '/v1/account/me', { key: second.token })).body.transfer.to).toBe(heir.userId);
  });

  it('a deleted heir leaves the account without an offer, and the log says who withdrew it', async () => {
    const owner = await newOwner();
    const heir = await offered(owner);
    expect((await close(await tokenSignedIn(w, heir.userId, 0))).status).toBe(200);
    expect((await w.call('GET', '/v1/account/me', { key: owner.token })).body.transfer).toBeUndefined();
    const { items } = (await w.call('GET', '/v1/account/audit-log?action=account.transfer_withdrawn', { key: owner.token })).body;
    expect(items.map(({ actor }: Body) => [actor.kind, actor.id])).toEqual([['person', heir.userId]]);
  });
});
