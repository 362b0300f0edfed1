import { GIVEN_ROLES } from '#rules/access/roles.ts';
import { Table } from '../../parts/table.tsx';
import { acted, idempotent, mayAct, notTyped } from '../frame/acts.ts';
import { ActForm, ActSection, ConfirmField, ConfirmFirst, SelectField, TextField } from '../frame/fields.tsx';
import { Time } from '../frame/format.tsx';
import { type Definition, isFresh, type Screen } from '../frame/screen.tsx';

interface Member {
  user_id: string;
  display_name: string;
  email: string | null;
  role: string;
  has_factor: boolean;
  joined_at: string;
  last_seen_at?: string;
}
interface Invitation {
  invitation_id: string;
  email: string;
  role: string;
  status: string;
  invited_by: { display_name: string };
  expires_at: string;
}

/** Sentence about each role. The table of docs/work-as-a-team.md has the details. */
const ROLE_TEXTS: Record<string, string> = {
  owner: 'Everything, and alone: hand over or close the account.',
  admin: 'Everything else, members and payout wallets included.',
  developer: 'Products, webhooks, sandbox and keys. No refunds.',
  finance: 'Payments, refunds, receipts and the plan. A refund is signed by the wallet that was paid.',
  support: 'Customers, receipts and tickets.',
  viewer: 'Reads, and changes nothing.',
};
const ROLE_OPTIONS = GIVEN_ROLES.map((role) => [role, role] as const);

export const TEAM: Definition = {
  path: '/dashboard/team',
  title: 'Team',
  async body(screen) {
    const { operations, me } = screen;
    const [members, invitations] = await Promise.all([
      operations.call<{ items: Member[] }>('listMembers'),
      operations.call<{ items: Invitation[] }>('listInvitations'),
    ]);
    if (!members.ok) return members;
    const decides = mayAct(screen, 'invite');
    return (
      <>
        <section>
          <Table
            caption="Members"
            head={['Person', 'Role', 'Second factor', 'Joined', 'Last used', ...(decides ? ['Change'] : [])]}
            rows={members.value.items.map((member) => memberRow(screen, member, decides))}
          />
          {me.role !== 'owner' && (
            <ActForm screen={screen} act="leave" id={me.user_id} submit="Leave this account" isFinal>
              <p>You lose access at once. Keys and endpoints that you made go on.</p>
            </ActForm>
          )}
        </section>
        <Ownership screen={screen} members={members.value.items} />
        <Invite screen={screen} />
        {invitations.ok && <Invitations screen={screen} items={invitations.value.items} decides={decides} />}
        <section>
          <h2>What each role may</h2>
          <dl>
            {Object.entries(ROLE_TEXTS).map(([role, text]) => (
              <>
                <dt>{role}</dt>
                <dd>{text}</dd>
              </>
            ))}
          </dl>
        </section>
      </>
    );
  },
  acts: {
    invite: {
      needs: 'members:write',
      done: 'The invitation is on its way. Its link works for seven days.',
      run: async ({ operations }, form) =>
        acted(await operations.call('createInvitation', { body: { email: form.email?.trim(), role: form.role }, ...idempotent(form) })),
    },
    role: {
      needs: 'members:write',
      done: 'The role has changed. It counts from the next request on.',
      run: async ({ operations }, form) =>
        acted(await operations.call('changeRole', { params: { user_id: form.id ?? '' }, body: { role: form.role }, ...idempotent(form) })),
    },
    remove: {
      needs: 'members:write',
      done: 'The member is removed.',
      run: async ({ operations }, form) =>
        acted(
          await operations.call('removeMember', {
            params: { user_id: form.id ?? '' },
            ...(form.made === 'end' ? { query: { with: 'keys,endpoints' } } : {}),
            ...idempotent(form),
          }),
        ),
    },
    leave: {
      needs: null,
      done: 'You have left the account.',
      async run({ operations, me }, form) {
        const left = await operations.call('removeMember', { params: { user_id: me.user_id }, ...idempotent(form) });
        return left.ok ? { ok: true, leaveTo: '/login?why=out' } : left;
      },
    },
    transfer: {
      needs: 'account:write',
      done: 'The account is offered. The member has seven days to accept.',
      async run({ c, operations, me }, form) {
        if (form.confirm !== me.display_name) return notTyped(c, me.display_name);
        return acted(await operations.call('startTransfer', { body: { user_id: form.user_id }, ...idempotent(form) }));
      },
    },
    transfer_withdraw: {
      needs: 'account:write',
      done: 'The account is no longer offered.',
      run: async ({ operations }, form) => acted(await operations.call('withdrawTransfer', idempotent(form))),
    },
    transfer_accept: {
      needs: null,
      done: 'You own this account now.',
      run: async ({ operations }) => acted(await operations.call('acceptTransfer', {})),
    },
    resend: {
      needs: 'members:write',
      done: 'A new link is on its way. The earlier one has ended.',
      run: async ({ operations }, form) =>
        acted(await operations.call('resendInvitation', { params: { invitation_id: form.id ?? '' }, ...idempotent(form) })),
    },
    withdraw: {
      needs: 'members:write',
      done: 'The invitation is withdrawn.',
      run: async ({ operations }, form) =>
        acted(await operations.call('withdrawInvitation', { params: { invitation_id: form.id ?? '' }, ...idempotent(form) })),
    },
  },
};

