import type { Context } from 'hono';
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import { base64url } from '#core/encoding.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import type { Dictionary } from './locales/en.ts';
import { chooseLocale, LOCALE_NAMES, LOCALES, type Locale } from './locales/locales.ts';
import { Mark } from './parts/parts.tsx';
import { styleOf } from './parts/style.ts';
import { type Say, sayIn } from './parts/text.ts';
import { pageHeaders } from './policy.ts';

/** What every hosted page has: a language, a nonce, and the words to go with them. */
export interface PageContext {
  c: Context<AppEnv>;
  locale: Locale;
  text: Dictionary;
  say: Say;
  nonce: string;
}

export async function openPage(c: Context<AppEnv>): Promise<PageContext> {
  const locale = chooseLocale(c.req.query('locale'), c.req.header('Accept-Language'));
  const text = await LOCALES[locale].load();
  return { c, locale, text, say: sayIn(text), nonce: base64url.encode(crypto.getRandomValues(new Uint8Array(18))) };
}

export interface Sheet {
  title: string;
  layout: 'two' | 'receipt' | 'plain';
  accentHex?: string;
  /** Scripts of ours, by their asset paths. */
  scripts?: string[];
  /** Given to the scripts; no script itself, so the policy has nothing to allow. */
  facts?: object;
  alsoConnectTo?: string | null;
  status?: 200 | 404 | 409 | 429 | 500 | 503;
  retryAfterSeconds?: number;
}

/** Inside a script element only `<` could end it or begin a comment. */
const asJson = (facts: object): string => JSON.stringify(facts).replaceAll('<', '\\u003c');

export function sendPage(page: PageContext, sheet: Sheet, children: Child): Response {
  const { c, locale, nonce } = page;
  const html = (
    <html lang={locale}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <meta name="referrer" content="no-referrer" />
        <title>{sheet.title}</title>
        <link rel="icon" href="data:," />
        <style nonce={nonce}>{raw(styleOf(sheet.accentHex))}</style>
        {(sheet.scripts ?? []).map((source) => (
          <script type="module" src={source} nonce={nonce} />
        ))}
      </head>
      <body>
        <div class={`page ${sheet.layout}`}>
          {children}
          <Footer {...page} />
        </div>
        {sheet.facts && (
          <script type="application/json" id="facts" nonce={nonce}>
            {raw(asJson(sheet.facts))}
          </script>
        )}
      </body>
    </html>
  );
  const headers = pageHeaders(c.var.ctx, { nonce, alsoConnectTo: sheet.alsoConnectTo ?? null });
  if (sheet.retryAfterSeconds !== undefined) headers['Retry-After'] = String(Math.max(1, Math.ceil(sheet.retryAfterSeconds)));
  return c.body(`<!doctype html>${html}`, sheet.status ?? 200, { ...headers, 'Content-Language': locale });
}

/** The address of this page in another language: the rest of the address stays. */
function Footer({ c, locale, say }: PageContext) {
  const linkTo = (other: Locale): string => {
    const url = new URL(c.req.url);
    url.searchParams.set('locale', other);
    return `${url.pathname}${url.search}`;
  };
  return (
    <footer>
      <nav aria-label={say('language')}>
        <ul>
          {LOCALE_NAMES.map((other) => (
            <li>
              {other === locale ? (
                <span aria-current="true" lang={other}>
                  {LOCALES[other].name}
                </span>
              ) : (
                <a href={linkTo(other)} lang={other} hreflang={other}>
                  {LOCALES[other].name}
                </a>
              )}
            </li>
          ))}
        </ul>
      </nav>
    </footer>
  );
}

/** A page that says why there is none. */
export function sendRefusal(page: PageContext, status: 404 | 429 | 500 | 503, retryAfterSeconds?: number): Response {
  const { say, c } = page;
  const isGone = status === 404;
  const title = say(isGone ? 'notFound' : 'errorTitle');
  const again = new URL(c.req.url);
  return sendPage(
    page,
    { title, layout: 'receipt', status, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) },
    <main class="panel step-failed">
      <Mark kind={isGone ? 'nothing' : 'failed'} />
      <h1>{title}</h1>
      <p>{say(isGone ? 'notFoundHelp' : 'errorHelp')}</p>
      {!isGone && (
        <a class="button" href={`${again.pathname}${again.search}`}>
          {say('tryAgain')}
        </a>
      )}
    </main>,
  );
}
