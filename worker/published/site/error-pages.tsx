import type { Context } from 'hono';
import { ERRORS, type ErrorCode } from '#core/errors.ts';
import { nearestOf } from '#core/text/nearest.ts';
import { type AppEnv, errorExample } from '#platform/http/openapi.ts';
import { openPage, type PageContext, sendPage } from '../../pages/document.tsx';
import { ERROR_HELP, type ErrorHelp } from '../errors/words.ts';
import { SiteNav } from './docs-page.tsx';

interface ClientCode extends ErrorHelp {
  message: string;
  retryable: boolean;
}

/** Codes that the SDK raises itself. Its errors link to these pages. */
const CLIENT_CODES = {
  invalid_idempotency_key: {
    message: 'An Idempotency-Key has 8 to 255 visible ASCII characters, without spaces.',
    retryable: false,
    why: 'The SDK checks the key before it sends anything, so nothing was sent.',
    next: 'Send a valid key, such as a UUID, or omit it: the SDK then generates one.',
  },
  request_timeout: {
    message: 'The service did not respond within `timeoutMs`.',
    retryable: true,
    why: 'The response was late or lost. A write may have had its effect: `isAmbiguous` is true.',
    next: 'Repeat a read. Repeat a write with the same Idempotency-Key; it has one effect.',
  },
  connection_failed: {
    message: 'The request got no response.',
    retryable: true,
    why: 'The URL is wrong, the network is down, or the connection broke before the response was complete.',
    next: 'Check `baseUrl` and the network. Repeat a write only with the same Idempotency-Key.',
  },
  unexpected_response: {
    message: 'The response does not come from this service.',
    retryable: false,
    why: 'A proxy, a firewall, or another server at `baseUrl` responded instead of the service.',
    next: 'Compare `baseUrl` with the URL of the service, and read `status` and `headers` of the error.',
  },
} as const satisfies Record<string, ClientCode>;

const isClientCode = (name: string): name is keyof typeof CLIENT_CODES => Object.hasOwn(CLIENT_CODES, name);

const CODES = Object.keys(ERRORS) as ErrorCode[];
const isCode = (name: string): name is ErrorCode => Object.hasOwn(ERRORS, name);

const Codes = ({ rows }: { rows: { code: string; message: string }[] }) => (
  <table>
    <tbody>
      {rows.map(({ code, message }) => (
        <tr>
          <td>
            <a href={`/docs/errors/${code}`}>
              <code>{code}</code>
            </a>
          </td>
          <td>{message}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const isAbout = (terms: string[], ...texts: string[]): boolean => {
  const text = texts.join(' ').toLowerCase();
  return terms.every((term) => text.includes(term));
};

const QUERY_MAX = 64;

/** `GET /docs/errors`: all codes by status. `q` filters by terms in a code or its help. */
export async function sendErrorList(c: Context<AppEnv>): Promise<Response> {
  const page = await openPage(c, 'en');
  const asked = (c.req.query('q') ?? '').slice(0, QUERY_MAX);
  const terms = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const codes = CODES.filter((code) => isAbout(terms, code, ERRORS[code].message, ERROR_HELP[code].why, ERROR_HELP[code].next));
  const ofClient = Object.entries(CLIENT_CODES).filter(([code, { message, why, next }]) => isAbout(terms, code, message, why, next));
  return sendPage(
    page,
    { title: 'Error codes', layout: 'plain', isSite: true, hasForm: true },
    <main class="prose">
      <SiteNav />
      <h1>Error codes</h1>
      <p>
        Every error is <code>{'{detail, code, request_id, docs_url, retryable, meta}'}</code>. Branch on <code>code</code>, never on the
        text.
      </p>
      <search>
        <form action="/docs/errors">
          <label>
            Code or words <input type="search" name="q" value={asked} maxlength={QUERY_MAX} />
          </label>{' '}
          <button type="submit">Search</button>
        </form>
      </search>
      {codes.length + ofClient.length === 0 && (
        <p role="status">
          No error code has these words. <a href="/docs/errors">All codes</a>
        </p>
      )}
      {[...Map.groupBy(codes, (code) => ERRORS[code].status)]
        .toSorted(([a], [b]) => a - b)
        .map(([status, some]) => (
          <>
            <h2 id={`status-${status}`}>Status {status}</h2>
            <Codes rows={some.map((code) => ({ code, message: ERRORS[code].message }))} />
          </>
        ))}
      {ofClient.length > 0 && (
        <>
          <h2>Codes of the SDK</h2>
          <Codes rows={ofClient.map(([code, { message }]) => ({ code, message }))} />
        </>
      )}
    </main>,
  );
}

/** `GET /docs/errors/{code}`: target of every error's `docs_url`. */
export async function sendErrorPage(c: Context<AppEnv>, name: string): Promise<Response> {
  const page = await openPage(c, 'en');
  if (isClientCode(name)) return sendClientCode(page, name);
  return isCode(name) ? sendCode(page, name) : sendUnknown(page, nearestOf(name.slice(0, 64), [...CODES, ...Object.keys(CLIENT_CODES)]));
}

function sendCode(page: PageContext, code: ErrorCode): Response {
  const { status, message, retryable } = ERRORS[code];
  const { why, next } = ERROR_HELP[code];
  const example = JSON.stringify(errorExample(code, page.c.var.ctx.baseUrl), null, 2);
  return sendPage(
    page,
    { title: `${code} · Error codes`, layout: 'plain', isSite: true },
    <main class="prose">
      <SiteNav />
      <h1>
        <code>{code}</code>
      </h1>
      <p class="quiet">
        Status {status}. {retryable ? 'The same request may succeed later.' : 'The same request fails again until its cause is resolved.'}
      </p>
      <h2>What happened</h2>
      <p>{message}</p>
      <h2>Why</h2>
      <p>{why}</p>
      <h2>What to do</h2>
      <p>{next}</p>
      <h2>How it looks</h2>
      <pre tabindex={0}>
        <code>{example}</code>
      </pre>
      <p class="quiet">
        The operator finds a request by its <code>request_id</code>, which is in the header <code>X-Svc-Request-Id</code> too.
      </p>
    </main>,
  );
}

function sendClientCode(page: PageContext, code: keyof typeof CLIENT_CODES): Response {
  const { message, retryable, why, next } = CLIENT_CODES[code];
  return sendPage(
    page,
    { title: `${code} · Error codes`, layout: 'plain', isSite: true },
    <main class="prose">
      <SiteNav />
      <h1>
        <code>{code}</code>
      </h1>
      <p class="quiet">From the SDK. {retryable ? 'The same request may succeed later.' : 'The same request fails again.'}</p>
      <h2>What happened</h2>
      <p>{message}</p>
      <h2>Why</h2>
      <p>{why}</p>
      <h2>What to do</h2>
      <p>{next}</p>
    </main>,
  );
}

const sendUnknown = (page: PageContext, nearest: string | null): Response =>
  sendPage(
    page,
    { title: 'No such error code', layout: 'plain', isSite: true, status: 404 },
    <main class="prose">
      <h1>No such error code</h1>
      {nearest && (
        <p>
          Did you mean <a href={`/docs/errors/${nearest}`}>{nearest}</a>?
        </p>
      )}
      <p>
        <a href="/docs/errors">All error codes</a>
      </p>
    </main>,
  );
