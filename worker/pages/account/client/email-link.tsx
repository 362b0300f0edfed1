import { callApi } from '../../browser/call-api.ts';
import { drawOnChange, textIn } from '../../browser/draw-page.ts';
import { PageHolder } from '../../browser/page-holder.ts';
import { shareSession } from '../../browser/session.ts';
import type { Session } from '../../parts/session.ts';
import { sayIn } from '../../parts/text.ts';
import { type EmailLinkEffect, type EmailLinkNews, type EmailLinkState, FIRST_EMAIL_LINK, nextEmailLink } from '../email-link/machine.ts';
import { EmailLink, type EmailLinkActions } from '../email-link/view.tsx';
import { type EmailLinkFacts, loginPathOf } from '../facts.ts';
import { passFactorTicket } from './factor-ticket.ts';
import { showPassword } from './sign-in.tsx';

const TOKEN = /^#token=([\w.-]{1,200})$/;

/** Token of an emailed link, moved from the address to session storage, so that a reload or a change of language has the token. */
class LinkToken {
  readonly #key: string;
  #token: string | null = null;

  constructor(page: string) {
    this.#key = `svc:letter:${page}`;
  }

  /** Reads the token from the address and removes it there, so that neither the history nor the address bar shows it. */
  take(): string | null {
    const { hash, pathname, search } = location;
    if (hash === '') return this.read();
    this.#token = TOKEN.exec(hash)?.[1] ?? null;
    history.replaceState(null, '', `${pathname}${search}`);
    try {
      if (this.#token === null) sessionStorage.removeItem(this.#key);
      else sessionStorage.setItem(this.#key, this.#token);
    } catch {
      // No storage: the token lasts as long as the page.
    }
    return this.#token;
  }

  read(): string | null {
    try {
      return sessionStorage.getItem(this.#key) ?? this.#token;
    } catch {
      return this.#token;
    }
  }

  forget(): void {
    this.#token = null;
    try {
      sessionStorage.removeItem(this.#key);
    } catch {
      // No storage: nothing to delete.
    }
  }
}

type Report = (news: EmailLinkNews) => void;

type Spending = Extract<EmailLinkEffect, { kind: 'spendToken' }>;

async function spend(facts: EmailLinkFacts, token: LinkToken, { password, endsOthers }: Spending): Promise<EmailLinkNews> {
  const value = token.read();
  if (value === null) return { kind: 'tokenMissing' };
  if (facts.page === 'invitation') return accept(value);
  if (facts.page === 'sign_in') {
    const entered = await callApi<Session>('POST', '/v1/auth/login/email-link', { body: { token: value } });
    return entered.ok ? { kind: 'signedIn', session: entered.value } : { kind: 'refused', failure: entered };
  }
  const answer =
    facts.page === 'not_me'
      ? await callApi('POST', '/v1/account/not-me', { body: { token: value } })
      : facts.page === 'verify'
        ? await callApi('POST', '/v1/account/email/verify', { body: { token: value } })
        : await callApi('POST', '/v1/auth/password/reset', { body: { token: value, new_password: password, end_others: endsOthers } });
  return answer.ok ? { kind: 'done' } : { kind: 'refused', failure: answer };
}

/** Accepts an invitation in the session of this browser, which goes on in the account that invited. */
async function accept(value: string): Promise<EmailLinkNews> {
  const accepted = await callApi('POST', '/invitation', { form: { token: value } });
  if (accepted.ok) return { kind: 'joined' };
  return accepted.code === 'invalid_authorization' ? { kind: 'sessionMissing' } : { kind: 'refused', failure: accepted };
}

/** Shows who invites. An invitation that has ended is said before the press. */
async function showInvitation(value: string, report: Report): Promise<void> {
  const answer = await callApi<{ account: { display_name: string }; invited_by: string; email: string; role: string }>(
    'POST',
    '/v1/invitations/preview',
    { body: { token: value } },
  );
  if (!answer.ok) return report({ kind: 'refused', failure: answer });
  const { account, invited_by: inviter, email, role } = answer.value;
  report({ kind: 'invited', invited: { inviter, account: account.display_name, email, role } });
}

/** Shows what the press takes back. A link that was used is said before the press. */
async function showDispute(value: string, report: Report): Promise<void> {
  const answer = await callApi<{ account: string; at: string; will: string[] }>('POST', '/v1/account/not-me/preview', {
    body: { token: value },
  });
  report(answer.ok ? { kind: 'disputed', disputed: answer.value } : { kind: 'refused', failure: answer });
}

/** Shows the account of the link. A failure is ignored, because the call that spends the token reports what is wrong. */
async function nameAccount(value: string, report: Report): Promise<void> {
  const answer = await callApi<{ account: string; created_at: string }>('POST', '/v1/account/email/preview', { body: { token: value } });
  if (answer.ok) report({ kind: 'named', account: { name: answer.value.account, createdAt: answer.value.created_at } });
}

async function disown(token: LinkToken): Promise<EmailLinkNews> {
  const answer = await callApi('POST', '/v1/account/email/disown', { body: { token: token.read() } });
  return answer.ok ? { kind: 'disowned' } : { kind: 'refused', failure: answer };
}

async function run(facts: EmailLinkFacts, token: LinkToken, report: Report, effect: EmailLinkEffect): Promise<void> {
  switch (effect.kind) {
    case 'spendToken':
      return report(await spend(facts, token, effect));
    case 'disownAccount':
      return report(await disown(token));
    case 'forgetToken':
      return token.forget();
    case 'goSignIn':
      return location.assign(loginPathOf(facts, { next: `${location.pathname}${location.search}` }));
    case 'askFactor':
      return passFactorTicket(effect) ? location.replace(facts.loginPath) : undefined;
    case 'enter':
      // `replace`, so that the back button does not return to the used link.
      if (effect.session) await shareSession(effect.session);
      return location.replace(facts.dashboardPath);
  }
}

export function startEmailLink(facts: EmailLinkFacts, panel: HTMLElement): void {
  const token = new LinkToken(facts.page);
  const page = new PageHolder<EmailLinkState, EmailLinkNews, EmailLinkEffect>(FIRST_EMAIL_LINK, (state, news) =>
    nextEmailLink(facts, state, news),
  );
  page.connect((effect) => void run(facts, token, page.report, effect));
  const actions: EmailLinkActions = {
    confirm: (event) =>
      page.report(
        facts.page === 'reset'
          ? { kind: 'confirmed', password: textIn(event, 'password'), endsOthers: textIn(event, 'end_others') === 'true' }
          : { kind: 'confirmed', password: null },
      ),
    disown: () => page.report({ kind: 'notMine' }),
    showPassword,
  };
  const value = token.take();
  if (value === null) page.report({ kind: 'tokenMissing' });
  else if (facts.page === 'verify') void nameAccount(value, page.report);
  else if (facts.page === 'invitation') void showInvitation(value, page.report);
  else if (facts.page === 'not_me') void showDispute(value, page.report);
  drawOnChange(page, panel, sayIn(facts.text), (state, say) => <EmailLink facts={facts} state={state} say={say} actions={actions} />);
  // A second link, opened in the same tab, changes only the hash.
  addEventListener('hashchange', () => location.hash !== '' && location.reload());
}
