import { acted, idempotent } from '../frame/acts.ts';
import { ActForm } from '../frame/fields.tsx';
import type { Act, Screen } from '../frame/screen.tsx';

export interface Identity {
  provider: string;
  email?: string;
}
interface OAuthProviders {
  providers: { provider: string; configured: boolean }[];
}

const PATH = '/dashboard/security';
const TITLES: Record<string, string> = { google: 'Google', github: 'GitHub' };
const titleOf = (provider: string): string => TITLES[provider] ?? provider;

const PROBLEMS: Record<string, string> = {
  access_denied: 'Nothing was allowed at the provider, or this session has ended. Try again.',
  identity_in_use: 'This account at the provider belongs to another account here.',
  provider_unavailable: 'The provider did not respond. Try again.',
};

/** Results of a way to a provider. Each is shown while the address ends in its id, so that the page needs no script to read the fragment. */
const Results = () => (
  <>
    {Object.entries(TITLES).map(([provider, title]) => (
      <p class="done result" id={`linked=${provider}`} tabindex={-1}>
        {`You can sign in with ${title} now.`}
      </p>
    ))}
    {Object.entries(PROBLEMS).map(([reason, text]) => (
      <p class="problem result" id={`error=${reason}`} tabindex={-1}>
        {text}
      </p>
    ))}
  </>
);

/** Ways to sign in other than by email: the wallet that made the account, and the providers, which are linked and unlinked here. */
export async function OtherWays({ screen }: { screen: Screen }) {
  const { operations, me } = screen;
  const [identities, known] = await Promise.all([
    operations.call<{ items: Identity[] }>('listIdentities'),
    operations.call<OAuthProviders>('listOAuthProviders'),
  ]);
  if (!identities.ok) return null;
  const { items } = identities.value;
  const configured = known.ok ? known.value.providers.filter((one) => one.configured) : [];
  const open = configured.filter(({ provider }) => items.every((item) => item.provider !== provider));
  return (
    <section>
      <h2>Other ways in</h2>
      <Results />
      {me.wallet_address !== null && (
        <p>
          Wallet <code>{me.wallet_address}</code>
        </p>
      )}
      {items.length === 0 && <p>No provider is linked.</p>}
      {items.map(({ provider, email }) => (
        <ActForm screen={screen} act="unlink" id={provider} submit={`Unlink ${titleOf(provider)}`} isFinal>
          <p>
            {titleOf(provider)} <bdi>{email}</bdi>
          </p>
        </ActForm>
      ))}
      {open.map(({ provider }) => (
        <ActForm screen={screen} act="link" id={provider} submit={`Link ${titleOf(provider)}`} />
      ))}
    </section>
  );
}

export const PROVIDER_ACTS: Record<'link' | 'unlink', Act> = {
  link: {
    needs: null,
    done: 'Continue at the provider.',
    async run({ operations }, { id = '' }) {
      const begun = await operations.call<{ authorization_url: string }>('startOAuth', { params: { provider: id }, query: { next: PATH } });
      return begun.ok ? { ok: true, shown: <Onward title={titleOf(id)} url={begun.value.authorization_url} /> } : begun;
    },
  },
  unlink: {
    needs: null,
    done: 'The provider is unlinked, and the sessions that it began have ended.',
    run: async ({ operations }, form) =>
      acted(await operations.call('unlinkIdentity', { params: { provider: form.id ?? '' }, ...idempotent(form) })),
  },
};

/** Link to the provider. The policy of the page allows no form to lead to another site. */
const Onward = ({ title, url }: { title: string; url: string }) => (
  <section class="once" role="status">
    <p>{`${title} asks you to allow this, and leads back here.`}</p>
    <p>
      <a href={url}>{`Continue at ${title}`}</a>
    </p>
  </section>
);
