import { type PublicKeyCredentialRequestOptionsJSON, startAuthentication } from '@simplewebauthn/browser';
import { callApi } from '../../browser/call-api.ts';
import { drawOnChange, textIn } from '../../browser/draw-page.ts';
import { PageHolder } from '../../browser/page-holder.ts';
import { shareSession } from '../../browser/session.ts';
import { signText, TO_SIGN_TEXT } from '../../browser/wallets/sign-text.ts';
import { callWallet, listWallets, onWalletsChange, openWallet, WalletError } from '../../browser/wallets/wallets.ts';
import type { Answer, Failure } from '../../parts/answer.ts';
import { toBase58 } from '../../parts/bytes.ts';
import type { Session } from '../../parts/session.ts';
import { sayIn } from '../../parts/text.ts';
import type { WalletTerms } from '../../parts/wallet-choice.ts';
import type { AccountTextKey, LoginFacts } from '../facts.ts';
import { firstLogin, isForm, type LoginEffect, type LoginNews, type LoginState, nextLogin } from '../login/machine.ts';
import type { LoginActions } from '../login/props.ts';
import { Login } from '../login/view.tsx';
import { takeFactorTicket } from './factor-ticket.ts';
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

interface Ceremony {
  ceremony_id: string;
  options: PublicKeyCredentialRequestOptionsJSON;
}

/** A passkey alone is enough to sign in, so it needs no ticket. */
async function askPasskey(attempt: number): Promise<LoginNews> {
  const begun = await callApi<Ceremony>('POST', '/v1/auth/passkey/options');
  if (!begun.ok) return toNews(begun, attempt, 'pPasskey');
  try {
    const { ceremony_id, options } = begun.value;
    const response = await startAuthentication({ optionsJSON: options });
    return toNews(await callApi<Session>('POST', '/v1/auth/passkey', { body: { ceremony_id, response } }), attempt, 'pPasskey');
  } catch {
    const failure: Failure = { ok: false, status: 0, code: 'invalid_credentials', detail: '', meta: {}, retryAfterMs: null };
    return { kind: 'signInRefused', attempt, failure, wrong: 'pPasskey' };
  }
}

/** Six digits are a code of the authenticator app, anything else is a recovery code. */
async function proveFactor(attempt: number, ticket: string, code: string): Promise<LoginNews> {
  const proof = /^\d{6}$/.test(code) ? { totp: code } : { recovery_code: code.toLowerCase() };
  return toNews(await callApi<Session>('POST', '/v1/auth/factor', { body: { ticket, ...proof } }), attempt, 'pCode');
}

async function requestEmail(attempt: number, email: string): Promise<LoginNews> {
  const answer = await callApi('POST', '/v1/auth/password/forgot', { body: { email } });
  return answer.ok ? { kind: 'emailTaken', attempt, email } : { kind: 'signInRefused', attempt, failure: answer, wrong: 'pUnknown' };
}

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
    case 'askPasskey':
      return report(await askPasskey(effect.attempt));
    case 'proveFactor':
      return report(await proveFactor(effect.attempt, effect.ticket, effect.code));
    case 'join': {
      const { attempt, ticket, password } = effect;
      return report(toNews(await callApi<Session>('POST', '/v1/auth/oauth/join', { body: { ticket, password } }), attempt, 'pJoin'));
    }
    case 'requestEmail':
      return report(await requestEmail(effect.attempt, effect.email));
    case 'askWallet':
      return report(await askWallet(facts, effect.attempt, effect.walletName));
    case 'enter':
      // `replace`, so that the back button does not return to the sign-in form.
      await shareSession(effect.session);
      return location.replace(facts.next);
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
  enterCode: (event) => report({ kind: 'codeEntered', code: textIn(event, 'code').replace(/\s/g, '') }),
  enterJoin: (event) => report({ kind: 'joinEntered', password: textIn(event, 'password') }),
  pressPasskey: () => report({ kind: 'passkeyPressed' }),
  pressWallet: (walletName) => report({ kind: 'walletPressed', walletName }),
  pressProvider: (provider) => report({ kind: 'providerPressed', provider }),
  showPassword,
});

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
  const reportWallets = () => page.report({ kind: 'walletsChanged', wallets: listWallets(facts, TO_SIGN_TEXT) });
  reportWallets();
  drawOnChange(page, panel, sayIn(facts.text), (state, say) => <Login facts={facts} state={state} say={say} actions={actions} />);
  onWalletsChange(reportWallets);
  // After the first drawing, so that a screen reader announces a refusal.
  if (returned !== null) page.report({ kind: 'returned', returned });
  const asked = takeFactorTicket();
  if (asked !== null) page.report({ kind: 'factorAsked', ...asked });
  // Restored from the back-forward cache after an unfinished OAuth flow: shows the form again.
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted && isForm(page.state)) page.report({ kind: 'formOpened', form: page.state.step });
  });
}

interface Nonce {
  message_nonce: string;
  message: string;
}

/**
 * Signs in with a wallet: the service writes the text, the wallet shows and signs it. Throws WalletError if the wallet declines or fails.
 */
async function signInWithWallet(terms: WalletTerms, walletName: string): Promise<Answer<Session>> {
  const open = await openWallet(terms, TO_SIGN_TEXT, walletName);
  const wallet_address = open.account.address;
  const issued = await callApi<Nonce>('POST', '/v1/auth/wallet/nonce', { body: { wallet_address } });
  if (!issued.ok) return issued;
  const { message, message_nonce } = issued.value;
  const signature = await callWallet('failed', () => signText(open, terms, message));
  return callApi<Session>('POST', '/v1/auth/wallet', { body: { wallet_address, signed_message: toBase58(signature), message_nonce } });
}
