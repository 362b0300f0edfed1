import { PAGE_ASSETS } from '../../assets.ts';
import { idempotent } from '../frame/acts.ts';
import { type Ceremony, CeremonyForm, parseResponse } from '../frame/ceremony.tsx';
import { TextField } from '../frame/fields.tsx';
import { linkTo } from '../frame/head.tsx';
import { type Definition, isFresh } from '../frame/screen.tsx';
import { withCodes } from './factors.tsx';

/** Screen of its own, because the browser needs the options of the ceremony before the button is pressed. */
export const NEW_PASSKEY: Definition = {
  path: '/dashboard/security/passkey',
  title: 'Add a passkey',
  scripts: [PAGE_ASSETS.dashboard],
  async body(screen) {
    const begun = await screen.operations.call<Ceremony>('beginPasskeyRegistration');
    if (!begun.ok && begun.meta.reason !== undefined && !isFresh(screen))
      return (
        <p class="problem">
          A passkey needs a recent proof that it is you.{' '}
          <a href={`/dashboard/confirm?next=${encodeURIComponent(linkTo(screen, screen.path))}`}>Confirm it is you</a>
        </p>
      );
    if (!begun.ok) return begun;
    return (
      <section>
        <CeremonyForm screen={screen} act="add" ceremony={begun.value} kind="create" submit="Add a passkey">
          <TextField screen={screen} act="add" name="name" label="Name" help="Such as the device." isOptional max={64} />
        </CeremonyForm>
        <p>
          <a href={linkTo(screen, '/dashboard/security')}>Back to security</a>
        </p>
      </section>
    );
  },
  acts: {
    add: {
      needs: null,
      done: 'The passkey is added.',
      async run(screen, { ceremony_id, response = '', name = '', ...form }) {
        const body = { ceremony_id, response: parseResponse(response), ...(name.trim() === '' ? {} : { name: name.trim() }) };
        return withCodes(await screen.operations.call('registerPasskey', { body, ...idempotent(form) }));
      },
    },
  },
};
