import { callApi } from '../../browser/call-api.ts';
import { drawOnChange, textIn } from '../../browser/draw-page.ts';
import { PageHolder } from '../../browser/page-holder.ts';
import { forgetSession } from '../../browser/session.ts';
import { sayIn } from '../../parts/text.ts';
import type { LetterLinkFacts } from '../facts.ts';
import {
  FIRST_LETTER_LINK,
  type LetterLinkEffect,
  type LetterLinkNews,
  type LetterLinkState,
  nextLetterLink,
} from '../letter-link/machine.ts';
import { LetterLink, type LetterLinkActions } from '../letter-link/view.tsx';
import { showPassword } from './sign-in.tsx';

const TOKEN = /^#token=([\w.-]{1,200})$/;

/** The token of a link, out of the address: into the storage of this tab, so that the page can be loaded again or in another language. */
class LinkToken {
  readonly #key: string;
  /** Where the browser stores nothing, it lasts as long as the page. */
  #token: string | null = null;

  constructor(page: string) {
    this.#key = `svc:letter:${page}`;
  }

  /** Takes it from the address, which from then on does not show it: neither to the history nor to a shoulder. */
  take(): string | null {
    const { hash, pathname, search } = location;
    if (hash === '') return this.read();
    this.#token = TOKEN.exec(hash)?.[1] ?? null;
    history.replaceState(null, '', `${pathname}${search}`);
    try {
      if (this.#token === null) sessionStorage.removeItem(this.#key);
      else sessionStorage.setItem(this.#key, this.#token);
    } catch {
      // It lasts as long as the page.
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
      // Nothing could be stored either.
    }
  }
}

type Report = (news: LetterLinkNews) => void;

async function spend(facts: LetterLinkFacts, token: LinkToken, password: string | null): Promise<LetterLinkNews> {
  const value = token.read();
  if (value === null) return { kind: 'tokenMissing' };
  const answer =
    facts.page === 'verify'
      ? await callApi('POST', '/v1/account/email/verify', { body: { token: value } })
      : await callApi('POST', '/v1/auth/password/reset', { body: { token: value, new_password: password } });
  return answer.ok ? { kind: 'done' } : { kind: 'refused', failure: answer };
}

/** Asks which account the link is about. Without an answer the page shows none: what spends the token says what is wrong with it. */
async function nameAccount(value: string, report: Report): Promise<void> {
  const answer = await callApi<{ account: string; created_at: string }>('POST', '/v1/account/email/preview', { body: { token: value } });
  if (answer.ok) report({ kind: 'named', account: { name: answer.value.account, createdAt: answer.value.created_at } });
}

async function disown(token: LinkToken): Promise<LetterLinkNews> {
  const answer = await callApi('POST', '/v1/account/email/disown', { body: { token: token.read() } });
  return answer.ok ? { kind: 'disowned' } : { kind: 'refused', failure: answer };
}

async function run(facts: LetterLinkFacts, token: LinkToken, report: Report, effect: LetterLinkEffect): Promise<void> {
  switch (effect.kind) {
    case 'spendToken':
      return report(await spend(facts, token, effect.password));
    case 'disownAccount':
      return report(await disown(token));
    case 'forgetToken':
      return token.forget();
    case 'forgetSession':
      return forgetSession();
  }
}

export function startLetterLink(facts: LetterLinkFacts, panel: HTMLElement): void {
  const token = new LinkToken(facts.page);
  const page = new PageHolder<LetterLinkState, LetterLinkNews, LetterLinkEffect>(FIRST_LETTER_LINK, (state, news) =>
    nextLetterLink(facts, state, news),
  );
  page.connect((effect) => void run(facts, token, page.report, effect));
  const actions: LetterLinkActions = {
    confirm: (event) => page.report({ kind: 'confirmed', password: facts.page === 'reset' ? textIn(event, 'password') : null }),
    disown: () => page.report({ kind: 'notMine' }),
    showPassword,
  };
  const value = token.take();
  if (value === null) page.report({ kind: 'tokenMissing' });
  else if (facts.page === 'verify') void nameAccount(value, page.report);
  drawOnChange(page, panel, sayIn(facts.text), (state, say) => <LetterLink facts={facts} state={state} say={say} actions={actions} />);
  // Another letter's link, opened where this page stands already.
  addEventListener('hashchange', () => location.hash !== '' && location.reload());
}
