import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROVIDER_ERRORS } from '#features/accounts/oauth/provider.ts';
import { type EmailLinkNews, FIRST_EMAIL_LINK, nextEmailLink } from '../../worker/pages/account/email-link/machine.ts';
import type { EmailLinkFacts, LoginFacts } from '../../worker/pages/account/facts.ts';
import { firstLogin, type LoginEffect, type LoginNews, nextLogin } from '../../worker/pages/account/login/machine.ts';
import { problemOfReturn, readOutcome } from '../../worker/pages/account/provider-return.ts';
import account from '../../worker/pages/locales/account/en.json';
import en from '../../worker/pages/locales/en.json';
import { failure } from '../support/fixtures/page-values.ts';

const common = {
  locale: 'en',
  text: { ...en, ...account },
  network: 'devnet',
  ownWallet: null,
  loginPath: '/login',
  dashboardPath: '/dashboard',
  providers: [
    { name: 'google', title: 'Google' },
    { name: 'github', title: 'GitHub' },
  ],
} as const satisfies Partial<LoginFacts>;
const login: LoginFacts = {
  ...common,
  page: 'login',
  host: 'svc.test',
  next: '/dashboard',
  returnPath: '/login?next=%2Fdashboard',
  form: 'choosing',
  ways: ['password', 'provider', 'wallet'],
  notice: null,
};
const SECRET = 'correct horse battery';
const session = { token: 'a.token.of-a-session', expires_at: '2099-01-01T00:00:00Z' };

const loginNews: fc.Arbitrary<LoginNews> = fc.oneof(
  fc.constantFrom('choosing', 'registering', 'forgotten').map((form) => ({ kind: 'formOpened', form }) as const),
  fc.constantFrom<LoginNews>(
    { kind: 'passwordEntered', email: 'a@b.example', password: SECRET },
    { kind: 'accountEntered', name: 'Ada', email: 'a@b.example', password: SECRET },
    { kind: 'addressEntered', email: 'a@b.example' },
    { kind: 'walletPressed', walletName: 'Signer' },
    { kind: 'walletsChanged', wallets: [] },
    { kind: 'providerPressed', provider: 'github' },
    { kind: 'returned', returned: { outcome: { kind: 'refused', error: 'account_not_found' }, from: 'github' } },
    { kind: 'returned', returned: { outcome: { kind: 'passwordRequired', ticket: 't' }, from: 'github' } },
    { kind: 'joinEntered', password: SECRET },
  ),
  fc
    .nat(12)
    .chain((attempt) =>
      fc.constantFrom<LoginNews>(
        { kind: 'signedIn', attempt, session },
        { kind: 'signInRefused', attempt, failure: failure('invalid_credentials', 401), wrong: 'pWrong' },
        { kind: 'walletRefused', attempt, walletName: 'Signer', refusal: 'rejected' },
        { kind: 'emailTaken', attempt, email: 'a@b.example' },
      ),
    ),
);

