import { PAGE_ASSETS } from '../../assets.ts';
import { codeProofOf, nextOf } from '../frame/acts.ts';
import { type Ceremony, CeremonyForm, parseResponse } from '../frame/ceremony.tsx';
import { ActForm, TextField } from '../frame/fields.tsx';
import type { Acted, Definition, Form, Screen } from '../frame/screen.tsx';
import { storeToken } from '../frame/session.ts';

const CONFIRMED = 'It is confirmed that it is you. A button that you pressed before has done nothing yet: press it again.';

/** Proof that it is still the same person: a factor for those who have one, else the password. */
export const CONFIRM: Definition = {
  path: '/dashboard/confirm',
  title: 'Confirm it is you',
  scripts: [PAGE_ASSETS.dashboard],
  async body(screen) {
    const { me, operations, c } = screen;
    const next = nextOf({ next: screen.refused?.typed.next ?? c.req.query('next') ?? '' });
    const Next = () => <input type="hidden" name="next" value={next} />;
    const hasFactor = me.factors.totp || me.factors.passkeys > 0;
    const begun = me.factors.passkeys > 0 ? await operations.call<Ceremony>('beginStepUp') : null;
    if (hasFactor)
      return (
        <section>
          {begun?.ok && (
            <CeremonyForm screen={screen} act="passkey" ceremony={begun.value} kind="get" submit="Use a passkey">
              <Next />
            </CeremonyForm>
          )}
          <ActForm screen={screen} act="code" submit="Confirm">
            <Next />
            <TextField
              screen={screen}
              act="code"
              name="code"
              label="Code"
              help="Six digits of the authenticator app, or a recovery code."
              autocomplete="one-time-code"
              max={64}
            />
          </ActForm>
        </section>
      );
    if (me.has_password && me.email !== null)
      return (
        <section>
          <ActForm screen={screen} act="password" submit="Confirm">
            <Next />
            <TextField screen={screen} act="password" name="password" label="Password" type="password" autocomplete="current-password" />
          </ActForm>
        </section>
      );
    return (
      <p>
        Sign in again in the way you always do. <a href={`/login?${new URLSearchParams({ next, why: 'again' })}`}>Sign in</a>
      </p>
    );
  },
  acts: {
    code: {
      needs: null,
      done: CONFIRMED,
      run: (screen, { code = '', ...form }) => proveAgain(screen, form, codeProofOf(code)),
    },
    passkey: {
      needs: null,
      done: CONFIRMED,
      run: (screen, { ceremony_id, response = '', ...form }) =>
        proveAgain(screen, form, { ceremony_id, response: parseResponse(response) }),
    },
    password: {
      needs: null,
      done: CONFIRMED,
      async run(screen, { password, ...form }) {
        const { operations, me } = screen;
        const entered = await operations.call<{ token: string }>('login', { body: { email: me.email, password } });
        if (!entered.ok) return entered;
        await operations.call('logout', { body: { end: 'session' } });
        storeToken(screen.c, entered.value.token);
        return { ok: true, leaveTo: nextOf(form) };
      },
    },
  },
};

async function proveAgain(screen: Screen, form: Form, body: object): Promise<Acted> {
  const proven = await screen.operations.call<{ token: string }>('stepUp', { body });
  if (!proven.ok) return proven;
  storeToken(screen.c, proven.value.token);
  return { ok: true, leaveTo: nextOf(form) };
}
