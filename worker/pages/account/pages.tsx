import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { localPathOf } from '#core/local-path.ts';
import { NEXT_PATH_MAX } from '#features/accounts/oauth/provider.ts';
import { listConfigured } from '#features/accounts/oauth/registry.ts';
import type { Ctx } from '#platform/context.ts';
import { PAGE_ASSETS } from '../assets.ts';
import { demoWalletOf, ownWalletParts, type PageContext, sendPage } from '../document.tsx';
import { loadAccountTexts } from '../locales/dictionaries.ts';
import { sayIn } from '../parts/text.ts';
import { FIRST_EMAIL_LINK } from './email-link/machine.ts';
import { EmailLink } from './email-link/view.tsx';
import {
  type AccountFacts,
  type AccountText,
  type AccountTextKey,
  type EmailLinkFacts,
  LOGIN_FORMS,
  LOGIN_REASONS,
  type LoginFacts,
  type LoginReason,
  loginPathOf,
  SHARED_TEXTS,
  SIGN_IN_WAYS,
  type SignInWay,
} from './facts.ts';
import { firstLogin } from './login/machine.ts';
import { Login } from './login/view.tsx';
import { PlainSignIn, type PostedSignIn } from './plain-sign-in.tsx';

const IS_CONFIGURED: Record<SignInWay, (ctx: Ctx) => boolean> = {
  password: () => true,
  passkey: () => true,
  provider: (ctx) => listConfigured(ctx).length > 0,
  wallet: () => true,
};

type CommonFacts = Pick<AccountFacts, 'locale' | 'text' | 'network' | 'ownWallet' | 'loginPath' | 'dashboardPath' | 'providers'>;

async function commonFacts({ c, locale, text }: PageContext): Promise<CommonFacts> {
  const { config } = c.var.ctx;
  const shared = Object.fromEntries(SHARED_TEXTS.map((key) => [key, text[key]]));
  // Links carry only an explicit `?locale=`, because the browser's preference is detected again.
  const asked = c.req.query('locale') === undefined ? '' : `?locale=${locale}`;
  return {
    locale,
    text: { ...shared, ...(await loadAccountTexts(locale)) } as AccountText,
    network: config.NETWORK,
    ownWallet: demoWalletOf(config),
    loginPath: `/login${asked}`,
    dashboardPath: `/dashboard${asked}`,
    providers: listConfigured(c.var.ctx),
  };
}

interface Plain {
  status?: number;
  /** Content for browsers without scripts, instead of a sentence that scripts are needed. */
  plain?: Child;
}

/** Server-rendered page. It contains no account data: the browser loads it. */
function sendAccountPage(
  page: PageContext,
  facts: AccountFacts,
  title: AccountTextKey,
  children: Child,
  { status = 200, plain }: Plain = {},
): Response {
  const { text } = facts;
  const { scripts, alsoConnectTo } = ownWalletParts(facts.page === 'login' ? facts.ownWallet : null);
  return sendPage(
    page,
    {
      title: text[title],
      layout: 'narrow',
      scripts: [...scripts, PAGE_ASSETS.account],
      facts,
      isUnframed: true,
      ...(facts.page === 'login' ? { hasForm: true as const } : {}),
      status: status as ContentfulStatusCode,
      alsoConnectTo,
    },
    <main>
      <p class="hidden" role="status" aria-live="polite" id="announcement" />
      <div id="panel">{children}</div>
      <noscript>{plain ?? <p class="notice">{text.needsScript}</p>}</noscript>
    </main>,
  );
}

export async function sendLogin(page: PageContext, posted?: PostedSignIn): Promise<Response> {
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
    // A path too long for the provider's return falls back to the sign-in page, which opens the dashboard.
    returnPath: returnPath.length > NEXT_PATH_MAX ? common.loginPath : returnPath,
    form: LOGIN_FORMS.find((known) => known === form) ?? 'choosing',
    ways: SIGN_IN_WAYS.filter((way) => IS_CONFIGURED[way](ctx)),
    notice: why !== undefined && Object.hasOwn(LOGIN_REASONS, why) ? LOGIN_REASONS[why as LoginReason] : null,
  };
  const say = sayIn(facts.text);
  return sendAccountPage(page, facts, 'signIn', <Login facts={facts} state={firstLogin(facts)} say={say} />, {
    status: posted?.status ?? 200,
    plain: <PlainSignIn facts={facts} say={say} posted={posted} />,
  });
}

const EMAIL_LINK_TITLES = {
  verify: 'verifyTitle',
  reset: 'resetTitle',
  sign_in: 'linkInTitle',
  invitation: 'inviteTitle',
  not_me: 'disputeTitle',
} as const;

/**
 * Pages behind emailed links: `/verify-email#token=`, `/reset-password#token=`, `/sign-in#token=`, `/invitation#token=` and `/not-me#token=`. The token is in
 * the fragment, so the server never sees it in an address.
 */
export const sendEmailLink = (purpose: EmailLinkFacts['page']) => async (page: PageContext) => {
  const facts: EmailLinkFacts = { ...(await commonFacts(page)), page: purpose };
  return sendAccountPage(
    page,
    facts,
    EMAIL_LINK_TITLES[purpose],
    <EmailLink facts={facts} state={FIRST_EMAIL_LINK} say={sayIn(facts.text)} />,
  );
};