describe('sign-in page machine', () => {
  it('the state contains no password or session, each request is sent once, and only the last answer signs in', () => {
    fc.assert(
      fc.property(fc.array(loginNews, { maxLength: 30 }), (events) => {
        let state = firstLogin(login);
        const asked: LoginEffect[] = [];
        for (const news of events) {
          const before = state;
          const turn = nextLogin(login, state, news);
          state = turn.state;
          expect(JSON.stringify(state)).not.toMatch(/correct horse|a\.token/);
          for (const effect of turn.effects) {
            if (effect.kind !== 'enter') {
              expect(effect.attempt).toBe(before.attempt + 1);
              asked.push(effect);
            } else {
              const { attempt } = news as { attempt: number };
              expect([news.kind, attempt, before.step === 'signedIn']).toEqual(['signedIn', before.attempt, false]);
            }
          }
        }
        const attempts = asked.map((effect) => ('attempt' in effect ? effect.attempt : 0));
        expect(new Set(attempts).size).toBe(attempts.length);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('provider return', () => {
  it('an outcome is ignored with oNotBegun if this tab did not begin it', () => {
    for (const outcome of [readOutcome('#error=access_denied')!, readOutcome('#error=account_suspended')!]) {
      const { state, effects } = nextLogin(login, firstLogin(login), { kind: 'returned', returned: { outcome, from: null } });
      expect([state.step, (state as { problem?: unknown }).problem, effects]).toEqual(['choosing', { key: 'oNotBegun' }, []]);
    }
  });

  it('F1: the password of an account that the identity joins is asked for in the tab that began, and may be repeated', () => {
    const outcome = readOutcome('#error=password_required&ticket=a.b')!;
    const foreign = nextLogin(login, firstLogin(login), { kind: 'returned', returned: { outcome, from: null } });
    expect([foreign.state.step, (foreign.state as { problem?: unknown }).problem]).toEqual(['choosing', { key: 'oNotBegun' }]);
    const { state: asked } = nextLogin(login, firstLogin(login), { kind: 'returned', returned: { outcome, from: 'google' } });
    expect(asked).toMatchObject({ step: 'joining', ticket: 'a.b', provider: 'Google', isWorking: false });
    const sent = nextLogin(login, asked, { kind: 'joinEntered', password: SECRET });
    const { attempt } = sent.state;
    expect(sent.effects).toEqual([{ kind: 'join', attempt, ticket: 'a.b', password: SECRET }]);
    expect(nextLogin(login, sent.state, { kind: 'joinEntered', password: SECRET }).effects).toEqual([]);
    const refusal = { kind: 'signInRefused', attempt, wrong: 'pJoin' } as const;
    const wrong = nextLogin(login, sent.state, { ...refusal, failure: failure('invalid_credentials', 401) });
    expect(wrong.state).toMatchObject({ step: 'joining', isWorking: false, problem: { key: 'pJoin' } });
    const inUse = nextLogin(login, sent.state, { ...refusal, failure: failure('state_conflict', 409) });
    expect(inUse.state).toMatchObject({ step: 'choosing', problem: { key: 'oInUse', values: { provider: 'Google' } } });
  });

  it('every provider error has a text of its own, and an unknown one shows pUnknown', () => {
    const keyOf = (error: string) => problemOfReturn(login, { outcome: readOutcome(`#error=${error}`)!, from: 'google' }).key;
    expect(PROVIDER_ERRORS.map(keyOf)).not.toContain('pUnknown');
    expect(new Set(PROVIDER_ERRORS.map(keyOf)).size).toBe(PROVIDER_ERRORS.length);
    for (const strange of ['constructor', '__proto__', 'new_error']) expect(keyOf(strange)).toBe('pUnknown');
  });

  it('another fragment yields no outcome', () => {
    for (const fragment of ['', '#', '#token=a.b.c', '#top', '#linked=google', '#error=', '#error=<b>', ' #error=access_denied'])
      expect(readOutcome(fragment), fragment).toBeNull();
  });
});

describe('email link machine', () => {
  const facts = (page: EmailLinkFacts['page']): EmailLinkFacts => ({ ...common, page });
  const news = fc.oneof(
    fc.constantFrom<EmailLinkNews>(
      { kind: 'confirmed', password: SECRET, endsOthers: true },
      { kind: 'notMine' },
      { kind: 'named', account: { name: 'Ada', createdAt: '2026-11-14T22:13:20.000Z' } },
      { kind: 'done' },
      { kind: 'signedIn', session: { token: SECRET, expires_at: '2026-11-15T22:13:20.000Z' } },
      { kind: 'disowned' },
      { kind: 'tokenMissing' },
    ),
    fc
      .constantFrom('offline', 'invalid_credentials', 'password_too_short', 'temporarily_unavailable')
      .map((code) => ({ kind: 'refused', failure: failure(code, code === 'invalid_credentials' ? 401 : 422) }) as const),
  );

  it('the token is used only on a press, once at a time, and never after the end', () => {
    fc.assert(
      fc.property(fc.constantFrom('verify', 'reset', 'sign_in'), fc.array(news, { maxLength: 20 }), (page, events) => {
        let state = FIRST_EMAIL_LINK;
        for (const one of events) {
          const before = state;
          const turn = nextEmailLink(facts(page), state, one);
          state = turn.state;
          expect(JSON.stringify(state)).not.toContain(SECRET);
          const isSpent = turn.effects.some(({ kind }) => kind === 'spendToken');
          const isIdle = before.step === 'ready' && !before.isBusy;
          expect(isSpent).toBe(one.kind === 'confirmed' && isIdle);
          const isDisowned = turn.effects.some(({ kind }) => kind === 'disownAccount');
          expect(isDisowned).toBe(one.kind === 'notMine' && isIdle && page === 'verify');
          if (before.step !== 'ready') expect(turn).toEqual({ state: before, effects: [] });
          if (state.step !== 'ready' && state.step !== 'linkNone' && before.step === 'ready')
            expect(turn.effects[0]).toEqual({ kind: 'forgetToken' });
        }
      }),
      { numRuns: 2000 },
    );
  });
});
