import type { Context } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { findLocale, type Locale } from '#core/locales.ts';
import { DAY, SECOND } from '#core/time.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { BOARD_STYLE } from '../dashboard/frame/style.ts';
import { openPage, ownWalletParts, type PageContext, sendPage } from '../document.tsx';
import { loadMeTexts, type MeKey } from '../locales/dictionaries.ts';
import { type Say, sayIn } from '../parts/text.ts';
import type { WalletTerms } from '../parts/wallet-choice.ts';

export type SayMe = Say<MeKey>;

export const sayMe = async (locale: Locale): Promise<SayMe> => sayIn(await loadMeTexts(locale)) as SayMe;

const LANGUAGE = 'svc_language';
const LANGUAGE_SECONDS = (365 * DAY) / SECOND;

/** Opens a page of `/me` in the language that the buyer chose there last. `usual`: the language of a session without a choice. */
export async function openMe(c: Context<AppEnv>, usual?: Locale): Promise<PageContext> {
  const [asked, stored] = [c.req.query('locale'), getCookie(c, LANGUAGE, 'host')].map((one) => findLocale(one ?? ''));
  if (asked && asked !== stored)
    setCookie(c, LANGUAGE, asked, {
      ...{ prefix: 'host', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' },
      maxAge: LANGUAGE_SECONDS,
    });
  return openPage(c, null, stored ?? usual);
}

/** Address of a hosted page outside of `/me`, in the language of this page. */
export function inLanguageOf({ locale }: PageContext, address: string): string {
  const url = new URL(address);
  url.searchParams.set('locale', locale);
  return url.href;
}

/** Address of a page or form of `/me` in the language that the buyer asked for. */
export function pathIn({ c }: PageContext, path: string, query: Record<string, string> = {}): string {
  const locale = c.req.query('locale');
  const all = new URLSearchParams({ ...(locale && { locale }), ...query });
  return all.size === 0 ? path : `${path}?${all}`;
}

interface Sheet {
  title: string;
  status?: number;
  mode?: 'live' | 'sandbox';
  scripts?: string[];
  /** Facts of the wallet that a script opens. */
  wallet?: WalletTerms;
}

/** Page of one buyer. */
export function sendMe(page: PageContext, { title, status = 200, mode = 'live', scripts = [], wallet }: Sheet, children: Child): Response {
  const own = ownWalletParts(wallet?.ownWallet ?? null);
  return sendPage(
    page,
    {
      title,
      layout: 'board',
      status: status as ContentfulStatusCode,
      board: { mode, style: BOARD_STYLE, hasLanguages: true },
      scripts: [...own.scripts, ...scripts],
      alsoConnectTo: own.alsoConnectTo,
      ...(wallet ? { facts: { ...wallet, text: page.text } } : {}),
    },
    <main id="main">
      <h1>{title}</h1>
      {children}
    </main>,
  );
}
