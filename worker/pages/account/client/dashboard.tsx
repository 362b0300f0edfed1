import { callApi, serverNow } from '../../browser/call-api.ts';
import { copyText } from '../../browser/copy-text.ts';
import { drawOnChange, textIn } from '../../browser/draw-page.ts';
import { newIdempotencyKey } from '../../browser/idempotency-key.ts';
import { PageHolder } from '../../browser/page-holder.ts';
import { forgetSession, onSignedOutElsewhere, readSession, signOutEverywhere, storeSession } from '../../browser/session.ts';
import type { Answer } from '../../parts/answer.ts';
import type { Session } from '../../parts/session.ts';
import { sayIn } from '../../parts/text.ts';
import { type DashboardEffect, type DashboardNews, type DashboardState, FIRST_DASHBOARD, nextDashboard } from '../dashboard/machine.ts';
import type { DashboardActions } from '../dashboard/props.ts';
import { Dashboard } from '../dashboard/view.tsx';
import { type DashboardFacts, loginPathOf } from '../facts.ts';
import { type MadeKey, readHoldings, toShownKey } from './holdings.ts';
import { goToProvider, isReturn, takeReturn } from './provider.ts';

const COPIED_MS = 2000;

type Report = (news: DashboardNews) => void;

async function renew(session: Session): Promise<Answer<Session>> {
  if (Date.parse(session.expires_at) > serverNow()) return { ok: true, value: session };
  const renewed = await callApi<Session>('POST', '/v1/auth/refresh', { body: { token: session.token } });
  if (renewed.ok) storeSession(renewed.value);
  return renewed;
}

async function load(report: Report, session: Session): Promise<void> {
  const renewed = await renew(session);
  const holdings = renewed.ok ? await readHoldings(renewed.value.token) : renewed;
  report(holdings.ok ? { kind: 'loaded', holdings: holdings.value } : { kind: 'loadRefused', failure: holdings });
}

async function run(facts: DashboardFacts, report: Report, effect: DashboardEffect): Promise<void> {
  const session = readSession();
  if (effect.kind === 'leave') {
    forgetSession();
    return location.replace(loginPathOf(facts, { next: facts.dashboardPath, ...(effect.why ? { why: effect.why } : {}) }));
  }
  if (session === null) return report({ kind: 'sessionMissing', why: null });
  const { token } = session;
  switch (effect.kind) {
    case 'load':
      return load(report, session);
    case 'makeKey': {
      const { name, isLive, idempotencyKey } = effect.terms;
      const made = await callApi<MadeKey>('POST', '/v1/keys', { token, idempotencyKey, body: { name, sandbox_mode: !isLive } });
      if (!made.ok) return report({ kind: 'keyRefused', failure: made });
      report({ kind: 'keyMade', key: toShownKey(made.value.key), rawKey: made.value.raw_key });
      setTimeout(() => document.getElementById('made-key')?.focus());
      return;
    }
    case 'requestEmail': {
      const asked = await callApi('POST', '/v1/account/email/verification', { token });
      return report(asked.ok ? { kind: 'emailTaken' } : { kind: 'emailRefused', failure: asked });
    }
    case 'goToProvider': {
      const failure = await goToProvider({ provider: effect.provider, next: facts.dashboardPath, token });
      return failure === null ? undefined : report({ kind: 'linkingRefused', failure });
    }
    case 'unlink': {
      const unlinked = await callApi('DELETE', `/v1/account/identities/${effect.provider}`, { token });
      return report(unlinked.ok ? { kind: 'unlinked', provider: effect.provider } : { kind: 'linkingRefused', failure: unlinked });
    }
    case 'signOut': {
      signOutEverywhere();
      endOnServer(token);
      return location.replace(loginPathOf(facts, { why: 'out' }));
    }
  }
}

/** Best effort: signing out does not wait for the answer. */
function endOnServer(token: string): void {
  void callApi('POST', '/v1/auth/logout', { token, body: { end: 'session' }, outlivesPage: true });
}

async function copyKey(page: PageHolder<DashboardState, DashboardNews, DashboardEffect>): Promise<void> {
  const { state } = page;
  if (state.step !== 'open' || !state.made) return;
  const isCopied = await copyText(state.made.rawKey, document.getElementById('raw-key'));
  page.report({ kind: 'keyCopied', isSelected: !isCopied });
  if (isCopied) setTimeout(() => page.report({ kind: 'copyShown' }), COPIED_MS);
}

export function startDashboard(facts: DashboardFacts, panel: HTMLElement): void {
  // Sign-in returns belong to the sign-in page, which takes the token or shows the refusal.
  if (isReturn() && readSession() === null) {
    location.replace(`${loginPathOf(facts, { next: facts.dashboardPath })}${location.hash}`);
    return;
  }
  let returned = takeReturn();
  const page = new PageHolder<DashboardState, DashboardNews, DashboardEffect>(FIRST_DASHBOARD, (state, news) =>
    nextDashboard(facts, state, news),
  );
  const { report } = page;
  const showReturn = () => {
    if (returned === null || page.state.step !== 'open') return;
    const pending = returned;
    returned = null;
    report({ kind: 'returned', returned: pending });
  };
  page.connect((effect) => void run(facts, report, effect), showReturn);
  const actions: DashboardActions = {
    reload: () => report({ kind: 'loadWanted' }),
    enterKey: (event) => {
      const terms = {
        name: textIn(event, 'key-name').trim(),
        isLive: textIn(event, 'kind') === 'live',
        idempotencyKey: newIdempotencyKey(),
      };
      report({ kind: 'keyEntered', terms });
    },
    copyKey: () => void copyKey(page),
    storeKey: () => report({ kind: 'keyKept' }),
    requestEmail: () => report({ kind: 'emailWanted' }),
    link: (provider) => report({ kind: 'linkWanted', provider }),
    unlink: (provider) => report({ kind: 'unlinkWanted', provider }),
    signOut: () => report({ kind: 'signOutPressed' }),
  };
  drawOnChange(page, panel, sayIn(facts.text), (state, say) => <Dashboard facts={facts} state={state} say={say} actions={actions} />);
  onSignedOutElsewhere((session) => {
    if (session) endOnServer(session.token);
    report({ kind: 'sessionMissing', why: 'out' });
  });
  addEventListener('pagehide', () => report({ kind: 'pageLeft' }));
  // Restored from the back-forward cache: loads again, because the session may have ended.
  addEventListener('pageshow', ({ persisted }) => persisted && report({ kind: 'loadWanted' }));
  report({ kind: 'loadWanted' });
}
