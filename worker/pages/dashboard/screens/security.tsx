import { Table } from '../../parts/table.tsx';
import { acted, idempotent, leaveSignedOut, notTyped } from '../frame/acts.ts';
import { ActForm, ActSection, ConfirmField, ConfirmFirst, TextField } from '../frame/fields.tsx';
import { Time } from '../frame/format.tsx';
import { type Definition, isFresh, type Screen } from '../frame/screen.tsx';
import { Factors, NewTotp, type Passkey, withCodes } from './factors.tsx';
import { OtherWays, PROVIDER_ACTS } from './providers.tsx';

interface Session {
  session_id: string;
  current: boolean;
  method: string;
  factor: string | null;
  ip: string;
  country?: string;
  user_agent: string;
  last_seen_at: string;
}

export const SECURITY: Definition = {
  path: '/dashboard/security',
  title: 'Security',
  async body(screen) {
    const { operations } = screen;
    const [passkeys, sessions, otherWays] = await Promise.all([
      operations.call<{ items: Passkey[] }>('listPasskeys'),
      operations.call<{ items: Session[] }>('listSessions'),
      OtherWays({ screen }),
    ]);
    return (
      <>
        {!isFresh(screen) && <ConfirmFirst screen={screen} />}
        {passkeys.ok && <Factors screen={screen} passkeys={passkeys.value.items} />}
        <EmailAndPassword screen={screen} />
        {otherWays}
        {sessions.ok && <Sessions screen={screen} items={sessions.value.items} />}
        <Rule screen={screen} />
        <Close screen={screen} />
      </>
    );
  },
  acts: {
    confirm_email: {
      needs: null,
      done: 'The email is on its way. Follow its link.',
      run: async ({ operations }, form) => acted(await operations.call('sendVerification', { ...idempotent(form) })),
    },
    email: {
      needs: null,
      done: 'The address has changed. Confirm it with the link in the email.',
      async run(screen, { email = '', current_password: password = '', ...form }) {
        const body = { email: email.trim(), ...(password === '' ? {} : { current_password: password }) };
        return leaveSignedOut(screen, await screen.operations.call('changeSecurity', { body, ...idempotent(form) }));
      },
    },
    password: {
      needs: null,
      done: 'The password has changed.',
      async run(screen, { current_password: password = '', new_password, ...form }) {
        const body = { new_password, ...(password === '' ? {} : { current_password: password }) };
        return leaveSignedOut(screen, await screen.operations.call('changeSecurity', { body, ...idempotent(form) }));
      },
    },
    ...PROVIDER_ACTS,
    passkey_rename: {
      needs: null,
      done: 'The passkey has a new name.',
      run: async ({ operations }, form) =>
        acted(
          await operations.call('renamePasskey', { params: { passkey_id: form.id ?? '' }, body: { name: form.name }, ...idempotent(form) }),
        ),
    },
    passkey_remove: {
      needs: null,
      done: 'The passkey is removed, and the sessions that it began have ended.',
      run: async ({ operations }, form) =>
        acted(await operations.call('removePasskey', { params: { passkey_id: form.id ?? '' }, ...idempotent(form) })),
    },
    totp_begin: {
      needs: null,
      done: 'Enter the code that the app shows.',
      async run(screen, form) {
        const begun = await screen.operations.call<{ otpauth_uri: string; secret: string }>('beginTotp', idempotent(form));
        return begun.ok ? { ok: true, shown: <NewTotp screen={screen} {...begun.value} /> } : begun;
      },
    },
    totp_confirm: {
      needs: null,
      done: 'The authenticator app is set up.',
      run: async ({ operations }, { code = '', ...form }) =>
        withCodes(await operations.call('confirmTotp', { body: { code: code.replace(/\s/g, '') }, ...idempotent(form) })),
    },
    totp_remove: {
      needs: null,
      done: 'The authenticator app is removed.',
      run: async ({ operations }, form) => acted(await operations.call('removeTotp', idempotent(form))),
    },
    codes: {
      needs: null,
      done: 'New recovery codes are made.',
      run: async ({ operations }, form) => withCodes(await operations.call('renewRecoveryCodes', idempotent(form))),
    },
    session_end: {
      needs: null,
      done: 'The session has ended.',
      run: async ({ operations }, form) =>
        acted(await operations.call('endSession', { params: { session_id: form.id ?? '' }, ...idempotent(form) })),
    },
    sessions_end: {
      needs: null,
      done: 'All other sessions have ended.',
      run: async ({ operations }, form) => acted(await operations.call('endSessions', idempotent(form))),
    },
    out_everywhere: {
      needs: null,
      done: 'You are signed out everywhere.',
      async run(screen) {
        return leaveSignedOut(screen, await screen.operations.call('logout', { body: { end: 'all' } }));
      },
    },
    require_factor: {
      needs: 'account:write',
      done: 'The rule has changed. It counts from the next request on.',
      run: async ({ operations }, form) =>
        acted(await operations.call('updateAccount', { body: { require_factor: form.require_factor === 'on' }, ...idempotent(form) })),
    },
    close: {
      needs: 'account:write',
      done: 'The account is closed.',
      async run(screen, form) {
        if (form.confirm !== screen.me.display_name) return notTyped(screen.c, screen.me.display_name);
        return leaveSignedOut(screen, await screen.operations.call('deleteAccount', idempotent(form)));
      },
    },
  },
};

