import type { Context } from 'hono';
import { raw } from 'hono/html';
import type { Child } from 'hono/jsx';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { localPathOf } from '#core/local-path.ts';
import { SECOND } from '#core/time.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import type { Need } from '#rules/access/roles.ts';
import { openPage, sendPage } from '../../document.tsx';
import { Said } from '../../parts/parts.tsx';
import { ApiSection } from './api-section.tsx';
import { Banner, type Reported } from './banner.tsx';
import { Labels, Zone } from './format.tsx';
import { type AccountOfPerson, Head, linkTo, type Mode } from './head.tsx';
import type { Operations, Refusal } from './operations.ts';
import { type Claims, dropToken, openSession, saySoon, takeSaid } from './session.ts';
import { BOARD_STYLE } from './style.ts';

/** Parts of `GET /v1/account/me` that screens show. */
export interface Me extends Reported {
  user_id: string;
  account_id: string;
  display_name: string;
  has_password: boolean;
  factors: { passkeys: number; totp: boolean; recovery_codes_left: number };
  wallet_address: string | null;
  require_factor: boolean;
  timezone: string;
  locale: string;
  notification_prefs: Record<string, boolean>;
  merchant_settings: Record<string, string>;
  transfer?: { to: string; expires_at: string };
}
/** A refused form: what was typed without passwords, and why. */
export interface Refused {
  act: string;
  id: string;
  typed: Record<string, string>;
  refusal: Refusal;
}

export interface Screen {
  c: Context<AppEnv>;
  path: string;
  operations: Operations;
  claims: Claims;
  me: Me;
  accounts: AccountOfPerson[];
  mode: Mode;
  refused: Refused | null;
  /** Acts of the screen, by which its forms know who may send them. */
  acts: Definition['acts'];
}

export type Form = Record<string, string>;
/**
 * `shown`: a secret that is in this response only. `leaveTo`: path that the person is sent to. `count`: number that the act's sentence says.
 */
export type Acted = Refusal | { ok: true; shown?: Child; leaveTo?: string; count?: number };
export interface Act {
  /** Access that the calls of the act need. A role without it sees no form of the act. Null: about the person alone. */
  needs: Need | null;
  /** Sentence that confirms the act, or says what came of it. */
  done: string | ((count: number) => string);
  run(screen: Screen, form: Form): Promise<Acted>;
}

/** Content of a list after the API refused its filter. */
export interface Unfiltered {
  status: 422;
  content: Child;
}

export interface Definition {
  path: string;
  title: string;
  /** Content, or the refusal of a screen that the person's role may not read. */
  body(screen: Screen): Promise<Child | Refusal | Unfiltered>;
  scripts?: string[];
  /** Number that the browser's title shows, for what waits. */
  countIn?(screen: Screen): Promise<number>;
  acts: Record<string, Act>;
}

const toLogin = (c: Context<AppEnv>, why?: 'ended'): Response => {
  const { pathname, search } = new URL(c.req.url);
  const next = localPathOf(`${pathname}${search}`) ?? '/dashboard';
  return c.redirect(`/login?${new URLSearchParams({ next, ...(why && { why }) })}`, 303);
};

/** Opens the screen of the signed-in person, or returns the way to the sign-in page. */
export async function openScreen(c: Context<AppEnv>, acts: Definition['acts'] = {}): Promise<Screen | Response> {
  const session = await openSession(c);
  if (session === null) {
    dropToken(c);
    return toLogin(c);
  }
  const { operations, claims } = session;
  const [me, accounts] = await Promise.all([
    operations.call<Me>('getAccount'),
    operations.call<{ items: AccountOfPerson[] }>('listAccounts'),
  ]);
  if (!me.ok) {
    if (me.status === 401) dropToken(c);
    return me.status === 401 ? toLogin(c, 'ended') : sendBare(c, me);
  }
  const mode = c.req.query('mode') === 'sandbox' ? 'sandbox' : 'live';
  const items = accounts.ok ? accounts.value.items : [];
  return { c, path: c.req.path, operations, claims, me: me.value, accounts: items, mode, refused: null, acts };
}

const isUnfiltered = (body: Child | Unfiltered): body is Unfiltered => typeof body === 'object' && body !== null && 'content' in body;
const isRefusal = (body: Child | Refusal | Unfiltered): body is Refusal =>
  typeof body === 'object' && body !== null && 'ok' in body && body.ok === false;

interface Shown {
  shown?: Child;
  status?: number;
}

/** Renders a screen: frame, message, what is shown once, the screen's body and the calls that it made. */
export async function sendScreen(screen: Screen, definition: Definition, { shown, status = 200 }: Shown = {}): Promise<Response> {
  const { c, mode, refused } = screen;
  const said = takeSaid(c);
  const [body, count] = await Promise.all([definition.body(screen), definition.countIn?.(screen)]);
  const page = await openPage(c, 'en');
  const isBeyond = isRefusal(body);
  const labels = new Map<string, string>();
  // Drawn before the frame, which names refused fields by their labels.
  const content = await (
    <Zone.Provider value={screen.me.timezone}>
      <Labels.Provider value={labels}>
        {shown}
        {isBeyond ? <Beyond screen={screen} refusal={body} /> : isUnfiltered(body) ? body.content : body}
      </Labels.Provider>
    </Zone.Provider>
  ).toString();
  return sendPage(
    page,
    {
      title: `${definition.title}${count ? ` (${count})` : ''} · ${screen.me.display_name}`,
      layout: 'board',
      scripts: definition.scripts ?? [],
      board: { mode, style: BOARD_STYLE },
      status: (isBeyond || isUnfiltered(body) ? body.status : status) as ContentfulStatusCode,
    },
    <>
      <Head me={screen.me} accounts={screen.accounts} path={screen.path} mode={mode} />
      <main id="main">
        <h1>{definition.title}</h1>
        {mode === 'sandbox' && <p class="badge">Test data</p>}
        <Banner me={screen.me} now={c.var.ctx.wallNow} pathOf={(path) => linkTo(screen, path)} />
        {said && <Said>{said}</Said>}
        {refused && <Summary refused={refused} labels={labels} />}
        {raw(content)}
        <ApiSection calls={screen.operations.made} baseUrl={c.var.ctx.baseUrl} />
      </main>
    </>,
  );
}

