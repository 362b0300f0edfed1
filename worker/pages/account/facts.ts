import type { AccountTexts, Dictionary } from '../locales/dictionaries.ts';
import type { Failure } from '../parts/answer.ts';
import { formatPeriod, type Say } from '../parts/text.ts';
import type { WalletTerms } from '../parts/wallet-choice.ts';

export const SHARED_TEXTS = [
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
export type AccountText = AccountTexts & Pick<Dictionary, (typeof SHARED_TEXTS)[number]>;
export type AccountTextKey = keyof AccountText;
export type SayAccount = Say<AccountTextKey>;

/** Ways to sign in, in display order. A new way also needs a condition in pages.tsx and a form in login/view.tsx. */
export const SIGN_IN_WAYS = ['password', 'passkey', 'provider', 'wallet'] as const;
export type SignInWay = (typeof SIGN_IN_WAYS)[number];

export const LOGIN_FORMS = ['choosing', 'registering', 'forgotten'] as const;
export type LoginForm = (typeof LOGIN_FORMS)[number];

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
  /** `domain` of the Sign-In With Solana text. */
  host: string;
  next: string;
  /** Path of this page, to which the OAuth provider returns. */
  returnPath: string;
  form: LoginForm;
  ways: SignInWay[];
  notice: AccountTextKey | null;
}

export interface EmailLinkFacts extends CommonFacts {
  page: 'verify' | 'reset' | 'sign_in' | 'invitation' | 'not_me';
}

export type AccountFacts = LoginFacts | EmailLinkFacts;

export const LOGIN_REASONS = { ended: 'sessionEnded', out: 'signedOut', again: 'signInOnceMore' } as const satisfies Record<
  string,
  AccountTextKey
>;
export type LoginReason = keyof typeof LOGIN_REASONS;

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
  password_too_common: 'pCommon',
  validation_error: 'pInput',
  invalid_wallet_address: 'pSignature',
  mail_not_configured: 'pNoMail',
  plan_limit_reached: 'pKeys',
  temporarily_unavailable: 'pLater',
  misconfigured: 'pLater',
  internal_error: 'pLater',
  idempotency_in_progress: 'pLater',
};

/** Maps a refusal to a text. `wrong`: the text for a refused credential. */
export function problemOf(
  { locale }: Pick<CommonFacts, 'locale'>,
  { code, meta, retryAfterMs }: Pick<Failure, 'code' | 'meta' | 'retryAfterMs'>,
  wrong: AccountTextKey = 'sessionEnded',
): Problem {
  if (code === 'rate_limited') {
    const minutes = Math.max(1, Math.ceil((retryAfterMs ?? 0) / 60_000));
    return { key: 'pBusy', values: { period: formatPeriod(locale, minutes, 'minute') } };
  }
  if (meta.reason === 'email_link_required') return { key: 'pEmailLink' };
  if (meta.reason === 'other_address') return { key: 'pOtherAddress' };
  if (meta.reason === 'already_member') return { key: 'pAlreadyMember' };
  if (code === 'invalid_credentials') return { key: wrong };
  if (meta.reason === 'sign_in_required' || meta.reason === 'step_up_required') return { key: 'signInOnceMore' };
  if (meta.reason === 'last_way_in') return { key: 'oLastWay' };
  return { key: BY_CODE[code] ?? 'pUnknown', values: { code } };
}