function memberRow(screen: Screen, member: Member, decides: boolean) {
  const { user_id: id, display_name: name, email, role } = member;
  const mayChange = role !== 'owner' && id !== screen.me.user_id && (role !== 'admin' || screen.me.role === 'owner');
  return [
    <>
      <bdi>{name}</bdi>
      {email !== null && (
        <>
          <br />
          <bdi>{email}</bdi>
        </>
      )}
    </>,
    role,
    member.has_factor ? 'Yes' : 'No',
    <Time at={member.joined_at} />,
    member.last_seen_at !== undefined && <Time at={member.last_seen_at} />,
    ...(decides ? [mayChange && <MemberForms screen={screen} member={member} />] : []),
  ];
}

const MemberForms = ({ screen, member: { user_id: id, display_name: name, role } }: { screen: Screen; member: Member }) => (
  <>
    <ActForm screen={screen} act="role" id={id} submit="Change role">
      <SelectField screen={screen} act="role" id={id} name="role" label={`Role of ${name}`} value={role} options={ROLE_OPTIONS} />
    </ActForm>
    <details>
      <summary>Remove</summary>
      <ActForm screen={screen} act="remove" id={id} submit={`Remove ${name}`} isFinal>
        <label class="check">
          <input type="checkbox" name="made" value="end" />
          Also end the keys and endpoints that they made
        </label>
      </ActForm>
    </details>
  </>
);

/** Form to hand the account over, or the transfer that is pending, for its two persons. */
function Ownership({ screen, members }: { screen: Screen; members: Member[] }) {
  const { me } = screen;
  const others = members.filter(({ role }) => role !== 'owner').map(({ user_id: id, display_name: name }) => [id, name] as const);
  if (me.transfer === undefined && (!mayAct(screen, 'transfer') || others.length === 0)) return null;
  return (
    <section>
      <h2>Hand over this account</h2>
      {!isFresh(screen) && <ConfirmFirst screen={screen} />}
      {me.transfer === undefined ? (
        <HandOver screen={screen} others={others} />
      ) : (
        <Pending screen={screen} members={members} {...me.transfer} />
      )}
    </section>
  );
}

function Pending({ screen, members, to, expires_at }: { screen: Screen; members: Member[]; to: string; expires_at: string }) {
  const name = members.find(({ user_id: id }) => id === to)?.display_name;
  return to === screen.me.user_id ? (
    <ActForm screen={screen} act="transfer_accept" submit="Take over this account">
      <p>
        The owner hands this account over to you. Accept until <Time at={expires_at} />. The owner becomes an admin.
      </p>
    </ActForm>
  ) : (
    <ActForm screen={screen} act="transfer_withdraw" submit="Withdraw the offer">
      <p>
        Waits for <bdi>{name}</bdi> to accept until <Time at={expires_at} />.
      </p>
    </ActForm>
  );
}

const HandOver = ({ screen, others }: { screen: Screen; others: (readonly [string, string])[] }) => (
  <>
    <p>The member becomes the owner, and you an admin. Keys, webhooks, payout wallets and the plan stay.</p>
    <ActForm screen={screen} act="transfer" submit="Hand over" isFinal>
      <SelectField screen={screen} act="transfer" name="user_id" label="New owner" value={others[0]![0]} options={others} />
      <ConfirmField screen={screen} act="transfer" name={screen.me.display_name} />
    </ActForm>
  </>
);

const Invite = ({ screen }: { screen: Screen }) => (
  <ActSection screen={screen} act="invite" title="Invite somebody">
    <ActForm screen={screen} act="invite" submit="Invite">
      <TextField screen={screen} act="invite" name="email" label="Email address" type="email" max={254} />
      <SelectField screen={screen} act="invite" name="role" label="Role" value="viewer" options={ROLE_OPTIONS} />
    </ActForm>
  </ActSection>
);

const Invitations = ({ screen, items, decides }: { screen: Screen; items: Invitation[]; decides: boolean }) => (
  <section>
    {items.length === 0 ? (
      <p>No invitation is open.</p>
    ) : (
      <Table
        caption="Invitations"
        head={['Address', 'Role', 'Status', 'Invited by', 'Link ends', ...(decides ? ['Change'] : [])]}
        rows={items.map(({ invitation_id: id, email, role, status, invited_by, expires_at }) => [
          <bdi>{email}</bdi>,
          role,
          status,
          <bdi>{invited_by.display_name}</bdi>,
          <Time at={expires_at} />,
          ...(decides ? [<InvitationForms screen={screen} id={id} status={status} />] : []),
        ])}
      />
    )}
  </section>
);

const InvitationForms = ({ screen, id, status }: { screen: Screen; id: string; status: string }) => (
  <>
    {(status === 'pending' || status === 'expired') && <ActForm screen={screen} act="resend" id={id} submit="Send again" />}
    {status === 'pending' && <ActForm screen={screen} act="withdraw" id={id} submit="Withdraw" />}
  </>
);
