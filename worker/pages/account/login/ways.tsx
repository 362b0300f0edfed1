import type { SignInWay } from '../facts.ts';
import { Field, Form, PasswordField } from '../parts.tsx';
import type { FormProps } from './props.ts';

/** The part of the page that belongs to each way to sign in. */
export const WAYS = { password: ByPassword, provider: ByProvider, wallet: ByWallet } satisfies Record<
  SignInWay,
  (props: FormProps) => unknown
>;

function ByPassword({ state, say, actions }: FormProps) {
  return (
    <div class="way">
      <Form submit={say('signIn')} isBusy={state.isBusy} onSubmit={actions?.enterPassword}>
        <Field name="email" label={say('email')} type="email" autocomplete="username" />
        <PasswordField say={say} onShow={actions?.showPassword} />
      </Form>
      <button type="button" class="link-button" disabled={!actions} onClick={() => actions?.open('forgotten')}>
        {say('forgotten')}
      </button>
    </div>
  );
}

/** Providers: on this form they open an account, on the next one they make it too. */
export function ByProvider({ facts, state, say, actions }: FormProps) {
  return (
    <div class="way">
      {facts.providers.map(({ name, title }) => (
        <button
          key={name}
          type="button"
          class="plain-button"
          disabled={state.isBusy || !actions}
          onClick={() => actions?.pressProvider(name)}
        >
          {say(state.step === 'registering' ? 'registerWithProvider' : 'signInWithProvider', { provider: title })}
        </button>
      ))}
    </div>
  );
}

/** The wallets of this browser that can sign a text. */
function ByWallet({ facts, state, say, actions }: FormProps) {
  const { wallets } = state;
  return (
    <section class="way" aria-label={say('withWallet')}>
      <h2>{say('withWallet')}</h2>
      {wallets === null && <p class="quiet">{say('lookingForWallets')}</p>}
      {wallets?.length === 0 && <p class="quiet">{say('noWallet')}</p>}
      {wallets !== null && wallets.length > 0 && (
        <ul class="wallets">
          {wallets.map((wallet) => (
            <li key={wallet.name}>
              {/* One of the wrong network can still be reached and pressed, and then says why it cannot sign in. */}
              <button
                type="button"
                class={wallet.isOwn ? 'wallet wallet-own' : 'wallet'}
                disabled={state.isBusy}
                aria-disabled={wallet.isUsable ? undefined : 'true'}
                onClick={() => actions?.pressWallet(wallet.name)}
              >
                {wallet.icon && <img src={wallet.icon} alt="" width="28" height="28" />}
                <span class="wallet-name">{say('walletButton', { wallet: wallet.name })}</span>
                {!wallet.isUsable && <span class="tag">{say('wrongNetwork', { network: say(facts.network) })}</span>}
              </button>
              {wallet.isOwn && <p class="own-note">{say('demoWallet')}</p>}
            </li>
          ))}
        </ul>
      )}
      {wallets?.length !== 0 && <p class="quiet">{say('walletHelp')}</p>}
    </section>
  );
}
