import type { Context } from 'hono';
import { ERRORS, type ErrorCode } from '#core/errors.ts';
import { nearestOf } from '#core/text/nearest.ts';
import type { AppEnv } from '#platform/http/openapi.ts';
import { CLIENT_CODES } from '../errors/client-codes.ts';
import { ERROR_HELP } from '../errors/words.ts';
import { Article, MarkdownTools, sendGuide } from './guides/frame.tsx';
import { readChapters, readErrorPage } from './guides/read-guides.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];

const Codes = ({ label, rows }: { label: string; rows: { code: string; message: string }[] }) => (
  <section class="wide" tabindex={0} aria-label={label}>
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
  </section>
);

const isAbout = (terms: string[], ...texts: string[]): boolean => {
  const text = texts.join(' ').toLowerCase();
  return terms.every((term) => text.includes(term));
};

const QUERY_MAX = 64;

/** `GET /docs/errors`: all codes by status. `q` filters by terms in a code or its help. */
export async function sendErrorList(c: Context<AppEnv>): Promise<Response> {
  const asked = (c.req.query('q') ?? '').slice(0, QUERY_MAX);
  const terms = asked.toLowerCase().split(/\s+/).filter(Boolean);
  const codes = CODES.filter((code) => isAbout(terms, code, ERRORS[code].message, ERROR_HELP[code].why, ERROR_HELP[code].next));
  const ofClient = Object.entries(CLIENT_CODES).filter(([code, { message, why, next }]) => isAbout(terms, code, message, why, next));
  return sendGuide(
    c,
    { title: 'Error codes', chapters: await readChapters(c.var.ctx), path: 'errors' },
    <>
      <MarkdownTools path="/docs/errors" />
      <article>
        <h1>Error codes</h1>
        <p>
          Every error is <code>{'{detail, code, request_id, docs_url, retryable, meta}'}</code>. Branch on <code>code</code>, never on the
          text.
        </p>
        <form class="filter" action="/docs/errors">
          <label>
            Code or words <input type="search" name="q" value={asked} maxlength={QUERY_MAX} />
          </label>{' '}
          <button type="submit">Filter</button>
        </form>
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
              <Codes label={`Codes of status ${status}`} rows={some.map((code) => ({ code, message: ERRORS[code].message }))} />
            </>
          ))}
        {ofClient.length > 0 && (
          <>
            <h2>Codes of the SDK</h2>
            <Codes label="Codes of the SDK" rows={ofClient.map(([code, { message }]) => ({ code, message }))} />
          </>
        )}
      </article>
    </>,
  );
}

/** `GET /docs/errors/{code}`: target of every error's `docs_url`. Unknown: 404 with the nearest code. */
export async function sendErrorPage(c: Context<AppEnv>, code: string): Promise<Response> {
  const { ctx } = c.var;
  const [chapters, html] = await Promise.all([readChapters(ctx), readErrorPage(ctx, code)]);
  if (html !== null)
    return sendGuide(
      c,
      { title: `${code} · Error codes`, chapters, path: `errors/${code}` },
      <>
        <MarkdownTools path={`/docs/errors/${code}`} />
        <Article html={html} />
      </>,
    );
  const nearest = nearestOf(code.slice(0, QUERY_MAX), [...CODES, ...Object.keys(CLIENT_CODES)]);
  return sendGuide(
    c,
    { title: 'No such error code', chapters, path: `errors/${code}`, status: 404 },
    <article>
      <h1>No such error code</h1>
      {nearest && (
        <p>
          Did you mean <a href={`/docs/errors/${nearest}`}>{nearest}</a>?
        </p>
      )}
      <p>
        <a href="/docs/errors">All error codes</a>
      </p>
    </article>,
  );
}
