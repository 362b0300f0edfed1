import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Locale } from '#core/locales.ts';
import { BOARD_STYLE } from '../dashboard/frame/style.ts';
import { ownWalletParts, type PageContext, sendPage } from '../document.tsx';
import { loadMeTexts, type MeKey } from '../locales/dictionaries.ts';
import { type Say, sayIn } from '../parts/text.ts';
import type { WalletTerms } from '../parts/wallet-choice.ts';

export type SayMe = Say<MeKey>;

export const sayMe = async (locale: Locale): Promise<SayMe> => sayIn(await loadMeTexts(locale)) as SayMe;

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
