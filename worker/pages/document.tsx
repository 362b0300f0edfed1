import type { Context } from 'hono';
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { base64url } from '#core/encoding.ts';
import { chooseLocale, LOCALE_NAMES, LOCALES, type Locale } from '#core/locales.ts';
import type { Ctx } from '#platform/context.ts';
import { ICON_PATH } from '#platform/http/icon.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { PAGE_ASSETS } from './assets.ts';
import { type Dictionary, loadDictionary, type TextKey } from './locales/dictionaries.ts';
import { Mark } from './parts/parts.tsx';
import { styleOf } from './parts/style.ts';
import { type Say, sayIn } from './parts/text.ts';
import type { OwnWallet } from './parts/wallet-choice.ts';

export interface PageContext {
  c: Context<AppEnv>;
  locale: Locale;
  text: Dictionary;
  say: Say;
  nonce: string;
}

/** Language of `?locale=`, else the usual one, else that of the browser. `only`: the language of a page that has just one. */
export async function openPage(c: Context<AppEnv>, only?: Locale | null, usual?: Locale): Promise<PageContext> {
  const locale = only ?? chooseLocale(c.req.query('locale') ?? usual, c.req.header('Accept-Language'));
  const text = await loadDictionary(locale);
  return { c, locale, text, say: sayIn(text), nonce: base64url.encode(crypto.getRandomValues(new Uint8Array(18))) };
}

/** Returns a demo wallet only if the node is on this machine, even if DEMO_WALLET is set elsewhere by mistake. */
export function demoWalletOf({ DEMO_WALLET, NETWORK, rpcUrls: [rpcUrl] }: Ctx['config']): OwnWallet | null {
  const isDemo = DEMO_WALLET === 'true' && NETWORK === 'devnet' && new URL(rpcUrl).hostname === '127.0.0.1';
  return isDemo ? { kind: 'demo', rpcUrl } : null;
}

/** Script of the page's own wallet, and the node from which it draws funds. */
export const ownWalletParts = (ownWallet: OwnWallet | null): Pick<Sheet, 'alsoConnectTo'> & { scripts: string[] } => ({
  scripts: ownWallet ? [OWN_WALLET_ASSETS[ownWallet.kind]] : [],
  alsoConnectTo: ownWallet?.kind === 'demo' ? new URL(ownWallet.rpcUrl).origin : null,
});
const OWN_WALLET_ASSETS = { demo: PAGE_ASSETS.demoWallet, test: PAGE_ASSETS.testWallet };

/** Guess from the user agent. If wrong, the page shows a link instead of a code. */
export const isPhone = ({ req }: Context<AppEnv>): boolean => /Android|iPhone|iPad|iPod|Mobile/i.test(req.header('User-Agent') ?? '');

interface Sheet {
  title: string;
  layout: 'two' | 'receipt' | 'plain' | 'narrow' | 'board';
  accentHex?: string;
  scripts?: string[];
  /** JSON for the scripts. Data, not a script, so the CSP needs no exception. */
  facts?: object;
  alsoConnectTo?: string | null;
  /** Forbids frames even if the configuration allows merchants to frame other pages (clickjacking). */
  isUnframed?: boolean;
  hasForm?: true;
  /** Page of the service itself: English only and indexable. */
  isSite?: true;
  /** Page of one person: never stored, unframed, and with forms. English only unless it has languages. */
  board?: { mode: 'live' | 'sandbox'; style: string; hasLanguages?: true };
  card?: { title: string; description: string };
  status?: ContentfulStatusCode;
  retryAfterSeconds?: number;
}

/** In a script element only `<` can end the element or begin a comment. */
const asJson = (facts: object): string => JSON.stringify(facts).replaceAll('<', '\\u003c');

export function sendPage(page: PageContext, sheet: Sheet, children: Child): Response {
  const { c, locale, nonce } = page;
  const html = (
    <html lang={locale}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        {sheet.isSite || <meta name="robots" content="noindex" />}
        {sheet.card && <Card {...sheet.card} url={c.var.ctx.baseUrl + c.req.path} />}
        <meta name="referrer" content="no-referrer" />
        <title>{sheet.title}</title>
        <link rel="icon" href={ICON_PATH} type="image/svg+xml" />
        <style nonce={nonce}>{raw(styleOf(sheet.accentHex) + (sheet.board?.style ?? ''))}</style>
        {(sheet.scripts ?? []).map((source) => (
          <script type="module" src={source} nonce={nonce} />
        ))}
      </head>
      <body data-mode={sheet.board?.mode}>
        <div class={`page ${sheet.layout}`}>
          {children}
          <Footer {...page} hasLanguages={!sheet.isSite && (!sheet.board || sheet.board.hasLanguages === true)} />
        </div>
        {sheet.facts && (
          <script type="application/json" id="facts" nonce={nonce}>
            {raw(asJson(sheet.facts))}
          </script>
        )}
      </body>
    </html>
  );
  const { ctx } = c.var;
  const frameAncestors = sheet.isUnframed || sheet.board ? "'none'" : ctx.config.FRAME_ANCESTORS;
  const headers = pageHeaders(ctx, {
    nonce,
    alsoConnectTo: sheet.alsoConnectTo ?? null,
    hasForm: sheet.hasForm ?? sheet.board !== undefined,
    frameAncestors,
  });
  if (sheet.board) headers['Cache-Control'] = 'no-store';
  if (sheet.retryAfterSeconds !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(sheet.retryAfterSeconds)));
  return c.body(`<!doctype html>${html}`, sheet.status ?? 200, { ...headers, 'Content-Language': locale });
}

