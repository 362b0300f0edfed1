import { drawCode } from '../../parts/qr.ts';
import { Table } from '../../parts/table.tsx';
import { ActForm, TextField } from '../frame/fields.tsx';
import { Time } from '../frame/format.tsx';
import { linkTo } from '../frame/head.tsx';
import type { Answer } from '../frame/operations.ts';
import type { Acted, Screen } from '../frame/screen.tsx';

export interface Passkey {
  passkey_id: string;
  name: string;
  backed_up: boolean;
  created_at: string;
  last_used_at: string | null;
}
const RecoveryCodes = ({ codes }: { codes: string[] }) => (
  <section class="once">
    <h2>Your recovery codes</h2>
    <p>Copy them now: they are shown once. Each replaces your second factor one time.</p>
    <ul class="codes">
      {codes.map((code) => (
        <li>{code}</li>
      ))}
    </ul>
  </section>
);

/** Completes an act. The answer has recovery codes if this was the first factor. */
export const withCodes = (answer: Answer<{ recovery_codes?: string[] }>): Acted => {
  if (!answer.ok) return answer;
  const { recovery_codes: codes } = answer.value;
  return codes ? { ok: true, shown: <RecoveryCodes codes={codes} /> } : { ok: true };
};

/** Origin where browsers have passkeys. They have none on an IP address, such as that of a local machine. */
function passkeyOrigin({ c }: Screen): string {
  const { hostname, port } = new URL(c.req.url);
  return hostname === '127.0.0.1' ? `http://localhost:${port}` : '';
}

export function Factors({ screen, passkeys }: { screen: Screen; passkeys: Passkey[] }) {
  const { factors } = screen.me;
  const asksForCode = screen.refused?.act === 'totp_confirm';
  return (
    <section>
      <h2>Second factor</h2>
      {passkeys.length === 0 && !factors.totp && (
        <p>You have none. A passkey is two clicks, and nobody can sign in with your password alone any more.</p>
      )}
      {passkeys.length > 0 && (
        <Table
          caption="Passkeys"
          head={['Name', 'Made', 'Last used', 'Change']}
          rows={passkeys.map(({ passkey_id: id, name, created_at, last_used_at }) => [
            <bdi>{name}</bdi>,
            <Time at={created_at} />,
            last_used_at === null ? 'Never' : <Time at={last_used_at} />,
            <>
              <ActForm screen={screen} act="passkey_rename" id={id} submit="Rename">
                <TextField screen={screen} act="passkey_rename" id={id} name="name" label={`Name of ${name}`} value={name} max={64} />
              </ActForm>
              <ActForm screen={screen} act="passkey_remove" id={id} submit={`Remove ${name}`} isFinal />
            </>,
          ])}
        />
      )}
      <p>
        <a class="button" href={`${passkeyOrigin(screen)}${linkTo(screen, '/dashboard/security/passkey')}`}>
          Add a passkey
        </a>
      </p>
      {factors.totp ? (
        <ActForm screen={screen} act="totp_remove" submit="Remove the authenticator app" isFinal>
          <p>An authenticator app is set up.</p>
        </ActForm>
      ) : asksForCode ? (
        <CodeForm screen={screen} />
      ) : (
        <ActForm screen={screen} act="totp_begin" submit="Set up an authenticator app" />
      )}
      {(factors.totp || factors.passkeys > 0) && (
        <ActForm screen={screen} act="codes" submit="Make new recovery codes">
          <p>{`${factors.recovery_codes_left} recovery codes are left. New ones end them.`}</p>
        </ActForm>
      )}
    </section>
  );
}

const CodeForm = ({ screen }: { screen: Screen }) => (
  <ActForm screen={screen} act="totp_confirm" submit="Confirm the code">
    <TextField screen={screen} act="totp_confirm" name="code" label="Code of the app" autocomplete="one-time-code" max={8} />
  </ActForm>
);

export function NewTotp({ screen, otpauth_uri: uri, secret }: { screen: Screen; otpauth_uri: string; secret: string }) {
  const { size, path } = drawCode(uri, 'L');
  return (
    <section class="once">
      <h2>Scan this with your authenticator app</h2>
      <svg class="qr" viewBox={`0 0 ${size} ${size}`} role="img" aria-label="Code for the authenticator app" shape-rendering="crispEdges">
        <path d={path} />
      </svg>
      <p>
        Or type it in: <code>{secret}</code>
      </p>
      <CodeForm screen={screen} />
    </section>
  );
}
