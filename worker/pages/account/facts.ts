import type { AccountWords, Dictionary } from '../locales/dictionaries.ts';
import type { Failure } from '../parts/answer.ts';
import { formatPeriod, type Say } from '../parts/text.ts';
import type { WalletTerms } from '../parts/wallet-choice.ts';

/** What the server tells the browser with the pages on which a merchant signs in and begins. */

/** Words that these pages share with those of buyers. */
export const SHARED_WORDS = [
  'back',
  'copied',
  'copy',
  'copyByHand',
  'copyOf',
  'demoWallet',
  'devnet',
  'lookingForWallets',
  'mainnet',
  'pNetwork',
  'pNoAccount',
  'pOffline',
  'selected',
  'wallet',
] as const satisfies (keyof Dictionary)[];
export type AccountText = AccountWords & Pick<Dictionary, (typeof SHARED_WORDS)[number]>;
export type AccountTextKey = keyof AccountText;
export type SayAccount = Say<AccountTextKey>;

/** The ways to sign in, in their order. A further one is a name here, what it needs in pages.tsx, and its part in login/ways.tsx. */
export const SIGN_IN_WAYS = ['password', 'provider', 'wallet'] as const;
export type SignInWay = (typeof SIGN_IN_WAYS)[number];

/** Steps of signing in that an address can name. */
export const LOGIN_FORMS = ['choosing', 'registering', 'forgotten'] as const;
export type LoginForm = (typeof LOGIN_FORMS)[number];

/** Who else signs people in here. */
export interface ShownProvider {
  name: string;
  title: string;
}

interface CommonFacts extends WalletTerms {
  locale: string;
  text: AccountText;
  loginPath: string;
  dashboardPath: string;
  providers: ShownProvider[];
}

export interface LoginFacts extends CommonFacts {
  page: 'login';
  /** Where the text that a wallet signs says that it is. */
  host: string;
  /** Where a person goes after signing in: a path of this site. */
  next: string;
  /** This page, as a provider's way back leads to it. */
  returnPath: string;
  form: LoginForm;
  ways: SignInWay[];
  /** Why a person was sent here. */
  notice: AccountTextKey | null;
}

export interface LetterLinkFacts extends CommonFacts {
  page: 'verify' | 'reset';
}

export interface DashboardFacts extends CommonFacts {
  page: 'dashboard';
}

export type AccountFacts = LoginFacts | LetterLinkFacts | DashboardFacts;

/** Why a person is sent to the sign-in page; the words for it. */
export const LOGIN_REASONS = { ended: 'sessionEnded', out: 'signedOut', again: 'signInOnceMore' } as const satisfies Record<
  string,
  AccountTextKey
>;
export type LoginReason = keyof typeof LOGIN_REASONS;

/** The sign-in page that leads back to `next`. */
export function loginPathOf(
  { loginPath }: Pick<CommonFacts, 'loginPath'>,
  to: { next?: string; why?: LoginReason; form?: LoginForm },
): string {
  const asked = Object.entries(to).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return asked.length === 0 ? loginPath : `${loginPath}${loginPath.includes('?') ? '&' : '?'}${asked.join('&')}`;
}

export interface Problem {
  key: AccountTextKey;
  values?: Record<string, string>;
}

const BY_CODE: Record<string, AccountTextKey> = {
  offline: 'pOffline',
  account_suspended: 'pSuspended',
  account_deleted: 'pDeleted',
  email_registered: 'pRegistered',
  password_too_short: 'pPassword',
  validation_error: 'pInput',
  invalid_wallet_address: 'pSignature',
  mail_not_configured: 'pNoMail',
  plan_limit_reached: 'pKeys',
  temporarily_unavailable: 'pLater',
  misconfigured: 'pLater',
  internal_error: 'pLater',
  idempotency_in_progress: 'pLater',
};

/** What the service's refusal means to a person. `wrong`: what a refused credential means where it was shown. */
export function problemOf({ locale }: CommonFacts, { code, meta, retryAfterMs }: Failure, wrong: AccountTextKey = 'sessionEnded'): Problem {
  if (code === 'rate_limited') {
    const minutes = Math.max(1, Math.ceil((retryAfterMs ?? 0) / 60_000));
    return { key: 'pBusy', values: { period: formatPeriod(locale, minutes, 'minute') } };
  }
  if (code === 'invalid_credentials') return { key: wrong };
  if (meta.reason === 'sign_in_required') return { key: 'signInOnceMore' };
  if (meta.reason === 'last_way_in') return { key: 'oLastWay' };
  return { key: BY_CODE[code] ?? 'pUnknown', values: { code } };
}
