import { callApi } from '../../browser/call-api.ts';
import { drawOnChange, textIn } from '../../browser/draw-page.ts';
import { PageHolder } from '../../browser/page-holder.ts';
import { keepSession } from '../../browser/session.ts';
import { listWallets, onWalletsChange, WalletError } from '../../browser/wallets.ts';
import type { Answer } from '../../parts/answer.ts';
import type { Session } from '../../parts/session.ts';
import { sayIn } from '../../parts/text.ts';
import type { AccountTextKey, LoginFacts } from '../facts.ts';
import { firstLogin, isForm, type LoginEffect, type LoginNews, type LoginState, nextLogin } from '../login/machine.ts';
import type { LoginActions } from '../login/props.ts';
import { Login } from '../login/view.tsx';
import { signInWithWallet, TO_SIGN_IN } from './prove-wallet.ts';
import { goToProvider, takeReturn } from './provider.ts';

type Report = (news: LoginNews) => void;

const toNews = (answer: Answer<Session>, attempt: number, wrong: AccountTextKey): LoginNews =>
  answer.ok ? { kind: 'signedIn', attempt, session: answer.value } : { kind: 'signInRefused', attempt, failure: answer, wrong };

async function askWallet(facts: LoginFacts, attempt: number, walletName: string): Promise<LoginNews> {
  try {
    return toNews(await signInWithWallet(facts, walletName), attempt, 'pSignature');
  } catch (error) {
    return { kind: 'walletRefused', attempt, walletName, refusal: error instanceof WalletError ? error.refusal : 'failed' };
  }
}

async function askLetter(attempt: number, email: string): Promise<LoginNews> {
  const answer = await callApi('POST', '/v1/auth/password/forgot', { body: { email } });
  return answer.ok ? { kind: 'letterTaken', attempt, email } : { kind: 'signInRefused', attempt, failure: answer, wrong: 'pUnknown' };
}

/** All that the page does beyond itself. It decides nothing: every answer is reported as an event. */
async function run(facts: LoginFacts, report: Report, effect: LoginEffect): Promise<void> {
  switch (effect.kind) {
    case 'signIn': {
      const body = { email: effect.email, password: effect.password };
      return report(toNews(await callApi<Session>('POST', '/v1/auth/login', { body }), effect.attempt, 'pWrong'));
    }
    case 'register': {
      const body = { display_name: effect.name, email: effect.email, password: effect.password };
      return report(toNews(await callApi<Session>('POST', '/v1/auth/register', { body }), effect.attempt, 'pUnknown'));
    }
    case 'goToProvider': {
      const { attempt, provider, mode } = effect;
      const failure = await goToProvider({ provider, mode, next: facts.returnPath });
      return failure === null ? undefined : report({ kind: 'signInRefused', attempt, failure, wrong: 'pUnknown' });
    }
    case 'askLetter':
      return report(await askLetter(effect.attempt, effect.email));
    case 'askWallet':
      return report(await askWallet(facts, effect.attempt, effect.walletName));
    case 'enter':
      // The back button does not lead to a form that is done with.
      return keepSession(effect.session) ? location.replace(facts.next) : report({ kind: 'sessionNotKept' });
  }
}

const newActions = (report: Report): LoginActions => ({
  open: (form) => report({ kind: 'formOpened', form }),
  enterPassword: (event) => report({ kind: 'passwordEntered', email: textIn(event, 'email').trim(), password: textIn(event, 'password') }),
  enterAccount: (event) =>
    report({
      kind: 'accountEntered',
      name: textIn(event, 'name').trim(),
      email: textIn(event, 'email').trim(),
      password: textIn(event, 'password'),
    }),
  enterAddress: (event) => report({ kind: 'addressEntered', email: textIn(event, 'email').trim() }),
  pressWallet: (walletName) => report({ kind: 'walletPressed', walletName }),
  pressProvider: (provider) => report({ kind: 'providerPressed', provider }),
  showPassword,
});

/** Shows what is typed as a password, or hides it again. */
export function showPassword({ target }: Event): void {
  const { form, checked } = target as HTMLInputElement;
  const field = form?.elements.namedItem('password');
  if (field instanceof HTMLInputElement) field.type = checked ? 'text' : 'password';
}

export function startLogin(facts: LoginFacts, panel: HTMLElement): void {
  const page = new PageHolder<LoginState, LoginNews, LoginEffect>(firstLogin(facts), (state, news) => nextLogin(facts, state, news));
  page.connect((effect) => void run(facts, page.report, effect));
  const actions = newActions(page.report);
  const returned = takeReturn();
  const look = () => page.report({ kind: 'walletsChanged', wallets: listWallets(facts, TO_SIGN_IN) });
  look();
  drawOnChange(page, panel, sayIn(facts.text), (state, say) => <Login facts={facts} state={state} say={say} actions={actions} />);
  onWalletsChange(look);
  // Once the page is drawn, so that a refusal is said aloud too.
  if (returned !== null) page.report({ kind: 'returned', returned });
  // Back from a provider without having signed in there, to the page as the browser kept it.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && isForm(page.state)) page.report({ kind: 'formOpened', form: page.state.step });
  });
}