function EmailAndPassword({ screen }: { screen: Screen }) {
  const { me } = screen;
  const Current = ({ act }: { act: string }) =>
    me.has_password ? (
      <TextField
        screen={screen}
        act={act}
        name="current_password"
        label="Current password"
        type="password"
        autocomplete="current-password"
      />
    ) : null;
  return (
    <section>
      <h2>Email and password</h2>
      <p>
        {me.email === null ? 'No email address.' : <bdi>{me.email}</bdi>}{' '}
        {me.email !== null && (me.email_verified ? '(confirmed)' : '(not confirmed)')}
      </p>
      {me.email !== null && (!me.email_verified || me.email_problem !== undefined) && (
        <ActForm screen={screen} act="confirm_email" submit="Send confirmation email" />
      )}
      <h3>{me.email === null ? 'Add an email address' : 'Change the email address'}</h3>
      <ActForm screen={screen} act="email" submit="Change email">
        <TextField screen={screen} act="email" name="email" label="New email address" type="email" autocomplete="email" max={254} />
        <Current act="email" />
      </ActForm>
      <h3>{me.has_password ? 'Change the password' : 'Set a password'}</h3>
      <ActForm screen={screen} act="password" submit={me.has_password ? 'Change password' : 'Set password'}>
        <Current act="password" />
        <TextField
          screen={screen}
          act="password"
          name="new_password"
          label="New password"
          help="8 to 128 characters. All sessions end."
          type="password"
          autocomplete="new-password"
          max={128}
        />
      </ActForm>
    </section>
  );
}

/** Tokens of user agents, each before those that it comes with. */
const BROWSERS = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['CriOS', 'Chrome'],
  ['Safari', 'Safari'],
] as const;
const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Windows', 'Mac OS', 'Linux'] as const;

/** Browser and system in a user agent, as well as they can be guessed: “Firefox on Windows”. */
export function browserOf(userAgent: string): string {
  const browser = BROWSERS.find(([token]) => userAgent.includes(token))?.[1];
  const system = SYSTEMS.find((name) => userAgent.includes(name));
  return browser === undefined ? userAgent.slice(0, 40) || 'Unknown' : system === undefined ? browser : `${browser} on ${system}`;
}

const Sessions = ({ screen, items }: { screen: Screen; items: Session[] }) => (
  <section>
    <Table
      caption="Sessions"
      head={['Browser', 'Signed in with', 'From', 'Last used', 'Change']}
      rows={items.map(({ session_id: id, current, method, factor, ip, country, user_agent, last_seen_at }) => [
        <>
          <span title={user_agent}>{browserOf(user_agent)}</span>
          {current && <span class="badge">This one</span>}
        </>,
        factor === null ? method : `${method}, ${factor}`,
        <>
          {ip} {country}
        </>,
        <Time at={last_seen_at} />,
        !current && <ActForm screen={screen} act="session_end" id={id} submit="End" />,
      ])}
    />
    {items.length > 1 && <ActForm screen={screen} act="sessions_end" submit="End all others" />}
    <ActForm screen={screen} act="out_everywhere" submit="Sign out everywhere" isFinal />
  </section>
);

/** Rule of the account for its members. An owner without a factor is asked to add one first. */
function Rule({ screen }: { screen: Screen }) {
  const { require_factor: isRequired, factors } = screen.me;
  const next = isRequired ? 'off' : 'on';
  return (
    <ActSection screen={screen} act="require_factor" title="Second factor of members">
      <p>
        {isRequired ? 'Members without a second factor cannot use this account.' : 'Members may use this account without a second factor.'}
      </p>
      {isRequired || factors.passkeys > 0 || factors.totp ? (
        <ActForm screen={screen} act="require_factor" submit={isRequired ? 'Stop requiring it' : 'Require it of every member'}>
          <input type="hidden" name="require_factor" value={next} />
        </ActForm>
      ) : (
        <p>Add a passkey or an authenticator app of your own to require one of members.</p>
      )}
    </ActSection>
  );
}

const Close = ({ screen }: { screen: Screen }) => (
  <ActSection screen={screen} act="close" title="Close account">
    <p>Sessions, keys and webhooks end, and personal data is erased. Payments and receipts remain.</p>
    <ActForm screen={screen} act="close" submit="Close account" isFinal>
      <ConfirmField screen={screen} act="close" name={screen.me.display_name} />
    </ActForm>
  </ActSection>
);
