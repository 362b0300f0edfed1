import type { Child } from 'hono/jsx';
import { localPathOf } from '#core/local-path.ts';
import { NEXT_PATH_MAX } from '#features/accounts/oauth/provider.ts';
import { listConfigured } from '#features/accounts/oauth/registry.ts';
import type { Ctx } from '#platform/context.ts';
import { PAGE_ASSETS } from '../assets.ts';
import { demoWalletOf, ownWalletParts, type PageContext, sendPage } from '../document.tsx';
import { loadAccountWords } from '../locales/dictionaries.ts';
import { sayIn } from '../parts/text.ts';
import { FIRST_DASHBOARD } from './dashboard/machine.ts';
import { Dashboard } from './dashboard/view.tsx';
import {
  type AccountFacts,
  type AccountText,
  type AccountTextKey,
  type DashboardFacts,
  type LetterLinkFacts,
  LOGIN_FORMS,
  LOGIN_REASONS,
  type LoginFacts,
  type LoginReason,
  loginPathOf,
  SHARED_WORDS,
  SIGN_IN_WAYS,
  type SignInWay,
} from './facts.ts';
import { FIRST_LETTER_LINK } from './letter-link/machine.ts';
import { LetterLink } from './letter-link/view.tsx';
import { firstLogin } from './login/machine.ts';
import { Login } from './login/view.tsx';

/** What a way to sign in needs of this deployment; one that lacks it is not shown. */
const IS_CONFIGURED: Record<SignInWay, (ctx: Ctx) => boolean> = {
  password: () => true,
  provider: (ctx) => listConfigured(ctx).length > 0,
  wallet: () => true,
};

type CommonFacts = Pick<AccountFacts, 'locale' | 'text' | 'network' | 'ownWallet' | 'loginPath' | 'dashboardPath' | 'providers'>;

async function commonFacts({ c, locale, text }: PageContext): Promise<CommonFacts> {
  const { config } = c.var.ctx;
  const shared = Object.fromEntries(SHARED_WORDS.map((key) => [key, text[key]]));
  // A language that was asked for goes along; one that the browser prefers is found again.
  const asked = c.req.query('locale') === undefined ? '' : `?locale=${locale}`;
  return {
    locale,
    text: { ...shared, ...(await loadAccountWords(locale)) } as AccountText,
    network: config.NETWORK,
    ownWallet: demoWalletOf(config),
    loginPath: `/login${asked}`,
    dashboardPath: `/dashboard${asked}`,
    providers: listConfigured(c.var.ctx),
  };
}

/** The page as it stands before the browser takes it over. Nothing of an account is in it: the browser asks for that itself. */
function sendAccountPage(page: PageContext, facts: AccountFacts, title: AccountTextKey, children: Child): Response {
  const { text } = facts;
  const { scripts, alsoConnectTo } = ownWalletParts(facts.page === 'login' ? facts.ownWallet : null);
  return sendPage(
    page,
    {
      title: text[title],
      layout: facts.page === 'dashboard' ? 'plain' : 'narrow',
      scripts: [...scripts, PAGE_ASSETS.account],
      facts,
      isUnframed: true,
      alsoConnectTo,
    },
    <main>
      <p class="hidden" role="status" aria-live="polite" id="announcement" />
      <div id="panel">{children}</div>
      <noscript>
        <p class="notice">{text.needsScript}</p>
      </noscript>
    </main>,
  );
}

/** `/login?next=&why=&form=`: signing in, by each way that is configured. */
export async function sendLogin(page: PageContext): Promise<Response> {
  const { ctx } = page.c.var;
  const { next, why, form } = page.c.req.query();
  const common = await commonFacts(page);
  const after = localPathOf(next ?? '') ?? common.dashboardPath;
  const returnPath = loginPathOf(common, { next: after });
  const facts: LoginFacts = {
    ...common,
    page: 'login',
    host: new URL(ctx.baseUrl).host,
    next: after,
    // Too long for a provider's way back, the page after signing in is the dashboard.
    returnPath: returnPath.length > NEXT_PATH_MAX ? common.loginPath : returnPath,
    form: LOGIN_FORMS.find((known) => known === form) ?? 'choosing',
    ways: SIGN_IN_WAYS.filter((way) => IS_CONFIGURED[way](ctx)),
    notice: why !== undefined && Object.hasOwn(LOGIN_REASONS, why) ? LOGIN_REASONS[why as LoginReason] : null,
  };
  return sendAccountPage(page, facts, 'signIn', <Login facts={facts} state={firstLogin(facts)} say={sayIn(facts.text)} />);
}

/** `/dashboard`: who is signed in in this tab, what is there, and where to go on. */
export async function sendDashboard(page: PageContext): Promise<Response> {
  const facts: DashboardFacts = { ...(await commonFacts(page)), page: 'dashboard' };
  return sendAccountPage(page, facts, 'dashboard', <Dashboard facts={facts} state={FIRST_DASHBOARD} say={sayIn(facts.text)} />);
}

/** `/verify-email#token=` and `/reset-password#token=`: where the links of letters lead. The server never sees the token in an address. */
export const sendLetterLink = (purpose: LetterLinkFacts['page']) => async (page: PageContext) => {
  const facts: LetterLinkFacts = { ...(await commonFacts(page)), page: purpose };
  const title = purpose === 'verify' ? 'verifyTitle' : 'resetTitle';
  return sendAccountPage(page, facts, title, <LetterLink facts={facts} state={FIRST_LETTER_LINK} say={sayIn(facts.text)} />);
};
