import type { AccountId } from '#core/ids.ts';
import { changeAccount } from '#features/accounts/change-account.ts';
import { invitationToken } from '#features/accounts/members/invitation-link.ts';
import { insertJoined, insertMember } from '#features/accounts/members/store.ts';
import { newCtx } from '#platform/context.ts';
import { homeOf } from '#platform/db/directory.ts';
import type { GivenRole } from '#rules/access/roles.ts';
import { tokenSignedIn } from '../clients/session.ts';
import { verifyAddress } from '../servers/mail.ts';
import type { Merchant, World } from '../world.ts';

type Someone = Pick<Merchant, 'userId' | 'token'>;

/** Invites an address, and returns the token of the emailed link. The inviter's own address must be verified. */
export async function inviteTo(w: World, by: { token: string }, email: string, role: GivenRole = 'developer') {
  const { status, body } = await w.call('POST', '/v1/account/invitations', { key: by.token, body: { email, role } });
  if (status !== 201) throw new Error(`invite: ${status} ${JSON.stringify(body)}`);
  return { id: body.invitation_id as string, token: invitationTokenOf(w, body) };
}

/** Token of the newest link of an invitation, as its email has it. */
export const invitationTokenOf = (w: World, { invitation_id: id, expires_at }: { invitation_id: string; expires_at: string }): string =>
  invitationToken(newCtx(w.env, { requestId: 'req_link', defer: () => {} }), { id, expiresAt: Date.parse(expires_at) });

export const acceptInvitation = (w: World, { token: key }: { token: string }, token: string) =>
  w.call('POST', '/v1/invitations/accept', { key, body: { token } });

/** Makes a person a member of an account. */
export async function join(w: World, account: { userId: string }, person: { userId: string }, role: GivenRole): Promise<void> {
  const ctx = newCtx(w.env, { requestId: 'req_join', defer: () => {} });
  const [accountId, personId] = [account.userId as AccountId, person.userId as AccountId];
  const home = homeOf(ctx, accountId);
  const member = { accountId, personId, role, joinedAt: ctx.now, invitedBy: accountId };
  await changeAccount(home, accountId, ({ roles }) => ({
    values: { roles: { ...roles, [personId]: role } },
    writes: [insertMember(home.db, member)],
  }));
  const own = homeOf(ctx, personId);
  await own.db.batch([insertJoined(own.db, personId, accountId)]);
}

/** Token of a person for an account that the person is a member of. */
export async function actingToken(w: World, { token }: Pick<Someone, 'token'>, account: { userId: string }): Promise<string> {
  const { status, body } = await w.call('POST', '/v1/auth/switch', { key: token, body: { account_id: account.userId } });
  if (status !== 200) throw new Error(`switch: ${status} ${body.code}`);
  return body.token;
}

/** New member with a token for the account, of a sign-in `minutesAgo`. */
export async function addMember(
  w: World,
  account: { userId: string },
  role: GivenRole,
  minutesAgo = 0,
): Promise<Someone & { own: Merchant }> {
  const own = await w.merchant('free');
  await join(w, account, own, role);
  const token = await actingToken(w, { token: await tokenSignedIn(w, own.userId, minutesAgo) }, account);
  return { userId: own.userId, token, own };
}

/** Member of a new account with a verified address, to whom it can be handed over. */
export async function newHeir(w: World, role: GivenRole = 'developer', owner?: Merchant) {
  const account = owner ?? (await w.merchant());
  const heir = await addMember(w, account, role);
  await verifyAddress(w, heir.own);
  return { owner: account, heir };
}

export const offer = (w: World, { token: key }: { token: string }, to: { userId: string }) =>
  w.call('POST', '/v1/account/transfer', { key, body: { user_id: to.userId } });

export const acceptOffer = (w: World, { token: key }: { token: string }) => w.call('POST', '/v1/account/transfer/accept', { key });

/** Optional writes that change members and invitations. */
export const memberWrites = (w: World) => {
  const first = async (sql: string, id: string) => (await w.env.DB.prepare(sql).bind(id).first<number>('n')) ?? 0;
  const newInviter = async () => {
    const merchant = await w.merchant();
    await verifyAddress(w, merchant);
    return merchant;
  };
  return {
    'PATCH /v1/account/members/{user_id}': async () => {
      const { token, userId } = await w.merchant();
      const path = `/v1/account/members/${(await addMember(w, { userId }, 'viewer')).userId}`;
      const version = () => first('SELECT version AS n FROM accounts WHERE id = ?', userId);
      const before = await version();
      const effects = async () => (await version()) - before;
      return { method: 'PATCH', path, by: token, body: { role: 'support' }, other: { role: 'finance' }, effects };
    },
    'POST /v1/account/transfer': async () => {
      const { owner, heir } = await newHeir(w);
      const { userId } = (await newHeir(w, 'viewer', owner)).heir;
      const path = '/v1/account/transfer';
      const effects = () =>
        first("SELECT count(*) AS n FROM audit_entries WHERE merchant_id = ? AND action = 'account.transfer_started'", owner.userId);
      return { path, by: owner.token, body: { user_id: heir.userId }, other: { user_id: userId }, effects };
    },
    'DELETE /v1/account/transfer': async () => {
      const { owner, heir } = await newHeir(w);
      await offer(w, owner, heir);
      const effects = () =>
        first("SELECT count(*) AS n FROM audit_entries WHERE merchant_id = ? AND action = 'account.transfer_withdrawn'", owner.userId);
      return { method: 'DELETE', path: '/v1/account/transfer', by: owner.token, effects };
    },
    'POST /v1/account/invitations': async () => {
      const { token, userId } = await newInviter();
      const body = { email: `${crypto.randomUUID()}@example.com`, role: 'viewer' };
      const effects = () => first('SELECT count(*) AS n FROM invitations WHERE account_id = ?', userId);
      return { path: '/v1/account/invitations', by: token, body, other: { ...body, role: 'support' }, effects };
    },
    'POST /v1/account/invitations/{invitation_id}/resend': async () => {
      const { token, userId } = await newInviter();
      const { id } = await inviteTo(w, { token }, `${crypto.randomUUID()}@example.com`);
      const effects = async () =>
        (await first("SELECT count(*) AS n FROM mails WHERE account_id = ? AND template = 'invitation'", userId)) - 1;
      return { path: `/v1/account/invitations/${id}/resend`, by: token, effects };
    },
    'DELETE /v1/account/invitations/{invitation_id}': async () => {
      const { token } = await newInviter();
      const { id } = await inviteTo(w, { token }, `${crypto.randomUUID()}@example.com`);
      const effects = () => first("SELECT count(*) AS n FROM invitations WHERE id = ? AND status = 'withdrawn'", id);
      return { method: 'DELETE', path: `/v1/account/invitations/${id}`, by: token, effects };
    },
    'DELETE /v1/account/members/{user_id}': async () => {
      const { token, userId } = await w.merchant();
      const path = `/v1/account/members/${(await addMember(w, { userId }, 'viewer')).userId}`;
      const effects = async () => 1 - (await first('SELECT count(*) AS n FROM members WHERE account_id = ?', userId));
      return { method: 'DELETE', path, by: token, effects };
    },
  };
};