const Card = ({ title, description, url }: NonNullable<Sheet['card']> & { url: string }) => (
  <>
    <meta name="description" content={description} />
    <meta property="og:type" content="website" />
    <meta property="og:title" content={title} />
    <meta property="og:description" content={description} />
    <meta property="og:url" content={url} />
    <meta name="twitter:card" content="summary" />
  </>
);

export function Footer({ hasLanguages, ...page }: PageContext & { hasLanguages: boolean }) {
  const operator = operatorLinks(page);
  return (
    <footer>
      {hasLanguages && <Languages {...page} />}
      {operator.length > 0 && (
        <ul class="operator">
          {operator.map(({ name, href }) => (
            <li>
              <a href={href} rel="noopener noreferrer">
                {name}
              </a>
            </li>
          ))}
        </ul>
      )}
    </footer>
  );
}

function operatorLinks({ c, say }: PageContext): { name: string; href: string }[] {
  const { OPERATOR_NAME, OPERATOR_URL, TERMS_URL, PRIVACY_URL, OPERATOR_CONTACT } = c.var.ctx.config;
  const links: [string, string | undefined][] = [
    [say('runBy', { name: OPERATOR_NAME ?? '' }), OPERATOR_NAME && OPERATOR_URL],
    [say('terms'), TERMS_URL],
    [say('privacy'), PRIVACY_URL],
    [say('report'), OPERATOR_CONTACT],
  ];
  return links.flatMap(([name, href]) => (href ? [{ name, href }] : []));
}

/** Links to this page in other languages. The rest of the URL is retained. */
function Languages({ c, locale, say }: PageContext) {
  const linkTo = (other: Locale): string => {
    const url = new URL(c.req.url);
    url.searchParams.set('locale', other);
    return `${url.pathname}${url.search}`;
  };
  return (
    <nav aria-label={say('language')}>
      <ul>
        {LOCALE_NAMES.map((other) => (
          <li>
            {other === locale ? (
              <span aria-current="true" lang={other}>
                {LOCALES[other]}
              </span>
            ) : (
              <a href={linkTo(other)} lang={other} hreflang={other}>
                {LOCALES[other]}
              </a>
            )}
          </li>
        ))}
      </ul>
    </nav>
  );
}

const MISSING: [prefix: string, title: TextKey, help: TextKey][] = [
  ['/p', 'notFound', 'notFoundHelp'],
  ['/r', 'noReceipt', 'noReceiptHelp'],
  ['/s', 'noSubscription', 'noSubscriptionHelp'],
];
const isBelow = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);

export function sendRefusal(page: PageContext, status: 404 | 429 | 500 | 503, retryAfterSeconds?: number): Response {
  const { say, c } = page;
  const isGone = status === 404;
  const [, title, help] = MISSING.find(([prefix]) => isBelow(c.req.path, prefix)) ?? ['', 'noPage', 'noPageHelp'];
  const heading = say(isGone ? title : 'errorTitle');
  const again = new URL(c.req.url);
  return sendPage(
    page,
    { title: heading, layout: 'receipt', status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
    <main class="panel step-failed">
      <Mark kind={isGone ? 'nothing' : 'failed'} />
      <h1>{heading}</h1>
      <p>{say(isGone ? help : 'errorHelp')}</p>
      {isGone ? (
        <Doors say={say} />
      ) : (
        <a class="button" href={`${again.pathname}${again.search}`}>
          {say('tryAgain')}
        </a>
      )}
    </main>,
  );
}

const Doors = ({ say }: Pick<PageContext, 'say'>) => (
  <>
    <p class="quiet">{say('doorPaid')}</p>
    <div class="papers">
      <a class="plain-button" href="/">
        {say('doorHome')}
      </a>
      <a class="plain-button" href="/login">
        {say('doorSell')}
      </a>
      <a class="plain-button" href="/docs">
        {say('doorDocs')}
      </a>
    </div>
  </>
);

/** CSP of a hosted page: its scripts by nonce, this API, https images. Everything else is blocked. */
interface PagePolicy {
  nonce: string;
  /** Local development only: the node of the demo wallet. */
  alsoConnectTo: string | null;
  /** Allows forms, to this origin only. */
  hasForm?: boolean;
  frameAncestors: string;
}

const policyOf = ({ nonce, alsoConnectTo, hasForm = false, frameAncestors }: PagePolicy): string =>
  [
    "default-src 'none'",
    `script-src 'nonce-${nonce}'`,
    `style-src 'nonce-${nonce}'`,
    "img-src 'self' https: data:",
    `connect-src 'self'${alsoConnectTo === null ? '' : ` ${alsoConnectTo}`}`,
    "base-uri 'none'",
    `form-action ${hasForm ? "'self'" : "'none'"}`,
    `frame-ancestors ${frameAncestors}`,
  ].join('; ');

function pageHeaders(ctx: Ctx, policy: PagePolicy): Record<string, string> {
  const isSecure = ctx.baseUrl.startsWith('https:');
  return {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policyOf(policy),
    ...(policy.frameAncestors === "'none'" ? { 'X-Frame-Options': 'DENY' } : {}),
    // Wallets open popups. A page that opens this one gets no handle to it.
    'Cross-Origin-Opener-Policy': 'same-origin-allow-popups',
    'Permissions-Policy':
      'camera=(), microphone=(), geolocation=(), payment=(), publickey-credentials-get=(self), publickey-credentials-create=(self)',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'private, no-cache',
    Vary: 'Accept-Language, User-Agent',
    ...(isSecure ? { 'Strict-Transport-Security': 'max-age=31536000; includeSubDomains' } : {}),
  };
}