/** Leads to each refused field, and has the code and the request id for support. */
const Summary = ({ refused: { act, id, refusal }, labels }: { refused: Refused; labels: Map<string, string> }) => (
  <div class="problem" role="alert" tabindex={-1} autofocus>
    <strong>{refusal.detail}</strong>
    {refusal.problems.length > 0 && (
      <ul>
        {refusal.problems.map(({ loc, msg }) => {
          const name = loc.slice(1).join('.');
          const at = [act, id, name].filter(Boolean).join('-');
          return (
            <li>
              <a href={`#${at}`}>{`${labels.get(at) ?? name}: ${msg}`}</a>
            </li>
          );
        })}
      </ul>
    )}
    <p class="quiet">
      {refusal.code} · {refusal.requestId}
    </p>
  </div>
);

function Beyond({ screen: { path, mode }, refusal }: { screen: Screen; refusal: Refusal }) {
  const other = mode === 'live' ? 'sandbox' : 'live';
  const needs = [refusal.meta.needs ?? []].flat();
  return (
    <div class="problem" role="alert">
      <strong>{refusal.detail}</strong>
      {needs.length > 0 && <p>{`Roles that may: ${needs.join(', ')}.`}</p>}
      {refusal.status === 404 && (
        <p>
          <a href={linkTo({ mode: other }, path)}>{other === 'sandbox' ? 'Look in the test data' : 'Look in the live data'}</a>
        </p>
      )}
      <p class="quiet">
        {refusal.code} · {refusal.requestId}
      </p>
    </div>
  );
}

/** Page of a refusal without a screen around it. */
export async function sendBare(c: Context<AppEnv>, refusal: Pick<Refusal, 'status' | 'detail' | 'code' | 'requestId' | 'retryAfter'>) {
  const page = await openPage(c, 'en');
  return sendPage(
    page,
    {
      title: 'Not possible',
      layout: 'board',
      board: { mode: 'live', style: BOARD_STYLE },
      status: refusal.status as ContentfulStatusCode,
      ...(refusal.retryAfter === null ? {} : { retryAfterSeconds: Number(refusal.retryAfter) }),
    },
    <main id="main">
      <h1>Not possible</h1>
      <p>{refusal.detail}</p>
      <p class="quiet">
        {refusal.code} · {refusal.requestId}
      </p>
      <p>
        <a href="/dashboard">Home</a>
      </p>
    </main>,
  );
}

const SECRET_FIELDS = /password|code|totp|^confirm$/;
const STEP_UP: readonly (string | undefined)[] = ['step_up_required', 'sign_in_required'];

/** Runs the act of a posted form: redirects after a success, and shows the form again with what was typed after a refusal. */
export async function runAct(screen: Screen, definition: Definition, form: Form): Promise<Response> {
  const { c, mode, path } = screen;
  const act = Object.hasOwn(definition.acts, form.act ?? '') ? definition.acts[form.act!]! : null;
  if (act === null)
    return sendBare(c, {
      status: 422,
      detail: 'This form is unknown.',
      code: 'validation_error',
      requestId: c.var.requestId,
      retryAfter: null,
    });
  const acted = await act.run(screen, form);
  if (acted.ok && acted.shown !== undefined) {
    const me = await screen.operations.call<Me>('getAccount');
    return sendScreen({ ...screen, me: me.ok ? me.value : screen.me }, definition, { shown: acted.shown });
  }
  if (acted.ok) {
    // The next session of this browser may be another person's.
    if (!acted.leaveTo?.startsWith('/login')) saySoon(c, typeof act.done === 'string' ? act.done : act.done(acted.count ?? 0));
    return c.redirect(acted.leaveTo ?? linkTo({ mode }, path), 303);
  }
  if (STEP_UP.includes(acted.meta.reason))
    return c.redirect(`/dashboard/confirm?${new URLSearchParams({ next: linkTo({ mode }, path) })}`, 303);
  const typed = Object.fromEntries(Object.entries(form).filter(([name]) => !SECRET_FIELDS.test(name)));
  const refused = { act: form.act!, id: form.id ?? '', typed, refusal: acted };
  return sendScreen({ ...screen, refused }, definition, { status: acted.status });
}

/** True if the person proved themselves recently enough for acts that decide who gets in. */
export function isFresh({ c, claims, me }: Screen): boolean {
  const hasFactor = me.factors.passkeys > 0 || me.factors.totp;
  const at = hasFactor ? claims.factor_time : claims.auth_time;
  return at !== undefined && c.var.ctx.wallNow - at * SECOND <= c.var.ctx.config.FRESH_SIGN_IN_SECONDS * SECOND;
}
