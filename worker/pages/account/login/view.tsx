import { Mark, Spinner } from '../../parts/parts.tsx';
import type { SignInWay } from '../facts.ts';
import { Field, Form, PageTitle, PasswordField, ProblemNote } from '../parts.tsx';
import { isForm, type LoginState } from './machine.ts';
import type { FactorProps, FormProps, JoinProps, LoginProps } from './props.ts';

type LoginAt<Step extends LoginState['step']> = LoginProps<Extract<LoginState, { step: Step }>>;

export function Login(props: LoginProps) {
  const { state } = props;
  if (isForm(state)) {
    const Form = FORMS[state.step];
    return <Form {...props} state={state} />;
  }
  switch (state.step) {
    case 'factor':
      return <SecondStep {...props} state={state} />;
    case 'joining':
      return <JoinStep {...props} state={state} />;
    case 'asking':
      return <Asking {...props} state={state} />;
    case 'emailRequested':
      return <EmailRequested {...props} state={state} />;
    case 'signedIn':
      return <SignedIn {...props} state={state} />;
  }
}

const FORMS = { choosing: Choosing, registering: Registering, forgotten: Forgotten };

const Back = ({ say, actions }: LoginProps) => (
  <button type="button" class="link-button" onClick={() => actions?.open('choosing')}>
    {say('back')}
  </button>
);

function Choosing(props: FormProps) {
  const { facts, state, say, actions } = props;
  return (
    <div class="panel">
      <PageTitle>{say('signIn')}</PageTitle>
      {state.notice && <p class="recognised">{say(state.notice)}</p>}
      <ProblemNote problem={state.problem} say={say} />
      {facts.ways.map((name) => {
        const Way = WAYS[name];
        return <Way key={name} {...props} />;
      })}
      <div class="way">
        <button type="button" class="link-button" disabled={!actions} onClick={() => actions?.open('registering')}>
          {say('newHere')}
        </button>
      </div>
    </div>
  );
}

function Registering(props: FormProps) {
  const { facts, state, say, actions } = props;
  return (
    <div class="panel">
      <PageTitle>{say('register')}</PageTitle>
      <ProblemNote problem={state.problem} say={say} />
      <Form submit={say('create')} isBusy={state.isBusy} onSubmit={actions?.enterAccount}>
        <Field name="name" label={say('yourName')} type="text" autocomplete="organization" help={say('yourNameHelp')} />
        <Field name="email" label={say('email')} type="email" autocomplete="username" />
        <PasswordField say={say} isNew onShow={actions?.showPassword} />
      </Form>
      {facts.ways.includes('provider') && <ByProvider {...props} />}
      <Back {...props} />
    </div>
  );
}

function Forgotten(props: FormProps) {
  const { state, say, actions } = props;
  return (
    <div class="panel">
      <PageTitle>{say('forgottenTitle')}</PageTitle>
      <p>{say('forgottenHelp')}</p>
      <ProblemNote problem={state.problem} say={say} />
      <Form submit={say('sendLetter')} isBusy={state.isBusy} onSubmit={actions?.enterAddress}>
        <Field name="email" label={say('email')} type="email" autocomplete="username" />
      </Form>
      <Back {...props} />
    </div>
  );
}

const isPossible = ({ methods }: FactorProps['state'], ...names: string[]): boolean =>
  methods === null || methods.some((method) => names.includes(method));

function SecondStep(props: FactorProps) {
  const { state, say, actions } = props;
  return (
    <div class="panel">
      <PageTitle>{say('secondStep')}</PageTitle>
      <p>{say('secondStepHelp')}</p>
      <ProblemNote problem={state.problem} say={say} />
      {isPossible(state, 'passkey') && (
        <div class="way">
          <button type="button" class="plain-button" disabled={state.isWorking || !actions} onClick={() => actions?.pressPasskey()}>
            {say('withPasskey')}
          </button>
        </div>
      )}
      {isPossible(state, 'totp', 'recovery_code') && (
        <div class="way">
          <Form submit={say('signIn')} isBusy={state.isWorking} onSubmit={actions?.enterCode}>
            <Field name="code" label={say('code')} type="text" autocomplete="one-time-code" help={say('codeHelp')} />
          </Form>
        </div>
      )}
      <Back {...props} />
    </div>
  );
}

function JoinStep(props: JoinProps) {
  const { state, say, actions } = props;
  return (
    <div class="panel">
      <PageTitle>{say('secondStep')}</PageTitle>
      <p>{say('joinHelp', { provider: state.provider })}</p>
      <ProblemNote problem={state.problem} say={say} />
      <Form submit={say('signIn')} isBusy={state.isWorking} onSubmit={actions?.enterJoin}>
        <PasswordField say={say} onShow={actions?.showPassword} />
      </Form>
      <button type="button" class="link-button" disabled={!actions} onClick={() => actions?.open('forgotten')}>
        {say('forgotten')}
      </button>
      <Back {...props} />
    </div>
  );
}

const Asking = (props: LoginAt<'asking'>) => (
  <div class="panel step-waiting">
    <Spinner />
    <PageTitle>{props.say('walletButton', { wallet: props.state.walletName })}</PageTitle>
    <p>{props.say('walletWaiting', { host: props.facts.host })}</p>
    <Back {...props} />
  </div>
);

const EmailRequested = (props: LoginAt<'emailRequested'>) => (
  <div class="panel">
    <Mark kind="done" />
    <PageTitle>{props.say('letterTitle')}</PageTitle>
    <p>{props.say('letterHelp', { email: props.state.email })}</p>
    <p class="quiet">{props.say('letterMissing')}</p>
    <Back {...props} />
  </div>
);

const SignedIn = ({ facts, say }: LoginAt<'signedIn'>) => (
  <div class="panel step-waiting">
    <Mark kind="done" />
    <PageTitle>{say('signedIn')}</PageTitle>
    <a class="plain-button" href={facts.next}>
      {say('oneMoment')}
    </a>
  </div>
);

const WAYS = { password: ByPassword, passkey: ByPasskey, provider: ByProvider, wallet: ByWallet } satisfies Record<
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

function ByPasskey({ state, say, actions }: FormProps) {
  return (
    <div class="way">
      <button type="button" class="plain-button" disabled={state.isBusy || !actions} onClick={() => actions?.pressPasskey()}>
        {say('withPasskey')}
      </button>
    </div>
  );
}

function ByProvider({ facts, state, say, actions }: FormProps) {
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
              {/* A wallet of the wrong network stays enabled and explains on press why it cannot sign in. */}
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
